package live

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Messages longer than maxUnchunked bytes are sent in chunks, because nothing else can be sent during one write. At
// 30 kB/s without compression, the write of a chunk takes 2 s.
const maxUnchunked, chunkBytes = 192 << 10, 64 << 10

// maxChunksInFlight limits the chunks that the client has not confirmed by a pong. Otherwise, kernels and proxies could
// buffer megabytes of chunks, and other messages would wait behind them.
const maxChunksInFlight = 4

// sendChunked sends a message of a subscription, in chunks if it is long. Other messages can be sent between chunks.
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

// acquireChunk waits until a chunk can be sent. It returns false if the subscription or the permission has ended.
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

// awaitPong waits up to pongTimeout until the client has received all data that was sent before.
func (c *connection) awaitPong(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pongTimeout)
	defer cancel()
	_ = c.ws.Ping(ctx)
}
