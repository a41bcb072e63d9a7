package request

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/auth"
)

// errRevoked is the cancellation cause of a response whose sender has lost a permission.
var errRevoked = errors.New("a permission that the response depends on was revoked")

type revalidationKey struct{}

// AbortOnRevoke is middleware that aborts a response when its client loses access. That happens if the login or the
// share link ends, or if a permission that the response depends on is revoked. The routes for logs and WebSockets do
// not use AbortOnRevoke, because their handlers check access themselves.
func AbortOnRevoke(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identityCtx, done := IdentityOf(r).Context(r.Context())
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

func isAborted(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, auth.ErrEnded) || errors.Is(cause, errRevoked)
}

// RevalidationOf returns the permissions that the response to a request depends on. It returns nil for logs and
// WebSockets, which do not use AbortOnRevoke.
func RevalidationOf(r *http.Request) *watch.Revalidation {
	revalidation, _ := r.Context().Value(revalidationKey{}).(*watch.Revalidation)
	return revalidation
}
