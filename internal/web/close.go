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
	// maxSockets is the maximum number of sockets of all clients together.
	maxSockets = 5000
	// stopRetryDelay is the minimum delay before a client may reconnect after the server has stopped, and fullRetryDelay
	// the one after a quota was full. A random part of retrySpread is added, so that clients do not all reconnect at
	// once.
	stopRetryDelay = 500 * time.Millisecond
	fullRetryDelay = 5 * time.Second
	retrySpread    = 5 * time.Second
	// statusEnded is the WebSocket close code for a session whose login has ended.
	statusEnded websocket.StatusCode = 4401
	// statusShareEnded is the WebSocket close code for a guest whose share link has ended.
	statusShareEnded websocket.StatusCode = 4403
	// statusSwitched is the WebSocket close code for a session of a cluster that is no longer the active one.
	statusSwitched websocket.StatusCode = 4409
	switchedReason                      = "the server shows another cluster; reload"
	// closeTimeout is how long a client may take to answer a close frame.
	closeTimeout = 4 * time.Second
)

// acquireSocket counts a socket toward its quotas until leave is called. leave is nil if one of the quotas is used
// up.
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

// closeWithRetry closes the connection with a WebSocket close code. The close frame contains the reason, and how long
// the client must wait before it reconnects. Clients that are disconnected at the same time get different delays.
func (l *session) closeWithRetry(code websocket.StatusCode, delay time.Duration, reason string) {
	delay += rand.N(retrySpread) //nolint:gosec // The delay does not need secure random numbers.
	l.close(code, fmt.Sprintf("retry after %d ms: %s", delay.Milliseconds(), reason))
}

// closeOnEnd closes the connection when identityCtx ends because the login or the share link has ended. If such a
// close is in progress when wait is called, wait returns after the close is complete.
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

// close ends the connection with a WebSocket close code and a reason. It waits up to closeTimeout for the close frame
// of the client, and at most as long again for a write that is in progress.
func (l *session) close(code websocket.StatusCode, reason string) {
	// After closeTimeout, cancel the context of the read that waits for the client's close frame.
	timer := time.AfterFunc(closeTimeout, l.cancel)
	defer timer.Stop()
	_ = l.conn.Close(code, reason) // An error means that the client has closed it already.
}

// abort ends the connection without a close frame. The goroutine that reads from the connection then gets an error
// and ends the session.
func (l *session) abort() { _ = l.conn.CloseNow() }
