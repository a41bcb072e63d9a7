// Package watch keeps a live view of a Kubernetes cluster: its resources, their objects, and each change.
//
// A Cluster runs one informer for each resource that has readers. Each reader has its own position in the journal of
// changes. Readers get data only through Cluster.For, which checks permissions.
//
// Everything is safe for concurrent use, except a Subscription, a ChangeReader and a Follower.
package watch

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/catalog"
	"github.com/glasshouse-project/glasshouse/internal/watch/cursor"
	"github.com/glasshouse-project/glasshouse/internal/watch/definitions"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/pool"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/reconcile"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/namespaces"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// discoveryTimeout is the default of Options.RequestTimeout.
const discoveryTimeout = 30 * time.Second

// Options are the settings of a Cluster.
type Options struct {
	// Linger is how long a resource is still watched after its last reader has closed.
	Linger time.Duration
	// RequestTimeout limits the duration of requests that get an immediate response, but not of lists and watches. 0
	// means 30 s.
	RequestTimeout time.Duration
	// Namespace is the namespace of the kubeconfig's context, or empty. If the program is not permitted to watch all
	// namespaces together, it tries to watch this one.
	Namespace string
	// Pinned contains the resources, such as "core/v1/pods", that are watched even if they have no readers.
	Pinned []string
	// MemoryLimit is the maximum memory of the program, in bytes: at least MinMemory, or 0 for no limit. The watched
	// objects get about half of it.
	MemoryLimit int64
	// Redact selects values that are masked before objects are cached, in addition to values that are always masked, such
	// as those of Secrets.
	Redact redact.Rules
	// Health determines the health of objects. If it is nil, the Cluster creates an Evaluator without rules of the
	// administrator.
	Health *health.Evaluator
	// InheritVerdicts makes objects inherit the problems of related objects: for example, a Deployment inherits those of
	// its pods. While a resource that can inherit (such as Deployments) has readers, the Cluster also watches the related
	// resources (such as pods).
	InheritVerdicts bool
	Ring            informer.Ring
	Log             *slog.Logger
}

// A Cluster is a live view of one Kubernetes cluster.
type Cluster struct {
	client           *listwatch.Client
	health           *health.Evaluator
	reviews          *authz.Reviewer
	tokens           authentication.TokenReviewInterface
	timeout          time.Duration
	defaultNamespace string
	pinned           []string
	ring             informer.Ring
	catalog          *catalog.Catalog
	pool             *pool.Pool
	log              *slog.Logger
	definitions      *definitions.Definitions
	encodedCache     event.Cache
	redactionRules   redactionRules
	verdicts         *inherit.Engine
	lastChanges      *overview.LastChanges

	permit     permit.Deps
	opened     opened.Deps
	namespaces *namespaces.Namespaces
}

// New returns a Cluster for the API server in config. New itself sends no request. It fails if config is invalid.
func New(config *rest.Config, options Options) (*Cluster, error) {
	timeout := options.RequestTimeout
	if timeout == 0 {
		timeout = discoveryTimeout
	}
	discoveryConfig := rest.CopyConfig(config)
	discoveryConfig.Timeout = timeout
	discoveryConfig.QPS, discoveryConfig.Burst = 50, 300 // kubectl has the same limits.
	discoverer, err := discovery.NewDiscoveryClientForConfig(discoveryConfig)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to the API server: %w", err)
	}
	reviewConfig := rest.CopyConfig(config)
	// Send access and token reviews as JSON instead of Protobuf, so that proxies in front of the API server can read
	// them.
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
	if options.Health == nil {
		options.Health = new(health.Evaluator)
	}
	limit := budget.Of(options.MemoryLimit)
	c := &Cluster{
		client:  listwatch.NewClient(config, listwatch.ClientOptions{Redact: options.Redact, Health: options.Health}),
		reviews: authz.NewReviewer(authorizer), health: options.Health, encodedCache: event.Cache{Health: options.Health},
		tokens:  authenticator.TokenReviews(),
		timeout: timeout, defaultNamespace: options.Namespace, pinned: options.Pinned,
		log: options.Log, ring: options.Ring.LimitedTo(limit), redactionRules: redactionRules{Rules: options.Redact},
	}
	c.pool = pool.New(options.Linger, limit, c.newInformer)
	c.catalog = catalog.New(discoverer, config.Host, c.onDiscovery, options.Log)
	c.lastChanges = overview.NewLastChanges(c.catalog.Find, c.client)
	c.definitions = &definitions.Definitions{Catalog: c.catalog, Pool: c.pool, Changed: signal.New()}
	c.verdicts = inherit.New(inherit.Options{
		Pool: c.pool, Discovered: c.definitions.Changed, Linger: options.Linger,
		Resources: c.catalog.Groups,
	})
	c.namespaces = namespaces.New(c.pool, options.Namespace, func(ctx context.Context, namespace string) error {
		_, err := c.get(ctx, resource.Namespaces().GVR(), "", namespace)
		return err
	})
	c.permit = permit.Deps{
		Guard: authz.NewGuard(authorizer.SubjectAccessReviews()), Reviews: c.reviews, Redact: options.Redact,
		Find: c.catalog.Find, Namespaces: c.namespaces.Known, InheritsVerdicts: options.InheritVerdicts,
		Forbidden: permit.NewForbiddenCache(),
	}
	c.opened = opened.Deps{
		Pool: c.pool, Namespaces: c.namespaces, Cursors: cursor.NewKey(), Cache: &c.encodedCache,
	}
	if options.InheritVerdicts {
		c.opened.Verdicts = c.verdicts
	}
	return c, nil
}

