package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"glasshouse/internal/watch"
	"glasshouse/internal/web"
)

// loginTimeout is the time limit for the login command of a context.
const loginTimeout = 30 * time.Second

// contextSwitcher are the contexts of the kubeconfig. One of them is shown at a time.
type contextSwitcher struct {
	kube *genericclioptions.ConfigFlags // The flags for the first cluster.
	open func(clusterTarget) (*watch.Cluster, error)
	next chan nextCluster
	log  *slog.Logger
}

// nextCluster is a cluster that will be shown next. done is closed when it is shown.
type nextCluster struct {
	web.ClusterInfo

	done chan struct{}
}

// hasClusterFlags reports whether kubectl's flags specify more about the cluster or the identity than the context. Such
// flags are meant for one cluster, and users then cannot switch to another: a credential must not be sent there.
func hasClusterFlags(flags *pflag.FlagSet) (hasOther bool) {
	allowed := []string{"kubeconfig", "context", "namespace", "request-timeout", "cache-dir", "disable-compression"}
	flags.VisitAll(func(flag *pflag.Flag) {
		hasOther = hasOther ||
			flag.Annotations[kubectlAnnotation] != nil && flag.Changed && !slices.Contains(allowed, flag.Name)
	})
	return hasOther
}

// switchable returns the contexts between which users can switch. It returns nil if there is only one, for example in a
// pod.
func (c *contextSwitcher) switchable() *web.Contexts {
	if all, err := c.listContexts(); err != nil || len(all) < 2 {
		return nil
	}
	return &web.Contexts{List: c.listContexts, Switch: c.switchTo}
}

// configFor returns the client configuration of a context. Flags such as --server and --token are left out, because
// they apply only to the cluster with which the program was started. An empty name selects the current context of the
// kubeconfig.
func (c *contextSwitcher) configFor(name string) *genericclioptions.ConfigFlags {
	kube := genericclioptions.NewConfigFlags(true)
	kube.KubeConfig, kube.Timeout, kube.DisableCompression = c.kube.KubeConfig, c.kube.Timeout,
		c.kube.DisableCompression
	*kube.Context = name
	return kube
}

// listContexts reads the contexts from the kubeconfig again.
func (c *contextSwitcher) listContexts() ([]web.Context, error) {
	raw, err := c.configFor("").ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	all := make([]web.Context, 0, len(raw.Contexts))
	for _, name := range slices.Sorted(maps.Keys(raw.Contexts)) {
		kubeContext := raw.Contexts[name]
		all = append(all, web.Context{
			Name: name, Cluster: kubeContext.Cluster, User: kubeContext.AuthInfo, Namespace: kubeContext.Namespace,
		})
	}
	return all, nil
}

// switchTo switches to a context. It first checks that credentials for the API server are available. It does not check
// whether the API server responds.
func (c *contextSwitcher) switchTo(ctx context.Context, name string) error {
	target, err := findCluster(c.configFor(name))
	if err != nil {
		return err
	}
	if err := credentials(ctx, target.config); err != nil {
		return err
	}
	cluster, err := c.open(target)
	if err != nil {
		return err
	}
	next := nextCluster{clusterInfo(target, cluster), make(chan struct{})}
	select {
	case c.next <- next:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-next.done // run has received the cluster, and closes done without waiting for anything.
	return nil
}

// errNotSent is the error with which credentials prevents a connection to the API server.
var errNotSent = errors.New("no connection to the API server")

// credentials obtains the credentials for an API server, for example from a login command. It does not send a request.
func credentials(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errNotSent }
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("set up the connection to the API server: %w", err)
	}
	result := make(chan error, 1)
	// client-go waits for the command without a time limit, and ignores ctx. The goroutine ends when the command does.
	go func() { result <- client.RESTClient().Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error() }()
	select {
	case err := <-result:
		if errors.Is(err, errNotSent) {
			return nil
		}
		return err
	case <-time.After(loginTimeout):
		return fmt.Errorf("the login command of the context has not ended within %s", loginTimeout)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clusterInfo returns the cluster with the details that pages show.
func clusterInfo(f clusterTarget, cluster *watch.Cluster) web.ClusterInfo {
	return web.ClusterInfo{Cluster: cluster, Name: f.name, Server: f.config.Host, Namespace: f.namespace}
}

// run runs the active cluster until ctx ends, starting with the given one. It starts the next cluster before the
// previous one has ended, so that neither waits for the other.
func (c *contextSwitcher) run(ctx context.Context, cluster *watch.Cluster, server *web.Server) error {
	group, ctx := errgroup.WithContext(ctx)
	for {
		clusterCtx, end := context.WithCancel(ctx)
		run := cluster.Run // The method is bound now, because the goroutine may start only after cluster has changed.
		group.Go(func() error { return run(clusterCtx) })
		select {
		case <-ctx.Done():
			end()
			return group.Wait()
		case next := <-c.next:
			cluster = next.Cluster
			server.SwitchCluster(next.ClusterInfo)
			close(next.done)
			end()
			c.log.InfoContext(ctx, "switched to another cluster", "cluster", next.Name, "server", next.Server)
		}
	}
}
