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
	// stopFor and fullFor are the shortest delays after which a client is asked to reconnect. A random part of
	// retrySpread is added, so that clients do not all reconnect at once.
	stopFor     = 500 * time.Millisecond
	fullFor     = 5 * time.Second
	retrySpread = 5 * time.Second
	// statusEnded is sent when the login of a session has ended.
	statusEnded websocket.StatusCode = 4401
	// statusShareEnded is sent to guests when their share has ended.
	statusShareEnded websocket.StatusCode = 4403
	// statusSwitched is sent to the sessions of a cluster that is not the active one any more.
	statusSwitched websocket.StatusCode = 4409
	switched                            = "the server shows another cluster; begin anew"
	// closeTimeout is how long a client may take to answer a close frame.
	closeTimeout = 4 * time.Second
)

// enter counts a socket until leave is called, if its quotas have room for it. Otherwise leave is nil.
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

// sendAway closes the connection, and sends the reason and the delay before a new attempt. Clients that are
// disconnected together get different delays.
func (l *session) sendAway(code websocket.StatusCode, after time.Duration, why string) {
	after += rand.N(retrySpread) //nolint:gosec // No secret.
	l.close(code, fmt.Sprintf("retry after %d ms: %s", after.Milliseconds(), why))
}

// endWith closes the connection with a status when its login or share ends. If a close is in progress, the returned
// function waits for it.
func (l *session) endWith(lasts context.Context) (wait func()) {
	told := make(chan struct{})
	unended := context.AfterFunc(lasts, func() {
		defer close(told)
		switch ended := errors.Is(context.Cause(lasts), auth.ErrEnded); {
		case ended && l.guest != nil:
			l.close(statusShareEnded, "this share has ended")
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

// close ends the connection and sends the reason. It waits up to closeTimeout for the answer of the client, and at most
// as long again for a write that is in progress.
func (l *session) close(code websocket.StatusCode, why string) {
	impatient := time.AfterFunc(closeTimeout, l.cancel) // Ends the read.
	defer impatient.Stop()
	_ = l.conn.Close(code, why) // The client may have closed it.
}

// cut ends the connection without a close frame. The reader then gets an error.
func (l *session) cut() { _ = l.conn.CloseNow() }