// Run keeps the data of the Cluster up to date until ctx ends. The error is always nil.
func (c *Cluster) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { c.catalog.Run(ctx) })
	running.Go(func() { c.pool.Run(ctx) })
	running.Go(func() { c.verdicts.Run(ctx) })
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
		PrinterColumns: func(ctx context.Context) printer.CRDColumns { return c.readPrinterColumns(ctx, resource) },
		Masked:         scope.GuestMasked || c.redactionRules.AppliesTo(resource.Group, resource.Resource),
		StateChanged:   c.definitions.Changed.Broadcast,
		ObjectChanged:  func() {},
		Inherited: func(key string) *verdict.Verdict {
			return c.verdicts.Inherited(graph.Kind{Group: resource.Group, Kind: resource.Kind}, key)
		},
	}
	if slices.Contains(definitions.Scopes(), scope) {
		deps.ObjectChanged = c.catalog.RefreshSoon
	}
	i = informer.New(scope, deps)
	shared.Extend(i)
	return i, reconcile.New(i, resource, reconcile.Options{
		Client: c.client, Reviews: c.reviews, Linger: c.pool.Linger, DefaultNamespace: c.defaultNamespace,
		Served:      func(ctx context.Context) reconcile.Definition { return c.definitions.Served(ctx, scope) },
		RefreshSoon: c.catalog.RefreshSoon,
		Namespaces:  c.namespaces.List,
	}).Run
}

func (c *Cluster) onDiscovery() {
	c.warnOfUnservedRules()
	c.pool.RequestReconcile()
	c.definitions.Changed.Broadcast()
}

func (c *Cluster) get(
	ctx context.Context, resource schema.GroupVersionResource, namespace, name string,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.client.Get(ctx, resource, namespace, name)
}

func (c *Cluster) readPrinterColumns(ctx context.Context, resource *resource.Resource) printer.CRDColumns {
	if resource.Group == "" {
		return printer.CRDColumns{}
	}
	text, err := c.get(ctx, definitions.Scopes()[0].Resource, "", resource.Resource+"."+resource.Group)
	if err != nil {
		return printer.CRDColumns{}
	}
	return printer.ParseCRD(text, resource.Version)
}

// ReviewToken returns the user of a token (see authz.ReviewToken).
func (c *Cluster) ReviewToken(ctx context.Context, token string, audiences []string) (*authz.User, error) {
	return authz.ReviewToken(ctx, c.tokens, token, audiences)
}

func (c *Cluster) find(scope listwatch.Scope) *shared.Informer {
	return c.opened.Find(scope)
}

func (c *Cluster) sharedInformers() []*shared.Informer {
	all := c.pool.Informers()
	informers := make([]*shared.Informer, len(all))
	for n, i := range all {
		informers[n] = shared.Of(i)
	}
	return informers
}

func resourcesOf(informers []*shared.Informer) []*resource.Resource {
	resources := make([]*resource.Resource, len(informers))
	for n, i := range informers {
		resources[n] = i.Resource()
	}
	return resources
}

// pinnedFirstRetry and pinnedLastRetry are the minimum and maximum time between attempts to watch a pinned resource.
const (
	pinnedFirstRetry = 2 * time.Second
	pinnedLastRetry  = 30 * time.Second
)

// keepWatched watches a pinned resource (--watch) until ctx ends. If the cluster does not serve the resource yet,
// keepWatched waits for it.
func (c *Cluster) keepWatched(ctx context.Context, ref string) {
	var loggedError string
	for wait := pinnedFirstRetry; ctx.Err() == nil; wait = min(2*wait, pinnedLastRetry) {
		access, all := c.For(Viewer{Program: true}), &query.Query{Resource: ref}
		open, err := access.opener().Open(ctx, all, authz.VerbList, authz.TTLRequest())
		if err == nil {
			<-ctx.Done()
			open.Release()
			return
		}
		if loggedError != err.Error() && ctx.Err() == nil {
			loggedError = err.Error()
			c.log.WarnContext(ctx, "cannot watch the resource yet; retrying", "resource", ref, "error", err)
		}
		release, err := c.definitions.Watch() //nolint:contextcheck // An informer outlives the request that starts it.
		c.definitions.AwaitServed(ctx, ref, wait)
		if err == nil {
			release()
		}
	}
}

// redactionRules are the rules of --redact. They select the values that are masked before objects are cached.
type redactionRules struct {
	redact.Rules

	mu     sync.Mutex
	warned map[string]bool
}

// warnOfUnservedRules logs a warning for each --redact rule whose resource the cluster does not serve, because the name
// of the resource may be misspelled.
func (c *Cluster) warnOfUnservedRules() {
	resources, groupErrors, err := c.catalog.All()
	if err != nil || len(groupErrors) > 0 {
		return
	}
	served := make(map[string]bool, len(resources))
	for n := range resources {
		group, _, _ := strings.Cut(resources[n].Ref(), "/")
		served[group+"/"+resources[n].Resource] = true
	}
	for _, kind := range c.redactionRules.Resources() {
		if !served[kind] && c.redactionRules.isFirstWarning(kind) {
			c.log.Warn("--redact has a rule for a resource that the cluster does not serve", "resource", kind)
		}
	}
}

func (r *redactionRules) isFirstWarning(kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.warned[kind] {
		return false
	}
	if r.warned == nil {
		r.warned = make(map[string]bool)
	}
	r.warned[kind] = true
	return true
}
