package live

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/coder/websocket"
)

const (
	// stopRetryDelay is the minimum delay until clients reconnect after a server stop.
	stopRetryDelay = 500 * time.Millisecond
	// fullRetryDelay is the minimum delay until a client reconnects after it was refused because of a limit.
	fullRetryDelay = 5 * time.Second
	retrySpread    = 5 * time.Second
	// statusEnded is the WebSocket close code when the login of the user has ended.
	statusEnded websocket.StatusCode = 4401
	// statusShareEnded is the WebSocket close code when the share link of a guest was revoked or has expired.
	statusShareEnded websocket.StatusCode = 4403
	// statusSwitched is the WebSocket close code when the server has switched to another cluster.
	statusSwitched websocket.StatusCode = 4409
	switchedReason                      = "the server shows another cluster; reload"
	// closeTimeout is the maximum time that the server waits for the client's response to a close frame.
	closeTimeout = 4 * time.Second
)

// closeWithRetry closes the connection and sends a retry delay, partly random, so that clients reconnect at different
// times.
func (c *connection) closeWithRetry(code websocket.StatusCode, delay time.Duration, reason string) {
	delay += rand.N(retrySpread) //nolint:gosec // The delay does not need secure random numbers.
	c.close(code, fmt.Sprintf("retry after %d ms: %s", delay.Milliseconds(), reason))
}

// close closes the connection after the write in progress. It waits up to closeTimeout for the client's close frame.
func (c *connection) close(code websocket.StatusCode, reason string) {
	// After closeTimeout, c.cancel ends the read that waits for the client's close frame.
	timer := time.AfterFunc(closeTimeout, c.cancel)
	defer timer.Stop()
	_ = c.ws.Close(code, reason)
}

// abort ends the connection without a close frame. The pending read of the session then fails, and the session ends.
func (c *connection) abort() { _ = c.ws.CloseNow() }
