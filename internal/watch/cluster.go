// Package watch keeps a live view of a Kubernetes cluster: its resources, their objects, and each change.
//
// A Cluster runs one informer for each resource that has readers. Each reader has its own position in the journal of
// changes. Readers get data only through Cluster.For, which checks permissions.
//
// Everything is safe for concurrent use, except a Subscription and a Follower.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"glasshouse/internal/flight"
	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/catalog"
	"glasshouse/internal/watch/cursor"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/informer/budget"
	"glasshouse/internal/watch/informer/pool"
	"glasshouse/internal/watch/informer/reconcile"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"
	"glasshouse/internal/watch/stream"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/redact"
)

// discoveryTimeout is the default of Options.RequestTimeout.
const discoveryTimeout = 30 * time.Second

// Options are the settings of a Cluster.
type Options struct {
	// Linger is how long a resource stays watched after its last reader has left.
	Linger time.Duration
	// RequestTimeout limits requests that get an immediate response, never lists and watches. 0 means 30 s.
	RequestTimeout time.Duration
	// Namespace is the kubeconfig's namespace, or empty. The program watches it if it may not watch all namespaces
	// together.
	Namespace string
	// Pinned lists resources, such as "core/v1/pods", that are watched even without readers.
	Pinned []string
	// MemoryLimit is the program's maximum memory in bytes, about half for objects: at least MinMemory, or 0 for no
	// limit.
	MemoryLimit int64
	// Redact contains rules for values that are masked before they are cached, in addition to values that are always
	// masked.
	Redact redact.Rules
	Ring   informer.Ring
	Log    *slog.Logger
}

// A Cluster is a live view of one Kubernetes cluster.
type Cluster struct {
	client           *listwatch.Client
	reviews          *authz.Reviewer
	tokens           authentication.TokenReviewInterface
	timeout          time.Duration
	defaultNamespace string
	pinned           []string
	ring             informer.Ring
	catalog          *catalog.Catalog
	pool             *pool.Pool
	log              *slog.Logger
	cursors          cursor.Key
	// changed wakes waiters after a change of the list of resources, or of a resource's state.
	changed        *signal.Signal
	buffers        sync.Pool
	encodedCache   event.Cache
	redactionRules redactionRules

	guard authz.Guard
	// namespaceExistence caches for each namespace whether it exists. The value is an error if it does not.
	namespaceExistence *flight.Cache[string, error]
	lastNamespaces     atomic.Pointer[[]string] // The newest list; nil before the first one. Read-only.
}

// New returns a Cluster for the API server in config. It sends no request, and fails if config is invalid.
func New(config *rest.Config, options Options) (*Cluster, error) {
	timeout := options.RequestTimeout
	if timeout == 0 {
		timeout = discoveryTimeout
	}
	discoveryConfig := rest.CopyConfig(config)
	discoveryConfig.Timeout = timeout
	discoveryConfig.QPS, discoveryConfig.Burst = 50, 300 // The same limits as those of kubectl.
	discoverer, err := discovery.NewDiscoveryClientForConfig(discoveryConfig)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the API server: %w", err)
	}
	reviewConfig := rest.CopyConfig(config)
	// Send reviews as JSON instead of Protobuf, so that proxies in front of the API server can read them.
	reviewConfig.ContentConfig = rest.ContentConfig{ContentType: runtime.ContentTypeJSON}
	// Disable the client's rate limit, because the API server itself limits reviews (API Priority and Fairness).
	reviewConfig.QPS = -1
	authorizer, err := authorization.NewForConfig(reviewConfig)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the API server: %w", err)
	}
	authenticator, err := authentication.NewForConfig(reviewConfig)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the API server: %w", err)
	}
	limit := budget.Of(options.MemoryLimit)
	c := &Cluster{
		client: listwatch.NewClient(config, options.Redact), reviews: authz.NewReviewer(authorizer),
		tokens:  authenticator.TokenReviews(),
		timeout: timeout, defaultNamespace: options.Namespace, pinned: options.Pinned,
		log: options.Log, cursors: cursor.NewKey(), changed: signal.New(),
		ring: options.Ring.LimitedTo(limit), redactionRules: redactionRules{Rules: options.Redact},
		guard:              authz.NewGuard(authorizer.SubjectAccessReviews()),
		namespaceExistence: flight.New[string, error](maxCachedNamespaces, existenceMaxAge),
	}
	c.pool = pool.New(options.Linger, limit, c.newInformer)
	c.catalog = catalog.New(discoverer, config.Host, c.onDiscovery, options.Log)
	return c, nil
}

// Run keeps the data of the Cluster up to date until ctx ends. The error is always nil.
func (c *Cluster) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { c.catalog.Run(ctx) })
	running.Go(func() { c.pool.Run(ctx) })
	for _, ref := range c.pinned {
		running.Go(func() { c.keepWatched(ctx, ref) })
	}
	running.Wait()
	return nil
}

func (c *Cluster) newInformer(
	scope listwatch.Scope, resource *resource.Resource,
) (i *informer.Informer, run func(context.Context)) {
	deps := informer.Options{
		Client: c.client, Budget: c.pool.Budget, Ring: c.ring, Log: c.log,
		PrinterColumns: func(ctx context.Context) listwatch.PrinterColumns { return c.readPrinterColumns(ctx, resource) },
		Masked:         scope.GuestMasked || c.redactionRules.AppliesTo(resource.Group, resource.Resource),
		StateChanged:   c.changed.Broadcast,
		ObjectChanged:  func() {},
	}
	if scope.Metadata {
		deps.ObjectChanged = c.catalog.RefreshSoon
	}
	i = informer.New(scope, deps)
	stream.NewSharedInformer(i)
	return i, reconcile.New(i, resource, reconcile.Options{
		Client: c.client, Reviews: c.reviews, Linger: c.pool.Linger, DefaultNamespace: c.defaultNamespace,
		Served:      func(ctx context.Context) reconcile.Definition { return c.served(ctx, scope) },
		RefreshSoon: c.catalog.RefreshSoon,
		Namespaces:  c.namespaces,
	}).Run
}

func (c *Cluster) onDiscovery() {
	c.warnOfUnservedRules()
	c.pool.RequestReconcile()
	c.changed.Broadcast()
}

func (c *Cluster) get(
	ctx context.Context, resource schema.GroupVersionResource, namespace, name string,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.client.Get(ctx, resource, namespace, name)
}

// problemOf converts an API server's error about the object into a *status.Problem. It returns context.Canceled
// unchanged.
func problemOf(err error, object string) error {
	p := &status.Problem{
		Cause: status.Unavailable, Title: "The API server does not answer",
		Detail:       fmt.Sprintf("%s: %s", object, status.ReasonOf(err)),
		PublicDetail: object + " cannot be read now.",
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsForbidden(err):
		p.Cause, p.Title, p.PublicDetail = status.Refused, "Forbidden", "This program is not allowed to read "+object+"."
	case apierrors.IsUnauthorized(err):
		p.Title = "API server rejected the credentials"
	case apierrors.IsNotFound(err):
		p.Cause, p.Title, p.PublicDetail = status.Unknown, "Not found", object+" does not exist."
	}
	return p
}
