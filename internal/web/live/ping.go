package live

import (
	"context"
	"time"
)

// startPings starts periodic pings of the client. The pings detect a client that disappeared without closing the
// connection. They also keep proxies from closing an idle connection. Between two pings, only a timer is active, and
// no goroutine waits.
func (c *connection) startPings(ctx context.Context) {
	c.pinging.Lock()
	defer c.pinging.Unlock()
	c.running.Add(1)
	c.pinger = time.AfterFunc(pingInterval, func() { c.ping(ctx) })
}

func (c *connection) ping(ctx context.Context) {
	pingCtx, cancel := context.WithTimeout(ctx, pongTimeout)
	defer cancel()
	err := c.ws.Ping(pingCtx)
	c.pinging.Lock()
	again := err == nil && c.pinger != nil
	if again {
		c.pinger.Reset(pingInterval)
	}
	c.pinging.Unlock()
	if !again {
		c.abort()
		c.running.Done()
	}
}

// stopPings stops the periodic pings. A ping in flight still counts in c.running until it has ended.
func (c *connection) stopPings() {
	c.pinging.Lock()
	defer c.pinging.Unlock()
	if c.pinger.Stop() {
		c.running.Done()
	}
	c.pinger = nil
}
