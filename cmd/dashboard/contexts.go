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

// loginTimeout is how long the command may take by which a context logs in.
const loginTimeout = 30 * time.Second

// contexts are those of the kubeconfig, of which one is shown at a time.
type contexts struct {
	kube *genericclioptions.ConfigFlags // By which the first was found.
	open func(found) (*watch.Cluster, error)
	next chan opened
	log  *slog.Logger
}

// opened is a cluster that is to be shown; done is closed when it is.
type opened struct {
	web.Shown

	done chan struct{}
}

// pinned reports whether a flag says more of the cluster, or of who asks it, than
// which context they are of: that is meant for one cluster, and a credential for
// nobody else.
func pinned(flags *pflag.FlagSet) (found bool) {
	free := []string{"kubeconfig", "context", "namespace", "request-timeout", "cache-dir", "disable-compression"}
	flags.VisitAll(func(flag *pflag.Flag) {
		found = found || flag.Annotations[kubectls] != nil && flag.Changed && !slices.Contains(free, flag.Name)
	})
	return found
}

// offered are the contexts as the pages have them; nil where there are not
// several, as in a pod.
func (c *contexts) offered() *web.Contexts {
	if all, err := c.list(); err != nil || len(all) < 2 {
		return nil
	}
	return &web.Contexts{List: c.list, Choose: c.choose}
}

// of is how kubectl is asked for a context, with none of what flags say of the
// first; "" is the kubeconfig's own choice.
func (c *contexts) of(name string) *genericclioptions.ConfigFlags {
	kube := genericclioptions.NewConfigFlags(true)
	kube.KubeConfig, kube.Timeout, kube.DisableCompression = c.kube.KubeConfig, c.kube.Timeout,
		c.kube.DisableCompression
	*kube.Context = name
	return kube
}

// list reads the kubeconfig anew.
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

// choose has a context shown: once it is known that there is something to ask its
// API server with, whether that answers or not.
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
	<-next.done // run has taken it, and does not wait for anything.
	return nil
}

// errNotAsked is of a connection that is not wanted.
var errNotAsked = errors.New("the API server is not asked")

// credentials finds out what a request would have with it, as by the command that
// logs in, without one being sent.
func credentials(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errNotAsked }
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("set up the connection to the API server: %w", err)
	}
	asked := make(chan error, 1)
	// client-go waits for the command, however long it takes, and for no context:
	// this ends when that does.
	go func() { asked <- client.RESTClient().Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error() }()
	select {
	case err := <-asked:
		if errors.Is(err, errNotAsked) {
			return nil
		}
		return err
	case <-time.After(loginTimeout):
		return fmt.Errorf("the command by which the context logs in has not ended in %s", loginTimeout)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shownOf is a cluster as the pages are to know it.
func shownOf(f found, cluster *watch.Cluster) web.Shown {
	return web.Shown{Cluster: cluster, Name: f.name, Server: f.config.Host, Namespace: f.namespace}
}

// run keeps live what is shown, at first the cluster that is given, until ctx ends.
// The one before ends beside the next, so that none waits for another's.
func (c *contexts) run(ctx context.Context, cluster *watch.Cluster, server *web.Server) error {
	group, ctx := errgroup.WithContext(ctx)
	for {
		shown, end := context.WithCancel(ctx)
		run := cluster.Run // Of this one, also where it begins only when the next is shown.
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
			c.log.InfoContext(ctx, "shows another cluster", "cluster", next.Name, "server", next.Server)
		}
	}
}
