package live

import (
	"context"
	"fmt"
	"unicode/utf8"

	"glasshouse/internal/watch/jsonscan"
)

// maxUnchunked is the maximum length, in bytes, of a message that is sent in one piece. If the client supports
// chunks, longer messages are sent in chunks of chunkBytes, because nothing else can be sent during one WebSocket
// write, not even a ping. At 30 kB/s without compression, a write takes 6.5 s for maxUnchunked bytes, and 2 s for one
// chunk.
const maxUnchunked, chunkBytes = 192 << 10, 64 << 10

// maxChunksInFlight is the maximum number of chunks of one connection that the client has not acknowledged. A ping
// follows each chunk, and the client's pong acknowledges the chunk. Without this limit, kernels and proxies could
// buffer megabytes, and every other message would wait behind that data.
const maxChunksInFlight = 4

// sendChunked sends a message of a subscription, in chunks if it is longer than maxUnchunked. Other messages can be
// sent between the chunks. It drops the remaining chunks if the subscription ends, or if stillValid returns false
// because the viewer lost a permission.
func (c *connection) sendChunked(
	ctx context.Context, members []byte, id int, uncompressed bool, stillValid func(context.Context) bool,
) error {
	if !c.acceptsChunks || len(members) <= maxUnchunked {
		return c.write(ctx, members, &id, uncompressed)
	}
	piece := appendMessageStart(make([]byte, 0, chunkBytes+64), &id)
	totalBytes, sentBytes := len(piece)+len(members)+1, 0
	var chunk []byte
	for len(members) > 0 && c.acquireChunk(ctx, stillValid) {
		n := min(len(members), chunkBytes)
		for n < len(members) && !utf8.RuneStart(members[n]) {
			n--
		}
		piece, members = append(piece, members[:n]...), members[n:]
		if len(members) == 0 {
			piece = append(piece, '}')
		}
		sentBytes += len(piece)
		chunk = jsonscan.AppendString(
			fmt.Appendf(chunk[:0], `"type":"part","told":%d,"of":%d,"text":`, sentBytes, totalBytes), piece,
		)
		if err := c.write(ctx, chunk, &id, uncompressed); err != nil {
			return err
		}
		c.running.Go(func() {
			c.awaitPong(ctx)
			<-c.inFlight
		})
		piece = piece[:0]
	}
	return nil
}

// acquireChunk waits until fewer than maxChunksInFlight chunks are in flight. It returns false if the next chunk must
// not be sent, because the subscription has ended or the permission is lost.
func (c *connection) acquireChunk(ctx context.Context, stillValid func(context.Context) bool) bool {
	select {
	case c.inFlight <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() == nil && stillValid(ctx) {
		return true
	}
	<-c.inFlight
	return false
}

// awaitPong waits until the client has received all data that was sent before, or until pongTimeout has passed. A
// timeout does not end the session here, because the periodic pings of the session detect a lost client.
func (c *connection) awaitPong(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pongTimeout)
	defer cancel()
	_ = c.ws.Ping(ctx)
}
