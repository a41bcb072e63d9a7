package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"glasshouse/internal/watch"
)

// ErrEnded is the cause of a context of Identity.Context that has ended because its Identity has ended.
var ErrEnded = errors.New("the login has ended")

// An Identity is the sender of a request, and how long that identification is valid.
type Identity struct {
	Viewer  watch.Viewer    // The zero Viewer if the sender is unknown.
	Expires time.Time       // Zero if the identification does not expire.
	Ended   <-chan struct{} // Closed when the identification is not valid any more; nil if it stays valid.
	Cookie  bool            // The sender was identified by a cookie, which a browser sends automatically.

	acquire func() (release func()) // Starts rechecks of the login, until release is called; nil without rechecks.
}

// Context returns a context that ends with parent, or when the Identity is not valid any more. In the latter case its
// cause is ErrEnded. Until done is called, the Identity is in use, and is rechecked.
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
