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

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

const loginTimeout = 30 * time.Second

// contextSwitcher switches between the contexts of the kubeconfig. One context is shown at a time.
type contextSwitcher struct {
	kube *genericclioptions.ConfigFlags
	open func(clusterTarget) (*watch.Cluster, error)
	next chan nextCluster
	log  *slog.Logger
}

type nextCluster struct {
	request.ClusterInfo

	done chan struct{}
}

// hasClusterFlags reports whether a flag is set that describes the cluster or the credentials, such as --token. If so,
// users cannot switch contexts, because another cluster must not get these credentials.
func hasClusterFlags(flags *pflag.FlagSet) (hasOther bool) {
	allowed := []string{"kubeconfig", "context", "namespace", "request-timeout", "cache-dir", "disable-compression"}
	flags.VisitAll(func(flag *pflag.Flag) {
		hasOther = hasOther ||
			flag.Annotations[kubectlAnnotation] != nil && flag.Changed && !slices.Contains(allowed, flag.Name)
	})
	return hasOther
}

// switchable returns the contexts that users can select, or nil for fewer than two (for example, without a kubeconfig).
func (c *contextSwitcher) switchable() *request.Contexts {
	if all, err := c.listContexts(); err != nil || len(all) < 2 {
		return nil
	}
	return &request.Contexts{List: c.listContexts, Switch: c.switchTo}
}

// configFor returns the kubectl flags for a context, without --server and without credentials such as --token, because
// these are for only one cluster. An empty name selects the current context.
func (c *contextSwitcher) configFor(name string) *genericclioptions.ConfigFlags {
	kube := genericclioptions.NewConfigFlags(true)
	kube.KubeConfig, kube.Timeout, kube.DisableCompression = c.kube.KubeConfig, c.kube.Timeout,
		c.kube.DisableCompression
	*kube.Context = name
	return kube
}

func (c *contextSwitcher) listContexts() ([]request.Context, error) {
	raw, err := c.configFor("").ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	all := make([]request.Context, 0, len(raw.Contexts))
	for _, name := range slices.Sorted(maps.Keys(raw.Contexts)) {
		kubeContext := raw.Contexts[name]
		all = append(all, request.Context{
			Name: name, Cluster: kubeContext.Cluster, User: kubeContext.AuthInfo, Namespace: kubeContext.Namespace,
		})
	}
	return all, nil
}

// switchTo switches to a context. It checks that credentials are available, but not whether the API server responds.
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
	<-next.done
	return nil
}

// errNotSent is the error that the dialer in the function credentials always returns. client-go connects only after it
// has obtained the credentials, so this error proves that they are available.
var errNotSent = errors.New("the credentials are available, so no connection is needed")

// credentials checks that client-go can obtain the credentials in config, for example from a login command. It sends no
// request.
func credentials(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errNotSent }
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("set up the connection to the API server: %w", err)
	}
	result := make(chan error, 1)
	// Use a goroutine, because client-go waits for the login command without a time limit, and ignores ctx.
	go func() { result <- client.RESTClient().Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error() }()
	select {
	case err := <-result:
		if errors.Is(err, errNotSent) {
			return nil
		}
		return err
	case <-time.After(loginTimeout):
		return fmt.Errorf("the context provided no credentials within %s. Its login command might still be running",
			loginTimeout)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func clusterInfo(f clusterTarget, cluster *watch.Cluster) request.ClusterInfo {
	return request.ClusterInfo{Cluster: cluster, Name: f.name, Server: f.config.Host, Namespace: f.namespace}
}

// run keeps the active cluster running until ctx ends. After a switch, it cancels the previous cluster, and runs the
// next one at once. It does not wait for the end of the previous one, because pages would have to wait, too.
func (c *contextSwitcher) run(ctx context.Context, cluster *watch.Cluster, server *web.Server) error {
	group, ctx := errgroup.WithContext(ctx)
	for {
		clusterCtx, end := context.WithCancel(ctx)
		run := cluster.Run // a copy, because a switch changes the variable cluster
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
			c.log.InfoContext(ctx, "switched to another context", "cluster", next.Name, "server", next.Server)
		}
	}
}
