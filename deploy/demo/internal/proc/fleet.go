package proc

import (
	"context"
	"slices"
	"time"
)

// Group is a group of processes that depend on each other: when one of them ends unexpectedly, the whole group fails.
// Its methods are not safe for concurrent use.
type Group struct {
	gracePeriod time.Duration
	fail        context.CancelCauseFunc
	members     []member
}

type member struct {
	stop context.CancelFunc
	done <-chan struct{}
}

// NewGroup returns a fleet without processes, and its context. This context is a child of ctx. Its cause is the
// EndedError of the first process that ends unexpectedly. Only Stop stops processes; canceling ctx does not. Stop waits
// at most gracePeriod for each process, and then kills it.
func NewGroup(ctx context.Context, gracePeriod time.Duration) (*Group, context.Context) {
	ctx, fail := context.WithCancelCause(ctx)
	return &Group{gracePeriod: gracePeriod, fail: fail}, ctx
}

// Start starts another process. The values of ctx apply to it, but not its cancellation.
func (f *Group) Start(ctx context.Context, spec Spec) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	f.members = append(f.members, member{stop: stop, done: done})
	go func() {
		defer close(done)
		if err := Run(ctx, spec, f.gracePeriod); err != nil {
			f.fail(err)
		}
	}()
}

// Stop ends the processes one after the other, the last started first. It returns when all have ended.
func (f *Group) Stop() {
	for _, member := range slices.Backward(f.members) {
		member.stop()
		<-member.done
	}
	f.members = nil
	f.fail(context.Canceled)
}
