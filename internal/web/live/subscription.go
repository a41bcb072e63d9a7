package live

import (
	"context"
	"errors"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

type openSubscription struct {
	stop   context.CancelFunc
	ended  chan struct{}
	window *query.Window // The requested range of rows; nil in views without a range.
}

func (s *session) subscribe(ctx context.Context, o *operation) {
	window, err := o.newWindow()
	if err != nil {
		s.sendProblem(ctx, &o.ID, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &openSubscription{stop: cancel, ended: make(chan struct{}), window: window}
	s.mu.Lock()
	_, exists := s.subscriptions[o.ID]
	full := len(s.subscriptions) >= maxSubscriptions
	if !exists && !full {
		s.subscriptions[o.ID] = f
	}
	s.mu.Unlock()
	var lease *limit.Lease
	if !exists && !full {
		lease = s.sockets.deps.Limits.Limiter.TryAcquire(1, s.subscriptionQuotas...)
	}
	switch {
	case exists:
		cancel()
		s.sendProblem(ctx, nil,
			request.BadRequest("Subscription exists", "The id %d is in use; unsubscribe it first, or send another id.", o.ID))
	case full:
		cancel()
		s.sendProblem(ctx, &o.ID,
			request.BadRequest("Too many subscriptions", "A WebSocket may have at most %d subscriptions; end one of them first.",
				maxSubscriptions))
	case lease == nil:
		cancel()
		s.removeSubscription(o.ID, f)
		s.sendProblem(ctx, &o.ID, request.BadRequest("Too many subscriptions",
			"All WebSockets of a user, a link or an address together may have %d subscriptions for each allowed "+
				"WebSocket; end a subscription first.", quota.SocketSubscriptions))
	default:
		s.conn.running.Go(func() {
			defer close(f.ended)
			defer lease.Release()
			defer cancel()
			err := s.follow(ctx, o, window)
			s.removeSubscription(o.ID, f)
			switch {
			case ctx.Err() != nil || errors.Is(err, stream.ErrClosed):
			case err != nil:
				s.sendProblem(ctx, &o.ID, err)
			case o.View == viewLog:
				_ = s.conn.write(ctx, []byte(`"type":"log-end"`), &o.ID, true) // A failed write ends the session.
			}
		})
	}
}

// follow sends messages until the subscription ends. If it returns nil for the view "log", the log has ended.
func (s *session) follow(ctx context.Context, o *operation, window *query.Window) (err error) {
	defer request.RecoverAsError(&err)
	switch {
	case o.View == viewResources && o.hasSelection():
		return request.BadRequest("Invalid resources subscription",
			"The view resources covers all resources, so besides op and view, only id and ns are allowed.")
	case o.View == viewResources:
		namespaces, err := query.SelectNamespaces(o.Namespaces)
		if err != nil {
			return err
		}
		return s.followResources(ctx, o.ID, namespaces)
	case o.View == viewLog:
		return s.followLog(ctx, o)
	case o.View == viewOverview && o.Resource+o.Labels+o.Fields+o.Name+o.Cursor != "":
		return request.BadRequest("Invalid overview subscription",
			"The view overview covers several resources, so besides op and view, only id and ns are allowed.")
	case o.View == viewOverview:
		return s.followOverview(ctx, o)
	case o.View == viewRates:
		return s.followRates(ctx, o)
	case o.View == viewExplanation && (o.Labels+o.Fields+o.Cursor != "" || o.Watched):
		return request.BadRequest("Invalid explanation subscription",
			"Besides op and view, the view explanation allows only id, resource, ns and name.")
	case o.View == viewExplanation:
		return s.followExplanation(ctx, o)
	}
	subscription, err := s.access.Subscribe(ctx, o.query(window), stream.View(o.View), o.Cursor)
	if err != nil {
		return err
	}
	defer subscription.Close()
	for {
		message, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		uncompressed := stream.View(o.View).IsPlain(message)
		if err := s.conn.sendChunked(ctx, message, o.ID, uncompressed, subscription.StillValid); err != nil {
			return nil // The connection has ended, so the error cannot be sent.
		}
	}
}

// moveWindow changes the range of rows that a subscription sends. If the request is invalid, the client receives an
// error, and the range does not change.
func (s *session) moveWindow(ctx context.Context, o *operation) {
	s.mu.Lock()
	f := s.subscriptions[o.ID]
	s.mu.Unlock()
	err := error(noSubscription(o.ID))
	switch {
	case f != nil && f.window == nil:
		err = request.BadRequest("Invalid window", "The subscription with the id %d does not have the view window.", o.ID)
	case f != nil:
		err = f.window.Move(o.Offset, o.Count, strings.Join(o.Namespaces, ","), o.Name)
	}
	if err != nil {
		s.sendProblem(ctx, nil, err)
	}
}

func noSubscription(id int) *request.Problem {
	return request.BadRequest("No such subscription", "There is no subscription with the id %d.", id)
}

// unsubscribe ends a subscription, and waits for its end. Afterwards, the client can use the id again.
func (s *session) unsubscribe(ctx context.Context, id int) {
	s.mu.Lock()
	f := s.subscriptions[id]
	s.mu.Unlock()
	if f == nil {
		s.sendProblem(ctx, nil, noSubscription(id))
		return
	}
	f.stop()
	<-f.ended
}

func (s *session) removeSubscription(id int, f *openSubscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subscriptions[id] == f {
		delete(s.subscriptions, id)
	}
}
