package web

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/coder/websocket"

	"glasshouse/internal/limit"
	"glasshouse/internal/web/auth"
)

const (
	// maxSockets is the maximum number of open WebSockets of all clients together.
	maxSockets = 5000
	// stopRetryDelay is the minimum delay before a client reconnects to a server that has stopped. fullRetryDelay is
	// the minimum delay after a quota was full. The server adds a random delay of up to retrySpread, so that clients do
	// not reconnect all at once.
	stopRetryDelay = 500 * time.Millisecond
	fullRetryDelay = 5 * time.Second
	retrySpread    = 5 * time.Second
	// statusEnded is the WebSocket close code when the login of the user has ended.
	statusEnded websocket.StatusCode = 4401
	// statusShareEnded is the WebSocket close code when the share link of a guest was revoked or has expired.
	statusShareEnded websocket.StatusCode = 4403
	// statusSwitched is the WebSocket close code when another cluster has become the active one.
	statusSwitched websocket.StatusCode = 4409
	switchedReason                      = "the server shows another cluster; reload"
	// closeTimeout is the maximum time that the server waits for the client's answer to a close frame.
	closeTimeout = 4 * time.Second
)

// acquireSocket counts a WebSocket toward its quotas until leave is called. leave is nil if a quota is full.
func (s *Server) acquireSocket(quotas []limit.Limit) (leave func()) {
	lease := s.limiter.TryAcquire(1, append(slices.Clip(quotas), limit.Limit{Key: "sockets", Max: maxSockets})...)
	if lease == nil {
		return nil
	}
	s.openSockets.Add(1)
	return func() {
		s.openSockets.Add(-1)
		lease.Release()
	}
}

// closeWithRetry closes the connection with a WebSocket close code. The text of the close frame contains the reason
// and a retry delay. The delay is partly random, so that clients do not reconnect all at once.
func (l *session) closeWithRetry(code websocket.StatusCode, delay time.Duration, reason string) {
	delay += rand.N(retrySpread) //nolint:gosec // The delay does not need secure random numbers.
	l.close(code, fmt.Sprintf("retry after %d ms: %s", delay.Milliseconds(), reason))
}

// closeOnEnd closes the connection when identityCtx ends because the login or the share link has ended. The session
// calls wait before it returns: wait waits for a close that is in progress.
func (l *session) closeOnEnd(identityCtx context.Context) (wait func()) {
	closeDone := make(chan struct{})
	cancelClose := context.AfterFunc(identityCtx, func() {
		defer close(closeDone)
		switch ended := errors.Is(context.Cause(identityCtx), auth.ErrEnded); {
		case ended && l.guest != nil:
			l.close(statusShareEnded, "this link was revoked or has expired")
		case ended:
			l.close(statusEnded, "your login has ended; log in again")
		}
	})
	return func() {
		if !cancelClose() {
			<-closeDone
		}
	}
}

// close ends the connection with a WebSocket close code and a reason. It waits up to closeTimeout for a write in
// progress, and up to closeTimeout for the client's close frame.
func (l *session) close(code websocket.StatusCode, reason string) {
	// After closeTimeout, l.cancel ends the read that waits for the client's close frame.
	timer := time.AfterFunc(closeTimeout, l.cancel)
	defer timer.Stop()
	_ = l.conn.Close(code, reason) // The client may have closed it already.
}

// abort ends the connection without a close frame. The pending read of the session then fails, and the session ends.
func (l *session) abort() { _ = l.conn.CloseNow() }
