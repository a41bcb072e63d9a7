package live

import (
	"context"
	"time"
)

// startPings starts periodic pings. They detect disappeared clients, and keep proxies from closing an idle
// connection.
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
