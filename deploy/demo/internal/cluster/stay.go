package cluster

import (
	"context"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"glasshouse/deploy/demo/internal/kubelet"
	"glasshouse/deploy/demo/internal/life"
)

// stay keeps the cluster running, with its changes and growing logs, until ctx or the command ends.
func (p plan) stay(ctx context.Context, config *rest.Config, progress progress) error {
	group, ctx := errgroup.WithContext(ctx)
	alive, over := context.WithCancel(ctx)
	defer over()
	if p.opts.Seed && p.opts.Life > 0 {
		progress.step("the workload changes: %d changes per minute", p.opts.Life)
		group.Go(func() error { return life.Run(alive, config, p.opts.Life, p.dir.log("life")) })
	}
	if !p.opts.Still {
		group.Go(func() error { return kubelet.Grow(alive, p.dir.podLog()) })
	}
	group.Go(func() error {
		defer over()
		if len(p.opts.Command) > 0 {
			progress.step("ready; running %s", p.opts.Command[0])
			return p.runCommand(ctx)
		}
		progress.step("ready")
		p.explain(progress)
		<-ctx.Done()
		return nil
	})
	return group.Wait()
}
