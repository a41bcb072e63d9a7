package request

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

var errRevoked = errors.New("a permission that the response depends on was revoked")

type revalidationKey struct{}

// AbortOnRevoke is middleware that aborts a response when the login or share link of its sender ends, or a required
// permission is revoked.
func AbortOnRevoke(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identityCtx, done := IdentityOf(r).Context(r.Context())
		defer done()
		revalidation := &permit.Revalidation{}
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
				// Stop a write in progress. If w supports no deadlines, ignore the error: ctx still stops the handler.
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

// RevalidationOf returns the permissions that a response depends on. It is nil for routes without AbortOnRevoke.
func RevalidationOf(r *http.Request) *permit.Revalidation {
	revalidation, _ := r.Context().Value(revalidationKey{}).(*permit.Revalidation)
	return revalidation
}
