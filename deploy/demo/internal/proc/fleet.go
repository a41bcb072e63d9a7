package proc

import (
	"context"
	"slices"
	"time"
)

// Fleet holds processes that need each other: when one of them ends unexpectedly, the whole is over. Its methods are
// for one goroutine.
type Fleet struct {
	grace   time.Duration
	fail    context.CancelCauseFunc
	members []member
}

type member struct {
	stop context.CancelFunc
	done <-chan struct{}
}

// NewFleet gives a fleet without processes and the context that it lives in: a child of ctx that ends with the
// EndedError of the first process to fall. The end of ctx stops no process; Stop does. Stop takes at most grace for each.
func NewFleet(ctx context.Context, grace time.Duration) (*Fleet, context.Context) {
	ctx, fail := context.WithCancelCause(ctx)
	return &Fleet{grace: grace, fail: fail}, ctx
}

// Start runs one more process.
func (f *Fleet) Start(ctx context.Context, spec Spec) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	f.members = append(f.members, member{stop: stop, done: done})
	go func() {
		defer close(done)
		if err := Run(ctx, spec, f.grace); err != nil {
			f.fail(err)
		}
	}()
}

// Stop ends the processes one after the other, the youngest first, and returns when the last has ended.
func (f *Fleet) Stop() {
	for _, member := range slices.Backward(f.members) {
		member.stop()
		<-member.done
	}
	f.members = nil
	f.fail(context.Canceled)
}
