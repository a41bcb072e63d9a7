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
	public    class = iota // Anyone, even without a login. The route reveals nothing about the cluster.
	anyViewer              // Users and guests (viewers of a share link). Each sees only permitted data.
	notGuests              // Users, but not guests.
)

type route struct {
	method, pattern string
	class           class
	handler         func(http.ResponseWriter, *http.Request) error
	delivery        delivery
	memory          int64 // Estimated memory for building one response, in bytes.
}

func (s *Server) routes() []route {
	return []route{
		{http.MethodGet, "/", anyViewer, s.home, buffered, smallMemory},
		{http.MethodGet, "/r/{group}/{version}/{resource}", anyViewer, s.listPage, bufferedAfterList, smallMemory},
		{
			http.MethodGet, "/o/{group}/{version}/{resource}/{namespace}/{name}", anyViewer, s.objectPage, buffered,
			objectMemory,
		},
		{http.MethodGet, "/compare", anyViewer, s.comparePage, buffered, compareMemory},
		{http.MethodGet, "/status", anyViewer, s.statusPage, buffered, smallMemory},
		{http.MethodGet, contextsPath, notGuests, s.contextsPage, buffered, smallMemory},
		{http.MethodPost, contextsPath, notGuests, s.switchPage, buffered, smallMemory},
		{http.MethodGet, "/api/openapi.json", public, s.openapi, buffered, smallMemory},
		{http.MethodGet, "/api/v1/resources", anyViewer, s.resources, buffered, smallMemory},
		{
			http.MethodGet, "/api/v1/snapshot/{group}/{version}/{resource}", anyViewer, s.snapshot, bufferedAfterList,
			smallMemory,
		},
		{
			http.MethodGet, "/api/v1/object/{group}/{version}/{resource}/{namespace}/{name}", anyViewer, s.object,
			buffered, objectMemory,
		},
		{http.MethodGet, "/api/v1/logs/{namespace}/{name}", anyViewer, s.logs, direct, 0},
		{http.MethodGet, "/api/v1/search", anyViewer, s.search, buffered, smallMemory},
		{
			http.MethodGet, "/api/v1/related/{group}/{version}/{resource}/{namespace}/{name}", anyViewer, s.related,
			buffered, graphMemory,
		},
		{http.MethodGet, "/api/v1/status", anyViewer, s.status, buffered, smallMemory},
		{http.MethodGet, "/api/v1/contexts", notGuests, s.listContexts, buffered, smallMemory},
		{http.MethodPost, "/api/v1/context", notGuests, s.switchContext, buffered, smallMemory},
		{http.MethodGet, "/api/v1/live", anyViewer, s.live, direct, 0},
		{http.MethodGet, "/api/v1/shares", notGuests, s.listShares, buffered, smallMemory},
		{http.MethodPost, "/api/v1/shares", notGuests, s.createShare, buffered, smallMemory},
		{http.MethodDelete, "/api/v1/shares/{id}", notGuests, s.revokeShare, buffered, smallMemory},
		{http.MethodGet, sharePath, public, s.sharePage, buffered, smallMemory},
		{http.MethodPost, sharePath, public, s.openShare, buffered, smallMemory},
		{http.MethodPost, leavePath, public, s.leaveShare, buffered, smallMemory},
		{http.MethodGet, "/static/*", public, s.static, buffered, smallMemory},
		{http.MethodGet, "/third-party-notices", public, s.notices, buffered, smallMemory},
		{http.MethodGet, "/healthz", public, s.healthz, direct, 0},
		{http.MethodGet, "/readyz", public, s.readyz, direct, 0},
		{http.MethodGet, loginPath, public, s.loginPage, buffered, smallMemory},
		{http.MethodPost, loginPath, public, s.login, buffered, smallMemory},
		{http.MethodGet, callbackPath, public, s.loginCallback, buffered, smallMemory},
		{http.MethodPost, logoutPath, public, s.logout, buffered, smallMemory},
	}
}

// sender identifies who sent a request. If the sender is unknown, err is the reason.
type sender struct {
	identity   auth.Identity
	guest      *share.Guest // Nil if the request is not from a guest.
	err        error
	shareEnded bool // The share link has expired, was revoked, or belongs to another cluster.
}

type senderKey struct{}

