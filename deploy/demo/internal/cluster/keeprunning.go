package cluster

import (
	"context"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/kubelet"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/life"
)

func (p plan) keepRunning(ctx context.Context, config *rest.Config, progress progress) error {
	group, ctx := errgroup.WithContext(ctx)
	clusterCtx, stopCluster := context.WithCancel(ctx)
	defer stopCluster()
	if p.opts.Seed && p.opts.ChangesPerMinute > 0 {
		progress.step("the workload changes: %d changes per minute", p.opts.ChangesPerMinute)
		group.Go(func() error { return life.Run(clusterCtx, config, p.opts.ChangesPerMinute, p.dir.log("life")) })
	}
	if !p.opts.ControlPlaneOnly {
		group.Go(func() error { return kubelet.Grow(clusterCtx, p.dir.podLog()) })
	}
	group.Go(func() error {
		defer stopCluster()
		if len(p.opts.Command) > 0 {
			progress.step("ready; running %s", p.opts.Command[0])
			return p.runCommand(ctx)
		}
		progress.step("ready")
		p.printInstructions(progress)
		<-ctx.Done()
		return nil
	})
	return group.Wait()
}
