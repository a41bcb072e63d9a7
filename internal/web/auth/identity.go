package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"glasshouse/internal/watch"
)

// ErrEnded is the cause for which a context of Within ends with its Identity.
var ErrEnded = errors.New("the login has ended")

// An Identity is who sends a request, and for how long that holds.
type Identity struct {
	Viewer  watch.Viewer    // The zero Viewer for nobody.
	Expires time.Time       // Zero for never.
	Ended   <-chan struct{} // Closed when it holds no more; nil for never.
	Cookie  bool            // A cookie says so, which a browser sends by itself.

	hold func() (release func()) // Has it looked after while it is in use; nil where nobody does.
}

// Within returns a context that ends with parent, and with the Identity, by
// ErrEnded. Until done is called, the Identity is in use, and asked for again.
func (i Identity) Within(parent context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if i.Ended == nil && i.Expires.IsZero() {
		return ctx, func() { cancel(nil) }
	}
	release := func() {}
	if i.hold != nil {
		release = i.hold()
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
