package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// class is a route class: it specifies who may call a route.
type class int

const (
	everybody class = iota // Anyone. The route reveals nothing about the cluster.
	viewers                // Users and guests. Each sees what their permissions or link allow.
	users                  // Users, but not guests.
)

type route struct {
	method, pattern string
	class           class
	handler         func(http.ResponseWriter, *http.Request) error
	delivery        delivery
	memory          int64 // Memory of a response while it is built, in bytes.
}

// routes returns all routes.
func (s *Server) routes() []route {
	return []route{
		{http.MethodGet, "/", viewers, s.home, buffered, smallMemory},
		{http.MethodGet, "/r/{group}/{version}/{resource}", viewers, s.listPage, bufferedAfterList, smallMemory},
		{
			http.MethodGet, "/o/{group}/{version}/{resource}/{namespace}/{name}", viewers, s.objectPage, buffered,
			objectMemory,
		},
		{http.MethodGet, "/compare", viewers, s.comparePage, buffered, compareMemory},
		{http.MethodGet, "/status", viewers, s.statusPage, buffered, smallMemory},
		{http.MethodGet, contextsPath, users, s.contextsPage, buffered, smallMemory},
		{http.MethodPost, contextsPath, users, s.switchPage, buffered, smallMemory},
		{http.MethodGet, "/api/openapi.json", everybody, s.openapi, buffered, smallMemory},
		{http.MethodGet, "/api/v1/resources", viewers, s.resources, buffered, smallMemory},
		{
			http.MethodGet, "/api/v1/snapshot/{group}/{version}/{resource}", viewers, s.snapshot, bufferedAfterList,
			smallMemory,
		},
		{
			http.MethodGet, "/api/v1/object/{group}/{version}/{resource}/{namespace}/{name}", viewers, s.object,
			buffered, objectMemory,
		},
		{http.MethodGet, "/api/v1/logs/{namespace}/{name}", viewers, s.logs, direct, 0},
		{http.MethodGet, "/api/v1/search", viewers, s.search, buffered, smallMemory},
		{
			http.MethodGet, "/api/v1/related/{group}/{version}/{resource}/{namespace}/{name}", viewers, s.related,
			buffered, graphMemory,
		},
		{http.MethodGet, "/api/v1/status", viewers, s.status, buffered, smallMemory},
		{http.MethodGet, "/api/v1/contexts", users, s.listContexts, buffered, smallMemory},
		{http.MethodPost, "/api/v1/context", users, s.switchContext, buffered, smallMemory},
		{http.MethodGet, "/api/v1/live", viewers, s.live, direct, 0},
		{http.MethodGet, "/api/v1/shares", users, s.listShares, buffered, smallMemory},
		{http.MethodPost, "/api/v1/shares", users, s.createShare, buffered, smallMemory},
		{http.MethodDelete, "/api/v1/shares/{id}", users, s.revokeShare, buffered, smallMemory},
		{http.MethodGet, sharePath, everybody, s.sharePage, buffered, smallMemory},
		{http.MethodPost, sharePath, everybody, s.openShare, buffered, smallMemory},
		{http.MethodPost, leavePath, everybody, s.leaveShare, buffered, smallMemory},
		{http.MethodGet, "/static/*", everybody, s.static, buffered, smallMemory},
		{http.MethodGet, "/third-party-notices", everybody, s.notices, buffered, smallMemory},
		{http.MethodGet, "/healthz", everybody, s.healthz, direct, 0},
		{http.MethodGet, "/readyz", everybody, s.readyz, direct, 0},
		{http.MethodGet, loginPath, everybody, s.loginPage, buffered, smallMemory},
		{http.MethodPost, loginPath, everybody, s.login, buffered, smallMemory},
		{http.MethodGet, callbackPath, everybody, s.loginReturn, buffered, smallMemory},
		{http.MethodPost, logoutPath, everybody, s.logout, buffered, smallMemory},
	}
}

// sender is the identity behind a request, or the reason why it is unknown.
type sender struct {
	identity auth.Identity
	guest    *share.Guest // Nil if the request is not from a guest.
	err      error
	left     bool // The guest's link has expired or was revoked, or belongs to another cluster.
}

