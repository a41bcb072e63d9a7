package live

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
)

// connection is the WebSocket of a session (one browser tab). All subscriptions of the session write to it.
type connection struct {
	ws            *websocket.Conn
	netConn       *listen.CorkedConn
	sockets       *Sockets
	caller        limit.Caller
	acceptsChunks bool
	// inFlight is a semaphore of maxChunksInFlight slots. A chunk uses a slot until the client has received the chunk.
	inFlight chan struct{}
	cancel   context.CancelFunc // Ends the session without a close frame.

	running sync.WaitGroup // Counts subscriptions, pings and waits for pongs that are running.
	writing sync.Mutex

	pinging sync.Mutex
	pinger  *time.Timer // Sends the periodic pings; nil after the session has ended.
}

// write sends a JSON object with the given members, which are encoded without { and }, and the given id.
func (c *connection) write(ctx context.Context, members []byte, id *int, uncompressed bool) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	// A context with a timeout is not enough: Flush of netConn writes without a context.
	timeout := time.AfterFunc(listen.WriteTimeout, c.abort)
	defer timeout.Stop()
	// A write with a canceled context ends the connection, so this write continues if ctx is canceled.
	ctx = context.WithoutCancel(ctx)
	var err error
	if uncompressed && len(members) >= messages.CompressFrom {
		err = c.sendUncompressed(ctx, members, id)
	} else {
		err = c.send(ctx, members, id)
	}
	if err != nil {
		c.abort()
	}
	return err
}

// appendMessageStart appends "{" to dst. If the parameter id is not nil, it also appends the JSON member "id".
func appendMessageStart(dst []byte, id *int) []byte {
	dst = append(dst, '{')
	if id != nil {
		dst = append(strconv.AppendInt(append(dst, `"id":`...), int64(*id), 10), ',')
	}
	return dst
}

func (c *connection) send(ctx context.Context, members []byte, id *int) error {
	text, ok := c.sockets.messageBuffers.Get().(*[]byte)
	if !ok {
		text = new([]byte)
	}
	defer c.sockets.messageBuffers.Put(text)
	*text = append(append(appendMessageStart((*text)[:0], id), members...), '}')
	return c.ws.Write(ctx, websocket.MessageText, *text)
}

// sendUncompressed sends a message without compression. It writes the short start of the message separately, because
// the WebSocket library does not compress a message whose first piece is short.
func (c *connection) sendUncompressed(ctx context.Context, members []byte, id *int) error {
	w, err := c.ws.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	var head [32]byte
	c.netConn.Cork()
	for _, piece := range [][]byte{appendMessageStart(head[:0], id), members, {'}'}} {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return c.netConn.Flush()
}
