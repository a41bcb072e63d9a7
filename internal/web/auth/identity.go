package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

// ErrEnded is the cancellation cause of a context from Identity.Context, if the login has ended or the identity has
// expired.
var ErrEnded = errors.New("the login has ended")

// An Identity describes the viewer who sends a request. It ends when it expires, or when the viewer's login ends.
type Identity struct {
	Viewer  watch.Viewer    // The zero value if the viewer is unknown.
	Expires time.Time       // Expiry of the identification; zero if it does not expire.
	Ended   <-chan struct{} // Closed when the login ends; nil if it cannot end.
	Cookie  bool            // Whether a cookie, which browsers send automatically, identified the viewer.

	acquire func() (release func()) // Marks the login as in use, so that its token is reviewed again; can be nil.
}

// Context returns a context that ends with parent, or when the identity ends or expires. In the last two cases, the
// cancellation cause is ErrEnded. The token is reviewed regularly until the caller calls done.
func (i Identity) Context(parent context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if i.Ended == nil && i.Expires.IsZero() {
		return ctx, func() { cancel(nil) }
	}
	release := func() {}
	if i.acquire != nil {
		release = i.acquire()
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		var expired <-chan time.Time
		if !i.Expires.IsZero() {
			timer := time.NewTimer(time.Until(i.Expires))
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case <-i.Ended:
			cancel(ErrEnded)
		case <-expired:
			cancel(ErrEnded)
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(nil); waiting.Wait(); release() }
}
