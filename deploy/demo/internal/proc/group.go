package proc

import (
	"context"
	"slices"
	"time"
)

// Group is a group of processes that fails when one ends unexpectedly. It is not safe for concurrent use.
type Group struct {
	gracePeriod time.Duration
	fail        context.CancelCauseFunc
	members     []member
}

type member struct {
	stop context.CancelFunc
	done <-chan struct{}
}

// NewGroup returns an empty group, and a context that ends when a process fails. Stop kills a process that is still
// running gracePeriod after SIGTERM.
func NewGroup(ctx context.Context, gracePeriod time.Duration) (*Group, context.Context) {
	ctx, fail := context.WithCancelCause(ctx)
	return &Group{gracePeriod: gracePeriod, fail: fail}, ctx
}

// Start starts another process with the values of ctx. Only Stop stops the process; a canceled ctx does not.
func (g *Group) Start(ctx context.Context, spec Spec) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	g.members = append(g.members, member{stop: stop, done: done})
	go func() {
		defer close(done)
		if err := Run(ctx, spec, g.gracePeriod); err != nil {
			g.fail(err)
		}
	}()
}

// Stop stops the processes in reverse order of their start, and waits for each.
func (g *Group) Stop() {
	for _, member := range slices.Backward(g.members) {
		member.stop()
		<-member.done
	}
	g.members = nil
	g.fail(context.Canceled)
}
