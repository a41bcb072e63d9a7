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

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/parts"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/proc"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/seed"
)

const (
	gracePeriod  = 2 * time.Second
	readyTimeout = 2 * time.Minute
)

// Up starts the cluster, runs the user's command or waits until ctx ends, and stops the cluster.
func Up(ctx context.Context, opts Options) (err error) {
	progress := progress{out: opts.Stdout, start: time.Now()}
	if len(opts.Command) > 0 {
		if _, err := exec.LookPath(opts.Command[0]); err != nil {
			return fmt.Errorf("find the command to run: %w", err)
		}
	}
	dataDir, err := openDir(opts.DataDir)
	if err != nil {
		return err
	}
	dirLock, err := lock(dataDir.lock(), string(dataDir))
	if err != nil {
		return err
	}
	defer dirLock.Close() //nolint:errcheck // the process ends after this

	plan, tokens, err := prepare(dataDir, opts)
	if err != nil {
		return err
	}
	group, groupCtx := proc.NewGroup(ctx, gracePeriod)
	defer func() {
		stopStart := time.Now()
		group.Stop()
		progress.step("stopped, in %.1f s", time.Since(stopStart).Seconds())
	}()
	err = plan.run(groupCtx, group, tokens, progress)
	if ended, ok := errors.AsType[*proc.EndedError](context.Cause(groupCtx)); ok {
		return ended
	}
	// If ctx was canceled, the cluster was stopped on request, which is not an error.
	if ctx.Err() != nil && !isExit(err) {
		return nil
	}
	return err
}

func isExit(err error) bool {
	_, ok := errors.AsType[ExitError](err)
	return ok
}

func (p plan) run(ctx context.Context, group *proc.Group, tokens identity.Tokens, progress progress) error {
	config, err := p.client()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(protobuf(config))
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	if err := p.start(ctx, group, client, tokens[identity.Admin], progress); err != nil {
		return err
	}
	if err := p.populate(ctx, config, client, progress); err != nil {
		return err
	}
	return p.keepRunning(ctx, config, progress)
}

func (p plan) start(
	ctx context.Context, group *proc.Group, client kubernetes.Interface, token string, progress progress,
) error {
	probe, err := newProber(p, token)
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the path of the executable: %w", err)
	}
	launch := func(name string, args []string) {
		group.Start(ctx, proc.Spec{
			Name: name, Path: executable, Args: args, Log: p.dir.log(name),
			Env: []string{"KWOK_WORKDIR=" + string(p.dir)}, // kwok would otherwise read files in the home directory
		})
	}
	if err := p.writeCommands(executable); err != nil {
		return err
	}
	launch(parts.Etcd, p.etcdArgs())
	if err := probe.wait(ctx, parts.Etcd, p.etcdServer()+"/health", readyTimeout); err != nil {
		return err
	}
	progress.step("etcd ready on %s", p.etcdServer())
	launch(parts.APIServer, p.apiServerArgs())
	if err := probe.wait(ctx, parts.APIServer, p.server()+"/readyz", readyTimeout); err != nil {
		return err
	}
	progress.step("kube-apiserver ready on %s", p.server())
	if err := seed.ReleaseNodes(ctx, client); err != nil {
		return err
	}
	if p.opts.ControlPlaneOnly {
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
		if err := probe.wait(ctx, name, fmt.Sprintf("https://localhost:%d/healthz", port), readyTimeout); err != nil {
			return err
		}
	}
	progress.step("kube-controller-manager, kube-scheduler and kubelets (kwok) ready")
	return nil
}

// client returns the configuration of a client. It raises the default rate limits of client-go: they are low, because
// they are meant for clusters with many clients.
func (p plan) client() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", p.dir.kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the demo: %w", err)
	}
	config.QPS, config.Burst = 1000, 2000
	config.UserAgent = "demo"
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// protobuf returns config with Protobuf, the cheapest encoding for the API server. Custom resources do not support it.
func protobuf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf",
		"application/vnd.kubernetes.protobuf,application/json"
	return config
}
