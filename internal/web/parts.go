package web

import (
	"context"
	"fmt"
	"unicode/utf8"

	"glasshouse/internal/watch/rawjson"
)

// A longer message than wholeUpTo is told in parts of partBytes to who asked for
// that. While one is written nothing else is, a ping neither, and the client hears
// nothing: on a link of 30 kB/s that is 5 s for the former, where nothing of it can be
// compressed, and 2 s for the latter.
const wholeUpTo, partBytes = 192 << 10, 64 << 10

// partsOnTheWay are those of one connection. A ping behind each says that it has come: kernels and
// proxies between us and the client may hold megabytes, and all else would be behind them.
const partsOnTheWay = 4

// tell writes a message of a subscription, in parts where it is long. Others are
// written between them; the rest is not told where the subscription ends, nor where
// the message does not stand any more.
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
			return err // Which has ended the session.
		}
		l.running.Go(func() {
			l.awaitPong(ctx)
			<-l.onTheWay
		})
		piece = piece[:0]
	}
	return nil
}

// turn waits until another part may be on the way, and reports whether it is to be.
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

// awaitPong returns when the client has what was written so far, or has not said so for
// too long: whether it is still there is for the session's own pings to find out.
func (l *session) awaitPong(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pongTimeout)
	defer cancel()
	_ = l.conn.Ping(ctx)
}
