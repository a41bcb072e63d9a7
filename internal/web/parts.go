package web

import (
	"context"
	"fmt"
	"unicode/utf8"

	"glasshouse/internal/watch/rawjson"
)

// A message longer than wholeUpTo is sent in chunks of partBytes, if the client has requested chunks. During the write
// of a message or chunk, nothing else can be sent, not even a ping, and the client receives nothing new. On a link of
// 30 kB/s, this takes 5 s for a message of wholeUpTo and 2 s for a chunk if the data does not compress.
const wholeUpTo, partBytes = 192 << 10, 64 << 10

// partsOnTheWay is the maximum number of chunks in flight on one connection. A ping after each chunk shows that the
// chunk has arrived. Without this limit, kernels and proxies on the path might buffer megabytes, and all other messages
// would wait behind them.
const partsOnTheWay = 4

// tell sends a message of a subscription, in chunks if it is long. Other messages may be sent between the chunks. It
// drops the remaining chunks if the subscription ends, or if stands reports false: the message may then no longer be
// sent.
func (l *session) tell(
	ctx context.Context, members []byte, id int, plain bool, stands func(context.Context) bool,
) error {
	if !l.parts || len(members) <= wholeUpTo {
		return l.write(ctx, members, &id, plain)
	}
	piece := opening(make([]byte, 0, partBytes+64), &id)
	of, told := len(piece)+len(members)+1, 0
	var part []byte
	for len(members) > 0 && l.turn(ctx, stands) {
		n := min(len(members), partBytes)
		for n < len(members) && !utf8.RuneStart(members[n]) {
			n--
		}
		piece, members = append(piece, members[:n]...), members[n:]
		if len(members) == 0 {
			piece = append(piece, '}')
		}
		told += len(piece)
		part = rawjson.AppendString(fmt.Appendf(part[:0], `"type":"part","told":%d,"of":%d,"text":`, told, of), piece)
		if err := l.write(ctx, part, &id, plain); err != nil {
			return err // The failed write has ended the session.
		}
		l.running.Go(func() {
			l.awaitPong(ctx)
			<-l.onTheWay
		})
		piece = piece[:0]
	}
	return nil
}

// turn waits until one more chunk may be in flight, and reports whether to send the next chunk.
func (l *session) turn(ctx context.Context, stands func(context.Context) bool) bool {
	select {
	case l.onTheWay <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() == nil && stands(ctx) {
		return true
	}
	<-l.onTheWay
	return false
}

// awaitPong returns when the client has received everything written so far, or after pongTimeout. It does not end the
// session; the session's own pings detect a lost client.
func (l *session) awaitPong(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pongTimeout)
	defer cancel()
	_ = l.conn.Ping(ctx)
}
