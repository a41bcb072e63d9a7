package proc

import (
	"context"
	"slices"
	"time"
)

// Group is a group of processes that need each other: when one of them ends unexpectedly, the whole group has failed.
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

// NewGroup returns a group without processes, and a context derived from ctx. When a process of the group ends
// unexpectedly, the group cancels this context with an EndedError as the cause. Canceling ctx stops no process; only
// the method Stop does. Stop waits at most gracePeriod for each process, and then kills it.
func NewGroup(ctx context.Context, gracePeriod time.Duration) (*Group, context.Context) {
	ctx, fail := context.WithCancelCause(ctx)
	return &Group{gracePeriod: gracePeriod, fail: fail}, ctx
}

// Start starts another process in the group. If ctx is canceled, the process continues to run.
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

// Stop stops the processes one after the other, in reverse order of their start. It returns when all have ended.
func (f *Group) Stop() {
	for _, member := range slices.Backward(f.members) {
		member.stop()
		<-member.done
	}
	f.members = nil
	f.fail(context.Canceled)
}
