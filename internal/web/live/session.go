package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

// session is one WebSocket of a browser tab. Each subscription sends from its own goroutine.
type session struct {
	conn          connection
	access        *watch.Access
	identity      auth.Identity // The user or guest, and the expiry of the login.
	guest         *share.Guest  // The viewer of a share link; nil for other clients.
	sockets       *Sockets
	cluster       *request.Cluster
	pageClusterID string // The ID of the cluster that the page shows; empty if unknown.

	quotas             []limit.Limit
	subscriptionQuotas []limit.Limit
	limiters           []*rate.Limiter
	invalidMessages    int

	mu            sync.Mutex
	subscriptions map[int]*openSubscription
}

// serve serves the WebSocket until its connection ends. The end of the cluster's context must not cancel a pending
// read, because the WebSocket library could then send no close frame.
func (s *session) serve() {
	defer s.logPanic()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.cluster.Context()))
	s.conn.cancel = cancel
	defer cancel()
	release := s.sockets.deps.Limits.AcquireSocket(s.quotas)
	if release == nil {
		s.conn.closeWithRetry(websocket.StatusTryAgainLater, fullRetryDelay, "too many connections")
		return
	}
	defer release()
	if s.pageClusterID != "" && s.pageClusterID != s.cluster.ID {
		s.conn.close(statusSwitched, switchedReason)
		return
	}
	if s.guest != nil {
		defer s.guest.Enter()()
	}
	closeDone := make(chan struct{})
	cancelClose := context.AfterFunc(s.cluster.Context(), func() {
		defer close(closeDone)
		if !s.sockets.deps.Stopping() {
			s.conn.close(statusSwitched, switchedReason)
			return
		}
		s.conn.closeWithRetry(websocket.StatusGoingAway, stopRetryDelay, "the server is stopping")
	})
	identityCtx, done := s.identity.Context(ctx)
	defer done()
	waitClosed := s.closeOnEnd(identityCtx)
	defer waitClosed()
	s.conn.startPings(ctx)
	_ = s.read(ctx) // The error only means that the connection has ended.
	cancel()
	_ = s.conn.ws.CloseNow()
	if !cancelClose() {
		<-closeDone
	}
	s.conn.stopPings()
	s.conn.running.Wait()
}

func (s *session) logPanic() {
	if v := recover(); v != nil {
		s.sockets.deps.Log.Error("WebSocket session failed", "panic", v, "stack", string(debug.Stack()))
		_ = s.conn.ws.CloseNow() // After a panic, no other code closes the connection.
	}
}

func (s *session) read(ctx context.Context) error {
	s.conn.ws.SetReadLimit(maxDrained)
	for {
		kind, reader, err := s.conn.ws.Reader(ctx)
		if err != nil {
			return err
		}
		message, err := io.ReadAll(io.LimitReader(reader, maxMessage+1))
		if err != nil {
			return err
		}
		if len(message) <= maxMessage && kind == websocket.MessageText {
			s.handleMessage(ctx, message)
			continue
		}
		if err := s.drain(ctx, reader); err != nil {
			return err
		}
		if kind != websocket.MessageText {
			s.rejectMessage(ctx, request.BadRequest("Binary frame", "The frame is binary; send JSON in text frames."))
		} else {
			s.rejectMessage(ctx, &request.Problem{
				Title: "Frame too long", Status: http.StatusRequestEntityTooLarge,
				Detail: fmt.Sprintf("A frame may have at most %d bytes.", maxMessage),
			})
		}
	}
}

func (s *session) drain(ctx context.Context, rest io.Reader) error {
	for {
		if err := s.waitForRate(ctx); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, rest, maxMessage); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// closeOnEnd closes the connection when the login or share link ends. The returned function waits for a close in
// progress.
func (s *session) closeOnEnd(identityCtx context.Context) (wait func()) {
	closeDone := make(chan struct{})
	cancelClose := context.AfterFunc(identityCtx, func() {
		defer close(closeDone)
		switch ended := errors.Is(context.Cause(identityCtx), auth.ErrEnded); {
		case ended && s.guest != nil:
			s.conn.close(statusShareEnded, "this link was revoked or has expired")
		case ended:
			s.conn.close(statusEnded, "your login has ended; log in again")
		}
	})
	return func() {
		if !cancelClose() {
			<-closeDone
		}
	}
}

// rejectMessage sends an error for an invalid message. After more than maxInvalidMessages of them, it closes the
// connection.
func (s *session) rejectMessage(ctx context.Context, err error) {
	s.invalidMessages++
	if s.invalidMessages > maxInvalidMessages {
		s.conn.close(websocket.StatusPolicyViolation, "too many invalid messages; see the last errors")
		return
	}
	s.sendProblem(ctx, nil, err)
}

// sendProblem sends err as an error message. id is nil if the error belongs to no subscription.
func (s *session) sendProblem(ctx context.Context, id *int, err error) {
	p := request.ProblemFor(s.identity.Viewer, err)
	p.Type = "about:blank"
	if p.Status == http.StatusInternalServerError {
		s.sockets.deps.Log.ErrorContext(ctx, "subscription failed", "error", err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return
	}
	members := append([]byte(`"type":"error","problem":`), text...)
	_ = s.conn.write(ctx, members, id, true) // A failed write ends the session.
}
