package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"glasshouse/deploy/demo/internal/identity"
	"glasshouse/deploy/demo/internal/parts"
	"glasshouse/deploy/demo/internal/proc"
	"glasshouse/deploy/demo/internal/seed"
)

const (
	// grace is the time in which a part may end by itself. The parts end one after the other, all within ten seconds.
	grace = 2 * time.Second
	// patience is the time in which a part must become ready. It is sufficient for a slow machine under load.
	patience = 2 * time.Minute
)

// Up starts the cluster, runs what opts requests, and stops the cluster. It returns when no process of the cluster is
// left. Callers usually stop the cluster by canceling ctx, which is not an error.
func Up(ctx context.Context, opts Options) (err error) {
	progress := progress{out: opts.Stdout, start: time.Now()}
	if len(opts.Command) > 0 {
		if _, err := exec.LookPath(opts.Command[0]); err != nil {
			return fmt.Errorf("find the command to run: %w", err)
		}
	}
	home, err := openDir(opts.DataDir)
	if err != nil {
		return err
	}
	locked, err := lock(home.lock(), string(home))
	if err != nil {
		return err
	}
	defer locked.Close() //nolint:errcheck // the process ends after this

	plan, tokens, err := prepare(home, opts)
	if err != nil {
		return err
	}
	fleet, running := proc.NewFleet(ctx, grace)
	defer func() {
		stopping := time.Now()
		fleet.Stop()
		progress.step("stopped, in %.1f s", time.Since(stopping).Seconds())
	}()
	err = plan.live(running, fleet, tokens, progress)
	if fallen, ok := errors.AsType[*proc.EndedError](context.Cause(running)); ok {
		return fallen // this caused all other errors
	}
	if ctx.Err() != nil && !isExit(err) {
		return nil
	}
	return err
}

func isExit(err error) bool {
	_, ok := errors.AsType[ExitError](err)
	return ok
}

// live starts the parts, fills the cluster, and keeps it running.
func (p plan) live(ctx context.Context, fleet *proc.Fleet, tokens identity.Tokens, progress progress) error {
	config, err := p.client()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(protobuf(config))
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if err := p.start(ctx, fleet, client, tokens[identity.Admin], progress); err != nil {
		return err
	}
	if err := p.fill(ctx, config, client, progress); err != nil {
		return err
	}
	return p.stay(ctx, config, progress)
}

// start starts the parts in the order of their dependencies.
func (p plan) start(
	ctx context.Context, fleet *proc.Fleet, client kubernetes.Interface, token string, progress progress,
) error {
	probe, err := newProber(p, token)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	launch := func(name string, args []string) {
		fleet.Start(ctx, proc.Spec{
			Name: name, Path: self, Args: args, Log: p.dir.log(name),
			Env: []string{"KWOK_WORKDIR=" + string(p.dir)}, // not the configuration in the home directory
		})
	}
	if err := p.writeCommands(self); err != nil {
		return err
	}
	launch(parts.Etcd, p.etcdArgs())
	if err := probe.wait(ctx, parts.Etcd, p.etcdServer()+"/health", patience); err != nil {
		return err
	}
	progress.step("etcd ready on %s", p.etcdServer())
	launch(parts.APIServer, p.apiServerArgs())
	if err := probe.wait(ctx, parts.APIServer, p.server()+"/readyz", patience); err != nil {
		return err
	}
	progress.step("kube-apiserver ready on %s", p.server())
	if err := seed.Release(ctx, client); err != nil {
		return err
	}
	if p.opts.Still {
		return nil
	}
	launch(parts.ControllerManager, p.controllerManagerArgs())
	launch(parts.Scheduler, p.schedulerArgs())
	launch(parts.Kubelet, p.kubeletArgs())
	for name, port := range map[string]int{
		parts.ControllerManager: p.ports.ControllerManager,
		parts.Scheduler:         p.ports.Scheduler,
		parts.Kubelet:           p.ports.Kubelet,
	} {
		if err := probe.wait(ctx, name, fmt.Sprintf("https://localhost:%d/healthz", port), patience); err != nil {
			return err
		}
	}
	progress.step("kube-controller-manager, kube-scheduler and kubelets (kwok) ready")
	return nil
}

// client returns the administrator's configuration. Its rate limits are higher than client-go's defaults, which are
// meant for one program among many.
func (p plan) client() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", p.dir.kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read own kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 1000, 2000
	config.UserAgent = "demo"
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// protobuf selects the encoding that is cheapest for client and server. Custom resources do not support it.
func protobuf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf",
		"application/vnd.kubernetes.protobuf,application/json"
	return config
}
