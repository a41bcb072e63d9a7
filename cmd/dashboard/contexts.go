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

// contexts are the contexts of the kubeconfig. One of them is shown at a time.
type contexts struct {
	kube *genericclioptions.ConfigFlags // The flags for the first cluster.
	open func(found) (*watch.Cluster, error)
	next chan opened
	log  *slog.Logger
}

// opened is a cluster that will be shown next. done is closed when it is shown.
type opened struct {
	web.Shown

	done chan struct{}
}

// pinned reports whether kubectl's flags specify more about the cluster or the identity than the context. Such flags
// are meant for one cluster, and users then cannot switch to another: a credential must not be sent there.
func pinned(flags *pflag.FlagSet) (found bool) {
	free := []string{"kubeconfig", "context", "namespace", "request-timeout", "cache-dir", "disable-compression"}
	flags.VisitAll(func(flag *pflag.Flag) {
		found = found || flag.Annotations[kubectls] != nil && flag.Changed && !slices.Contains(free, flag.Name)
	})
	return found
}

// offered returns the contexts between which users can switch. It returns nil if there is only one, for example in a
// pod.
func (c *contexts) offered() *web.Contexts {
	if all, err := c.list(); err != nil || len(all) < 2 {
		return nil
	}
	return &web.Contexts{List: c.list, Choose: c.choose}
}

// of returns the client configuration of a context. Flags such as --server and --token are left out, because they apply
// only to the cluster with which the program was started. An empty name selects the current context of the kubeconfig.
func (c *contexts) of(name string) *genericclioptions.ConfigFlags {
	kube := genericclioptions.NewConfigFlags(true)
	kube.KubeConfig, kube.Timeout, kube.DisableCompression = c.kube.KubeConfig, c.kube.Timeout,
		c.kube.DisableCompression
	*kube.Context = name
	return kube
}

// list reads the contexts from the kubeconfig again.
func (c *contexts) list() ([]web.Context, error) {
	raw, err := c.of("").ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	all := make([]web.Context, 0, len(raw.Contexts))
	for _, name := range slices.Sorted(maps.Keys(raw.Contexts)) {
		one := raw.Contexts[name]
		all = append(all, web.Context{Name: name, Cluster: one.Cluster, User: one.AuthInfo, Namespace: one.Namespace})
	}
	return all, nil
}

// choose switches to a context. It first checks that credentials for the API server are available. It does not check
// whether the API server responds.
func (c *contexts) choose(ctx context.Context, name string) error {
	found, err := clusterOf(c.of(name))
	if err != nil {
		return err
	}
	if err := credentials(ctx, found.config); err != nil {
		return err
	}
	cluster, err := c.open(found)
	if err != nil {
		return err
	}
	next := opened{shownOf(found, cluster), make(chan struct{})}
	select {
	case c.next <- next:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-next.done // run has received the cluster, and closes done without waiting for anything.
	return nil
}

// errNotAsked is the error with which credentials prevents a connection to the API server.
var errNotAsked = errors.New("no connection to the API server")

// credentials obtains the credentials for an API server, for example from a login command. It does not send a request.
func credentials(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errNotAsked }
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("set up the connection to the API server: %w", err)
	}
	asked := make(chan error, 1)
	// client-go waits for the command without a time limit, and ignores ctx. The goroutine ends when the command does.
	go func() { asked <- client.RESTClient().Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error() }()
	select {
	case err := <-asked:
		if errors.Is(err, errNotAsked) {
			return nil
		}
		return err
	case <-time.After(loginTimeout):
		return fmt.Errorf("the login command of the context has not ended within %s", loginTimeout)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shownOf returns the cluster with the details that pages show.
func shownOf(f found, cluster *watch.Cluster) web.Shown {
	return web.Shown{Cluster: cluster, Name: f.name, Server: f.config.Host, Namespace: f.namespace}
}

// run runs the active cluster until ctx ends, starting with the given one. It starts the next cluster before the
// previous one has ended, so that neither waits for the other.
func (c *contexts) run(ctx context.Context, cluster *watch.Cluster, server *web.Server) error {
	group, ctx := errgroup.WithContext(ctx)
	for {
		shown, end := context.WithCancel(ctx)
		run := cluster.Run // The method is bound now, because the goroutine may start only after cluster has changed.
		group.Go(func() error { return run(shown) })
		select {
		case <-ctx.Done():
			end()
			return group.Wait()
		case next := <-c.next:
			cluster = next.Cluster
			server.Show(next.Shown)
			close(next.done)
			end()
			c.log.InfoContext(ctx, "switched to another cluster", "cluster", next.Name, "server", next.Server)
		}
	}
}
