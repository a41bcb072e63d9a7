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
	// maxSockets are those of all tabs together.
	maxSockets = 5000
	// stopFor and fullFor are after how long a client is told to come back, at
	// the earliest; retrySpread is over how long they come, lest all do at once.
	stopFor     = 500 * time.Millisecond
	fullFor     = 5 * time.Second
	retrySpread = 5 * time.Second
	// statusEnded is told to who is not logged in any more.
	statusEnded websocket.StatusCode = 4401
	// statusShareEnded is told to guests of what is shared no more.
	statusShareEnded websocket.StatusCode = 4403
	// statusSwitched is told to whoever looks at a cluster that is not shown any more.
	statusSwitched websocket.StatusCode = 4409
	switched                            = "the server shows another cluster; begin anew"
	// closeTimeout is how long a client may take to answer a close.
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

// sendAway ends the connection, and says why and after how long to try again:
// clients that are sent away together are told different times.
func (l *session) sendAway(code websocket.StatusCode, after time.Duration, why string) {
	after += rand.N(retrySpread) //nolint:gosec // No secret.
	l.close(code, fmt.Sprintf("retry after %d ms: %s", after.Milliseconds(), why))
}

// endWith ends the connection, and says so, when the login does whose it is. What
// it returns waits for that to be said, where it is being said.
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

// close ends the connection and says why. It waits closeTimeout for the client's
// answer, and at most as long again for a write that is on its way.
func (l *session) close(code websocket.StatusCode, why string) {
	impatient := time.AfterFunc(closeTimeout, l.cancel) // Ends what is read.
	defer impatient.Stop()
	_ = l.conn.Close(code, why) // It may be gone already.
}

// cut ends the connection without a word. The reader notices.
func (l *session) cut() { _ = l.conn.CloseNow() }