// identify is middleware that determines the sender of a request. A guest cookie overrides all other credentials. A
// user who opens a share link therefore sees the same as its guests.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, isGuest := s.identifyGuest(r)
		if isGuest {
			s.auth.Strip(r)
			w.Header().Set("X-Robots-Tag", "noindex")
		} else {
			from.identity, from.err = s.auth.Identify(r)
		}
		if isGuest || from.identity.Viewer.User != nil {
			connOf(r).markIdentified()
		}
		r = r.WithContext(context.WithValue(r.Context(), senderKey{}, from))
		if !s.chargeCaller(r) {
			writeTooMany(w, "Too many of your requests are in flight. Wait for some of them.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorize wraps a handler so that it runs only for senders that the route class c allows.
func (s *Server) authorize(c class, handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		if err := checkClass(c, r); err != nil {
			return err
		}
		return handler(w, r)
	})
}

// checkClass returns an error if the route class c does not allow the sender of a request.
func checkClass(c class, r *http.Request) error {
	from, known := r.Context().Value(senderKey{}).(sender)
	switch {
	case c == public:
	case !known:
		return errors.New("the caller of the request was not identified")
	case from.err != nil:
		return from.err
	case c == notGuests && from.identity.Viewer.Scope != nil:
		return &problem{
			Title: "Not shared", Status: http.StatusForbidden, Detail: "This page is not shared with you.",
		}
	}
	return nil
}

// errRevoked is the cancellation cause of a response whose sender has lost a permission.
var errRevoked = errors.New("a permission that the response depends on was revoked")

// revalidationKey is the context key of a request's watch.Revalidation, which records the permissions that the
// response depends on.
type revalidationKey struct{}

// abortOnRevoke is middleware that aborts a response when its client loses access. That happens if the login or the
// share link ends, or if a permission that the response depends on is revoked. Routes for logs and WebSockets do not
// use abortOnRevoke, because their handlers check access themselves.
func abortOnRevoke(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identityCtx, done := identityOf(r).Context(r.Context())
		defer done()
		revalidation := &watch.Revalidation{}
		defer revalidation.Close()
		var rechecking sync.WaitGroup
		defer rechecking.Wait()
		ctx, abort := context.WithCancelCause(context.WithValue(identityCtx, revalidationKey{}, revalidation))
		defer abort(nil)
		rechecking.Go(func() {
			if revalidation.Revoked(ctx) {
				abort(errRevoked)
			}
		})
		cancelAbort := context.AfterFunc(ctx, func() {
			if isAborted(ctx) {
				// Stop a write that is in progress. If the ResponseWriter does not support deadlines, the canceled ctx still
				// stops the handler.
				_ = http.NewResponseController(w).SetWriteDeadline(time.Now())
			}
		})
		next.ServeHTTP(w, r.WithContext(ctx))
		if !cancelAbort() && isAborted(ctx) {
			panic(http.ErrAbortHandler)
		}
	})
}

// isAborted reports whether the response to a request was aborted because its sender has lost access. ctx is the
// context of the request.
func isAborted(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, auth.ErrEnded) || errors.Is(cause, errRevoked)
}

// identityOf returns the identity of the sender of a request. If the sender is unknown, it returns the zero Identity,
// which has no permissions.
func identityOf(r *http.Request) auth.Identity {
	from, _ := r.Context().Value(senderKey{}).(sender)
	return from.identity
}

func isIdentified(r *http.Request) bool {
	v := identityOf(r).Viewer
	return v.Program || v.User != nil
}

// hasEndedShare reports whether a request has a guest cookie, but no valid share link for the active cluster.
func hasEndedShare(r *http.Request) bool {
	from, _ := r.Context().Value(senderKey{}).(sender)
	return from.shareEnded
}

// access returns the cluster data that the sender of a request is permitted to read.
func (s *Server) access(r *http.Request) *watch.Access {
	revalidation, _ := r.Context().Value(revalidationKey{}).(*watch.Revalidation) // Nil for logs and WebSockets.
	return s.clusterOf(r).Cluster.For(identityOf(r).Viewer).WithRevalidation(revalidation).WithScanLimiter(func(
		ctx context.Context,
	) (release func(), err error) {
		if err := responseOf(r).reserve(ctx); err != nil {
			return nil, err
		}
		return s.acquireProcessor(ctx, r)
	}).WithGrow(responseOf(r).grow)
}
