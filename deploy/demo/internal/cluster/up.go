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
	// grace is what a part gets to end by itself; the parts end one after the other, all within ten seconds.
	grace = 2 * time.Second
	// patience is what a part gets to become ready, on a slow machine with other things to do.
	patience = 2 * time.Minute
)

// Up brings the cluster up, runs what opts asks for, takes it down again, and returns when no process of it is left.
// An ended ctx is the usual way to say that it is enough; that is no error.
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
	defer locked.Close() //nolint:errcheck // the process ends with it

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
		return fallen // the reason for whatever else went wrong
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

// live does all that needs the processes to run.
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

// start brings the parts up, in the order in which they need each other.
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
			Env: []string{"KWOK_WORKDIR=" + string(p.dir)}, // not the configuration in somebody's home
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
		parts.ControllerManager: p.ports.ControllerManager, parts.Scheduler: p.ports.Scheduler,
		parts.Kubelet: p.ports.Kubelet,
	} {
		if err := probe.wait(ctx, name, fmt.Sprintf("https://localhost:%d/healthz", port), patience); err != nil {
			return err
		}
	}
	progress.step("kube-controller-manager, kube-scheduler and kubelets (kwok) ready")
	return nil
}

// client gives the administrator's connection, without the limits that are meant for one program among many.
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

// protobuf asks for the encoding that is cheapest at both ends. Custom resources do not have it.
func protobuf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	return config
}
