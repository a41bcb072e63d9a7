package web

import (
	"context"
	"time"
)

// startPings starts periodic pings. The pings detect a client that disappeared without closing the connection, and
// keep proxies from closing an idle connection. Between two pings, only a timer waits, and no goroutine.
func (l *session) startPings(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running.Add(1)
	l.pinger = time.AfterFunc(pingInterval, func() { l.ping(ctx) })
}

func (l *session) ping(ctx context.Context) {
	pingCtx, cancel := context.WithTimeout(ctx, pongTimeout)
	defer cancel()
	err := l.conn.Ping(pingCtx)
	l.mu.Lock()
	again := err == nil && l.pinger != nil
	if again {
		l.pinger.Reset(pingInterval)
	}
	l.mu.Unlock()
	if !again {
		l.abort()
		l.running.Done()
	}
}

// stopPings stops the pings. A ping that is in flight stays counted in l.running until it has ended.
func (l *session) stopPings() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pinger.Stop() {
		l.running.Done()
	}
	l.pinger = nil
}
