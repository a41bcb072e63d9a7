// Package watch is the cluster, live: which kinds of object it serves, which
// objects there are, and how each of them changes.
//
// A Cluster runs one informer for each resource and scope that somebody looks
// at: client-go's Reflector lists and watches it as Tables (package wire) into
// a journal (package journal), and every reader holds a cursor of that journal.
// Data goes one way, from the API server to the readers: it is asked for get,
// list and watch alone, and by access reviews, which it keeps nowhere, whether they
// are allowed; whose a token is by TokenReviews, kept nowhere either.
//
// Cluster.For is the only way to read, so that no reader can go round the check
// of what its viewer may see. Errors that are the asker's or the cluster's come
// as a *Problem.
//
// Everything here is safe for concurrent use but a Subscription, which belongs
// to one goroutine. Goroutines are those of Run, and have ended when it returns,
// and those for a log, which have ended when it is closed.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"glasshouse/internal/watch/redact"
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
	// Namespace is that of the kubeconfig's context; it may be empty. It is
	// watched where all namespaces together may not be.
	Namespace string
	// Always are the refs of resources that are watched whether somebody looks
	// or not.
	Always []string
	// MemoryLimit is what the whole program may take, in bytes, at least
	// MinMemory; 0 is no limit. What is watched may hold about half of it: what
	// would not fit is refused with its estimate; the past goes first, then what
	// nobody looks at.
	MemoryLimit int64
	// Redact says what is masked, beside what is so always, before it is kept.
	Redact redact.Rules
	Ring   Ring
	Log    *slog.Logger
}

// A Ring bounds the past that is kept of each resource, from which readers go
// on that were away.
type Ring struct {
	Bytes int           // 0 is 64 MiB; an eighth of what may be held at most.
	Age   time.Duration // 0 is 5 minutes.
}

const (
	ringBytes = 64 << 20
	ringAge   = 5 * time.Minute
)

// A Cluster is a live view of one Kubernetes cluster.
type Cluster struct {
	client  *wire.Client
	reviews *reviewer
	tokens  authentication.TokenReviewInterface
	timeout time.Duration
	home    string
	always  []string
	ring    Ring
	catalog *catalog
	pool    *pool
	log     *slog.Logger
	cursors cursorKey
	changed *signal   // Another list of resources, or another state of one.
	paper   sync.Pool // Of the texts of messages.
	recent  recent
	rules   rules

	guard    guard
	existing answers[string, error]   // Whether namespaces exist.
	spaces   atomic.Pointer[[]string] // The namespaces, as they were known last. Not to be written to.
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
	reviewConfig := rest.CopyConfig(config)
	reviewConfig.ContentConfig = rest.ContentConfig{ContentType: runtime.ContentTypeJSON} // What every proxy and log on the way can read.
	reviewConfig.QPS = -1                                                                 // The server's priority and fairness counts.
	authorizer, err := authorization.NewForConfig(reviewConfig)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the API server: %w", err)
	}
	authenticator, err := authentication.NewForConfig(reviewConfig)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the API server: %w", err)
	}
	budget := budgetOf(options.MemoryLimit)
	ring := Ring{Bytes: cmp.Or(options.Ring.Bytes, ringBytes), Age: cmp.Or(options.Ring.Age, ringAge)}
	c := &Cluster{
		client: wire.NewClient(config, options.Redact), reviews: newReviewer(authorizer), tokens: authenticator.TokenReviews(),
		timeout: timeout, home: options.Namespace, always: options.Always, log: options.Log, cursors: newCursorKey(), changed: newSignal(),
		ring: ring.within(budget), rules: rules{Rules: options.Redact},
		guard: newGuard(authorizer.SubjectAccessReviews()), existing: answers[string, error]{most: maxRemembered, long: rememberedFor},
	}
	c.pool = newPool(options.Linger, budget, c.newInformer)
	c.catalog = newCatalog(discoverer, config.Host, c.discovered, options.Log)
	return c, nil
}

// Run keeps the Cluster live until ctx ends, and returns when all of it has
// ended. An API server that is down is waited for.
func (c *Cluster) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { c.catalog.run(ctx) })
	running.Go(func() { c.pool.run(ctx) })
	for _, ref := range c.always {
		running.Go(func() { c.hold(ctx, ref) })
	}
	running.Wait()
	return nil
}

func (c *Cluster) newInformer(scope wire.Scope, resource *Resource) *informer {
	around := surroundings{
		client: c.client, reviews: c.reviews, pool: c.pool, ring: c.ring, home: c.home, log: c.log,
		printed:    func(ctx context.Context) printed { return c.printedColumns(ctx, resource) },
		masked:     scope.Shared || c.rules.Any(resource.Group, resource.Resource),
		served:     func(ctx context.Context) definition { return c.served(ctx, scope) },
		stir:       c.catalog.stir,
		namespaces: c.namespaces,
		changed:    c.changed.raise,
		noted:      func() {},
	}
	if scope.Metadata {
		around.noted = c.catalog.stir
	}
	return newInformer(scope, resource, around)
}

// discovered is told that the cluster serves other resources.
func (c *Cluster) discovered() {
	c.warnOfRules()
	c.pool.kick()
	c.changed.raise()
}

// get reads one object from the API server.
func (c *Cluster) get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.client.Get(ctx, resource, namespace, name)
}

// problemOf tells an API server's refusal as a Problem.
func problemOf(err error, what string) error {
	p := &Problem{
		Cause: Unavailable, Title: "The API server does not answer", Detail: fmt.Sprintf("%s: %s", what, reasonOf(err)),
		Brief: what + " cannot be had now.",
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsForbidden(err):
		p.Cause, p.Title, p.Brief = Refused, "Forbidden", what+" may not be read by this program."
	case apierrors.IsUnauthorized(err):
		p.Title = "Not accepted by the API server"
	case apierrors.IsNotFound(err):
		p.Cause, p.Title, p.Brief = Unknown, "Not found", what+" is not there."
	}
	return p
}
