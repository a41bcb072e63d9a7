package web

import (
	"context"
	"fmt"
	"unicode/utf8"

	"glasshouse/internal/watch/jsonscan"
)

// A message longer than maxUnchunked bytes is sent in chunks of chunkBytes, if the client supports chunks. While a
// message or a chunk is being written, nothing else can be sent, not even a ping, and the client receives no other
// data. On a link of 30 kB/s, a message of maxUnchunked bytes takes 6.5 s, and a chunk takes 2 s. These times apply
// if the data does not compress.
const maxUnchunked, chunkBytes = 192 << 10, 64 << 10

// maxChunksInFlight is the maximum number of chunks in flight on one connection. The pong for a ping after each chunk
// shows that the client has received the chunk. Without this limit, the kernels and proxies on the path might buffer
// megabytes, and all other messages would wait behind that data.
const maxChunksInFlight = 4

// sendChunked sends a message of a subscription, in chunks if the message is long. Other messages may be sent between
// the chunks. sendChunked drops the remaining chunks if the subscription ends, or if stillValid reports that the
// client is no longer permitted to receive the message.
func (l *session) sendChunked(
	ctx context.Context, members []byte, id int, uncompressed bool, stillValid func(context.Context) bool,
) error {
	if !l.acceptsChunks || len(members) <= maxUnchunked {
		return l.write(ctx, members, &id, uncompressed)
	}
	piece := appendMessageStart(make([]byte, 0, chunkBytes+64), &id)
	totalBytes, sentBytes := len(piece)+len(members)+1, 0
	var chunk []byte
	for len(members) > 0 && l.acquireChunk(ctx, stillValid) {
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
		if err := l.write(ctx, chunk, &id, uncompressed); err != nil {
			return err // The failed write has ended the session.
		}
		l.running.Go(func() {
			l.awaitPong(ctx)
			<-l.inFlight
		})
		piece = piece[:0]
	}
	return nil
}

// acquireChunk waits until one more chunk may be in flight. It reports whether the next chunk must still be sent.
func (l *session) acquireChunk(ctx context.Context, stillValid func(context.Context) bool) bool {
	select {
	case l.inFlight <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() == nil && stillValid(ctx) {
		return true
	}
	<-l.inFlight
	return false
}

// awaitPong returns when the client has received everything that was written so far, or after pongTimeout. It does
// not end the session, because the periodic pings of the session detect a lost client.
func (l *session) awaitPong(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pongTimeout)
	defer cancel()
	_ = l.conn.Ping(ctx)
}