// senderKey is the context key of a request's sender.
type senderKey struct{}

// identify is middleware that determines the sender of a request. A request with a guest cookie counts as a guest, even
// if it has other credentials too. The creator of a link who opens it therefore sees what its guests see.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, guest := s.guestOf(r)
		if guest {
			s.auth.Strip(r)
			w.Header().Set("X-Robots-Tag", "noindex")
		} else {
			from.identity, from.err = s.auth.Identify(r)
		}
		if guest || from.identity.Viewer.User != nil {
			connOf(r).markIdentified()
		}
		r = r.WithContext(context.WithValue(r.Context(), senderKey{}, from))
		if !s.identified(r) {
			tooMany(w, "Too many of your requests are in flight. Wait for some of them.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit returns a handler that calls the given one only for senders that the class allows.
func (s *Server) admit(c class, handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		if err := refusal(c, r); err != nil {
			return err
		}
		return handler(w, r)
	})
}

// refusal returns the reason why the class does not allow the sender of a request, or nil if it does.
func refusal(c class, r *http.Request) error {
	from, known := r.Context().Value(senderKey{}).(sender)
	switch {
	case c == everybody:
	case !known:
		return errors.New("the caller of the request was not identified")
	case from.err != nil:
		return from.err
	case c == users && from.identity.Viewer.Scope != nil:
		return &problem{
			Title: "Not shared", Status: http.StatusForbidden, Detail: "This page is not shared with you.",
		}
	}
	return nil
}

// errLost is the cause of a response that is aborted because its sender lost a permission.
var errLost = errors.New("a permission that the response depends on was revoked")

// groundsKey is the context key of the permissions that a response depends on.
type groundsKey struct{}

// within is middleware that aborts a response when the client that requested it loses access: its login ends, the link
// ends, or a permission that the response depends on is revoked. After that, no further data is sent. The handlers of
// logs and sockets do this themselves.
func within(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lasts, done := identityOf(r).Within(r.Context())
		defer done()
		grounds := &watch.Grounds{}
		defer grounds.Close()
		var asking sync.WaitGroup
		defer asking.Wait()
		ctx, cut := context.WithCancelCause(context.WithValue(lasts, groundsKey{}, grounds))
		defer cut(nil)
		asking.Go(func() {
			if grounds.Lost(ctx) {
				cut(errLost)
			}
		})
		unended := context.AfterFunc(ctx, func() {
			if isCut(ctx) {
				// If the writer has no deadlines, the end of ctx stops the handler.
				_ = http.NewResponseController(w).SetWriteDeadline(time.Now())
			}
		})
		next.ServeHTTP(w, r.WithContext(ctx))
		if !unended() && isCut(ctx) {
			panic(http.ErrAbortHandler)
		}
	})
}

// isCut reports whether the response of a request's context was aborted because its sender lost access.
func isCut(ctx context.Context) bool {
	why := context.Cause(ctx)
	return errors.Is(why, auth.ErrEnded) || errors.Is(why, errLost)
}

// identityOf returns the identity of a request's sender. The zero Identity, which may see nothing, means that the
// sender is unknown.
func identityOf(r *http.Request) auth.Identity {
	from, _ := r.Context().Value(senderKey{}).(sender)
	return from.identity
}

// isKnown reports whether the sender of a request is known.
func isKnown(r *http.Request) bool {
	v := identityOf(r).Viewer
	return v.Program || v.User != nil
}

// hasLeft reports whether a request comes from a guest whose link has ended.
func hasLeft(r *http.Request) bool {
	from, _ := r.Context().Value(senderKey{}).(sender)
	return from.left
}

// access returns the access to the cluster that the sender of a request has.
func (s *Server) access(r *http.Request) *watch.Access {
	grounds, _ := r.Context().Value(groundsKey{}).(*watch.Grounds) // Nil for logs and sockets.
	return s.showing(r).Cluster.For(identityOf(r).Viewer).On(grounds).InTurn(func(
		ctx context.Context,
	) (leave func(), err error) {
		if err := responseOf(r).reserve(ctx); err != nil {
			return nil, err
		}
		return s.acquireProcessor(ctx, r)
	}).Growing(responseOf(r).grow)
}
