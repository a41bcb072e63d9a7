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
	// stopFor and fullFor are the minimum delays before a client may reconnect: after the server stops, and after a
	// quota was full. A random part of retrySpread is added, so that clients do not all reconnect at once.
	stopFor     = 500 * time.Millisecond
	fullFor     = 5 * time.Second
	retrySpread = 5 * time.Second
	// statusEnded is the WebSocket status for a session whose login has ended.
	statusEnded websocket.StatusCode = 4401
	// statusShareEnded is the status for a guest whose share has ended.
	statusShareEnded websocket.StatusCode = 4403
	// statusSwitched is the status for a session of a cluster that is not the active one any more.
	statusSwitched websocket.StatusCode = 4409
	switched                            = "the server shows another cluster; reload"
	// closeTimeout is how long a client may take to answer a close frame.
	closeTimeout = 4 * time.Second
)

// enter counts a socket toward its quotas until leave is called. If one of the quotas is used up, leave is nil.
func (s *Server) enter(quotas []limit.Limit) (leave func()) {
	lease := s.limiter.TryAcquire(1, append(slices.Clip(quotas), limit.Limit{Key: "sockets", Max: maxSockets})...)
	if lease == nil {
		return nil
	}
	s.open.Add(1)
	return func() {
		s.open.Add(-1)
		lease.Release()
	}
}

// sendAway closes the connection with a status. It sends the reason, and how long the client must wait before it
// reconnects. Clients that are disconnected together get different delays.
func (l *session) sendAway(code websocket.StatusCode, after time.Duration, why string) {
	after += rand.N(retrySpread) //nolint:gosec // No secret.
	l.close(code, fmt.Sprintf("retry after %d ms: %s", after.Milliseconds(), why))
}

// endWith closes the connection when lasts ends, because the login or the share has ended. If such a close is in
// progress, the returned function waits until it is complete.
func (l *session) endWith(lasts context.Context) (wait func()) {
	told := make(chan struct{})
	unended := context.AfterFunc(lasts, func() {
		defer close(told)
		switch ended := errors.Is(context.Cause(lasts), auth.ErrEnded); {
		case ended && l.guest != nil:
			l.close(statusShareEnded, "this link was revoked or has expired")
		case ended:
			l.close(statusEnded, "your login has ended; log in again")
		}
	})
	return func() {
		if !unended() {
			<-told
		}
	}
}

// close ends the connection with a status and a reason. It waits up to closeTimeout for the answer of the client, and
// at most as long again for a write that is in progress.
func (l *session) close(code websocket.StatusCode, why string) {
	impatient := time.AfterFunc(closeTimeout, l.cancel) // Ends the read.
	defer impatient.Stop()
	_ = l.conn.Close(code, why) // The client may have closed it.
}

// cut ends the connection without a close frame. The goroutine that reads from the connection then gets an error.
func (l *session) cut() { _ = l.conn.CloseNow() }
