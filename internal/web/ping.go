package web

import (
	"context"
	"time"
)

// startPings starts periodic pings of the client. The pings detect a client that disappeared without closing the
// connection. They also keep proxies from closing an idle connection. Between two pings, only a timer is active, and
// no goroutine waits.
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

// stopPings stops the periodic pings. l.running still counts a ping in flight until that ping has ended.
func (l *session) stopPings() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pinger.Stop() {
		l.running.Done()
	}
	l.pinger = nil
}
