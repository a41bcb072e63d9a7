// Package watch is the cluster, live: which kinds of object it serves, which
// objects there are, and how each of them changes.
//
// A Cluster runs one informer for each resource and scope that somebody looks
// at: client-go's Reflector lists and watches it as Tables (package wire) into
// a journal (package journal), and every reader holds a cursor of that journal.
// Data goes one way, from the API server to the readers; nothing but get, list
// and watch is ever asked of it.
//
// Cluster.For is the only way to read, so that no reader can go round the check
// of what its viewer may see. Errors that are the asker's or the cluster's come
// as a *Problem.
//
// Everything here is safe for concurrent use but a Subscription, which belongs
// to one goroutine. Goroutines are those of Run, and have ended when it returns.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"glasshouse/internal/watch/wire"
)

// discoveryTimeout bounds one request of discovery where Options say nothing.
const discoveryTimeout = 30 * time.Second

// Options are the settings of a Cluster.
type Options struct {
	// Linger is how long a resource stays watched after its last reader.
	Linger time.Duration
	// RequestTimeout bounds requests that are answered at once (discovery, one
	// object). It never bounds lists and watches. 0 is 30 s.
	RequestTimeout time.Duration
	Log            *slog.Logger
}

// A Cluster is a live view of one Kubernetes cluster.
type Cluster struct {
	client  *wire.Client
	timeout time.Duration
	catalog *catalog
	pool    *pool
	log     *slog.Logger
	cursors cursorKey
	paper   sync.Pool // Of the texts of messages.
}

// New makes a Cluster of the API server that config names. Nothing is asked of
// it before Run.
func New(config *rest.Config, options Options) (*Cluster, error) {
	timeout := options.RequestTimeout
	if timeout == 0 {
		timeout = discoveryTimeout
	}
	discoveryConfig := rest.CopyConfig(config)
	discoveryConfig.Timeout = timeout
	discoveryConfig.QPS, discoveryConfig.Burst = 50, 300 // kubectl's own.
	discoverer, err := discovery.NewDiscoveryClientForConfig(discoveryConfig)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the API server: %w", err)
	}
	c := &Cluster{
		client: wire.NewClient(config), timeout: timeout, log: options.Log, cursors: newCursorKey(),
		catalog: newCatalog(discoverer, config.Host, options.Log),
	}
	c.pool = newPool(options.Linger, c.newInformer)
	return c, nil
}

// Run keeps the Cluster live until ctx ends, and returns when all of it has
// ended. An API server that is down is waited for.
func (c *Cluster) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { c.catalog.run(ctx) })
	running.Go(func() { c.pool.run(ctx) })
	running.Wait()
	return nil
}

func (c *Cluster) newInformer(scope wire.Scope, resource *Resource) *informer {
	dates := func(ctx context.Context) map[string]string { return c.dateColumns(ctx, resource) }
	return newInformer(c.client, scope, dates, !resource.Can("watch"), c.log)
}

// get reads one object from the API server.
func (c *Cluster) get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.client.Get(ctx, resource, namespace, name)
}

// problemOf tells an API server's refusal as a Problem.
func problemOf(err error, what string) error {
	p := &Problem{Cause: Unavailable, Title: "The API server does not answer", Detail: fmt.Sprintf("%s: %s", what, reasonOf(err))}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		p.Cause, p.Title = Refused, "Forbidden"
	case apierrors.IsNotFound(err):
		p.Cause, p.Title = Unknown, "Not found"
	}
	return p
}
