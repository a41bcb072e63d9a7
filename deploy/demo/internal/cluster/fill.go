package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/seed"
)

const limitedNamespace = "shop"

func (p plan) populate(ctx context.Context, config *rest.Config, client kubernetes.Interface, progress progress) error {
	if err := seed.Access(ctx, client, limitedNamespace); err != nil {
		return err
	}
	if err := seed.Nodes(ctx, client, p.opts.nodes(), p.ports.Kubelet); err != nil {
		return err
	}
	progress.step("%d nodes registered", p.opts.nodes())
	if p.opts.ControlPlaneOnly {
		return seed.WriteRunningPods(ctx, client, p.opts.nodes(), p.opts.Pods, func(done int) {
			progress.step("%d pods written", done)
		})
	}
	if !p.opts.Seed && p.opts.Pods == 0 {
		return nil
	}
	if p.opts.Seed {
		applied, err := seed.Apply(ctx, config, seed.Options{SuspendCronJobs: p.opts.ChangesPerMinute == 0})
		if err != nil {
			return err
		}
		progress.step("%s", applied)
	}
	pods, err := seed.Fill(ctx, client, p.opts.Pods)
	if err != nil {
		return err
	}
	if pods > 0 {
		progress.step("%d more pods requested in namespace %s", pods, seed.Big)
	}
	return p.waitForPods(ctx, client, progress)
}

// waitForPods waits until no pod is starting. A timeout is not an error.
func (p plan) waitForPods(ctx context.Context, client kubernetes.Interface, progress progress) error {
	// On two cores, 10,000 pods start in two minutes. Slower machines get five times as long, and one minute more.
	limit := time.Minute + time.Duration(p.opts.Pods)*60*time.Millisecond
	waitCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := seed.WaitForPods(waitCtx, client, func(c seed.Count) { progress.step("%s", c) })
	if waitCtx.Err() != nil && ctx.Err() == nil {
		progress.step("some pods are still starting; continuing")
		return nil
	}
	return err
}

func (p plan) printInstructions(progress progress) {
	var next strings.Builder
	fmt.Fprintf(
		&next,
		"\nThe cluster runs. In another terminal:\n\n  export KUBECONFIG=%s\n  kubectl get pods -A\n\nIts users:\n\n",
		p.dir.kubeconfig(),
	)
	for _, user := range [][2]string{
		{p.dir.kubeconfig(), "has all permissions"},
		{p.dir.kubeconfigOf("viewer"), "may view most resources except Secrets (ClusterRole view)"},
		{p.dir.kubeconfigOf("limited"), "may view everything in namespace " + limitedNamespace + " only"},
		{p.dir.kubeconfigOf("nobody"), "has no permissions"},
	} {
		fmt.Fprintf(&next, "  %s\n      %s\n", user[0], user[1])
	}
	fmt.Fprintf(
		&next, "\nThe logs are in %s. Ctrl-C stops the cluster; the same command starts it again.\n\n", p.dir.logs(),
	)
	fmt.Fprint(progress.out, next.String()) //nolint:errcheck // there is no other place to report an error
}
