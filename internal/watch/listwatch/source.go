// Package listwatch is the client of the API server. It lists and watches a resource as Tables (the format that
// kubectl get requests), which contain the cells and full objects. Servers without Tables send plain objects.
//
// From each row, the package makes a redacted compact.Object without decoding the row into maps.
package listwatch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// accept is the Accept header of list and watch requests. Servers that cannot print Tables send plain objects.
const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// Client creates Sources, which list and watch one Scope each. All Sources share HTTP connections, because client-go
// caches transports.
type Client struct {
	config *rest.Config
	rules  redact.Rules
	health *health.Evaluator
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

// ClientOptions are the settings of a Client. The zero value is valid.
type ClientOptions struct {
	Redact redact.Rules      // Rules by which all objects that the Client reads are redacted.
	Health *health.Evaluator // If nil, the Client creates its own, without rules of the administrator.
}

// NewClient returns a Client for the API server in config.
func NewClient(config *rest.Config, options ClientOptions) *Client {
	config = rest.CopyConfig(config)
	// A Timeout would interrupt long lists and end watches.
	config.Timeout = 0
	// No client-side rate limit: the server has API Priority and Fairness.
	config.QPS = -1
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if options.Health == nil {
		options.Health = new(health.Evaluator)
	}
	return &Client{
		config: config, rules: options.Redact, health: options.Health, scheme: scheme,
		codecs: serializer.NewCodecFactory(scheme),
	}
}

// Scope selects the objects that one list or watch covers.
type Scope struct {
	Resource    schema.GroupVersionResource
	Namespace   string // Empty means all namespaces, or that the resource is cluster-scoped.
	Fields      string // Field selector; empty means all objects.
	Labels      string // Label selector; empty means all objects.
	Metadata    bool   // Request only the metadata of objects.
	GuestMasked bool   // Mask objects and cells for guests (viewers of a share link) before storing them.
}

// Source lists and watches the objects of one Scope. Only one list or watch can run at a time.
type Source struct {
	client    rest.Interface
	scope     Scope
	codec     runtime.ParameterCodec
	decoder   *decoder
	options   SourceOptions
	listCount int // Number of objects that were read so far, in all pages of the current list.
}

// SourceOptions configures a Source, in addition to its Scope.
type SourceOptions struct {
	// Stall is the maximum time without progress in a streaming list. After that, the list fails with a timeout
	// error.
	Stall time.Duration
	// Stalled is called after a streaming list has failed because it made no progress for too long (see Stall).
	Stalled func()
	// Established is called when a watch works: its first event is not an error, or watchGracePeriod passes without
	// events. Optional.
	Established func()
	// Failed is called when a streaming list fails, because client-go does not report this error. A list without
	// progress causes a call of Stalled instead. Optional.
	Failed func(error)
	// Panicked is called after a panic during decoding, with its value and stack trace. The list or watch then fails.
	Panicked func(v any, stack []byte)
	// Observe is called during and after a list, with the number of objects so far and their compressed size in bytes.
	Observe func(objects int, bytes int64)
	// Masks detects changes of masked values. All Sources of one resource share one Masks. If Masks is nil, the Source
	// creates its own.
	Masks *redact.Memory
}

// Source returns a Source for the scope.
func (c *Client) Source(scope Scope, options SourceOptions) (*Source, error) {
	client, err := c.restClient(scope.Resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	masks := options.Masks
	if masks == nil {
		masks = redact.NewMemory()
	}
	rules := c.rules
	if scope.GuestMasked {
		rules = append(slices.Clone(rules), redact.GuestRules()...)
	}
	if options.Established == nil {
		options.Established = func() {}
	}
	groupResource := scope.Resource.GroupResource()
	decoder := newDecoder(
		groupResource, masks.Redactor(rules, groupResource.Group, groupResource.Resource, scope.Namespace), c.health,
	)
	decoder.hasLastChange = !scope.Metadata && !scope.GuestMasked && fieldmanager.HasEditors(groupResource.Resource)
	return &Source{
		client: client, scope: scope, codec: runtime.NewParameterCodec(c.scheme), decoder: decoder, options: options,
	}, nil
}

func (c *Client) restClient(groupVersion schema.GroupVersion) (rest.Interface, error) {
	config := rest.CopyConfig(c.config)
	config.GroupVersion = &groupVersion
	config.APIPath = "/apis"
	if groupVersion.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = c.codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("create a client for %s: %w", groupVersion, err)
	}
	return client, nil
}

func (s *Source) request(options metav1.ListOptions) *rest.Request {
	options.FieldSelector, options.LabelSelector = s.scope.Fields, s.scope.Labels
	include := metav1.IncludeObject
	if s.scope.Metadata {
		include = metav1.IncludeMetadata
	}
	return s.client.Get().
		NamespaceIfScoped(s.scope.Namespace, s.scope.Namespace != "").
		Resource(s.scope.Resource.Resource).
		SpecificallyVersionedParams(&options, s.codec, schema.GroupVersion{Version: "v1"}).
		Param("includeObject", string(include)).
		SetHeader("Accept", accept)
}

// Columns returns the columns of the newest list, or nil before the first. The caller must not change the columns.
func (s *Source) Columns() []printer.Column { return s.decoder.currentColumns() }

// DigestBytes returns the approximate size, in bytes, of the hashes that the newest list has added to
// SourceOptions.Masks.
func (s *Source) DigestBytes() int64 { return s.decoder.redactor.DigestBytes() }

// SetPrinterColumns sets the columns of later lists and watches.
func (s *Source) SetPrinterColumns(columns printer.CRDColumns) {
	s.decoder.printerColumns = columns
}

// responseTimeout limits the time to the start of a list response. kube-apiserver needs up to one minute
// (--request-timeout).
const responseTimeout = 75 * time.Second

// List reads a complete list, or one page of it, row by row. After the response has started, the list fails if it
// makes no progress for twice SourceOptions.Stall.
func (s *Source) List(ctx context.Context, options metav1.ListOptions) (list *List, err error) {
	defer s.recover(&err)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := responseTimeout
	stalled := time.AfterFunc(limit, cancel)
	defer func() {
		if !stalled.Stop() {
			err = fmt.Errorf("the list made no progress for %s", limit)
		}
	}()
	body, err := s.request(options).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	limit = 2 * s.options.Stall
	stalled.Reset(limit)
	if options.Continue == "" {
		s.decoder.beginList()
		s.listCount = 0
	}
	before := s.listCount
	list, err = s.decoder.list(bufio.NewReaderSize(body, 64<<10), func(objects int) {
		stalled.Reset(limit)
		s.options.Observe(before+objects, s.decoder.encoder.ListBytes())
	})
	if err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", s.scope.Resource.Resource, err)
	}
	s.listCount += len(list.Items)
	if list.Continue == "" {
		s.decoder.endList()
		s.options.Observe(s.listCount, s.decoder.encoder.ListBytes())
	}
	return list, err
}

// recover converts a panic during decoding into an error.
func (s *Source) recover(err *error) {
	if v := recover(); v != nil {
		s.options.Panicked(v, debug.Stack())
		*err = errors.New("the response of the API server could not be decoded; see the log of Glasshouse")
	}
}

// Watch starts a watch. The Stop method of the returned watch waits until the goroutine of the watch has ended.
func (s *Source) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	ctx, cancel := context.WithCancel(ctx)
	limit := maxSilence // The limit is long, because some proxies send no response header before the first event.
	if initial {
		limit = s.options.Stall
	}
	stalled := time.AfterFunc(limit, cancel) // Limits the wait for the response. The stream has its own timers.
	body, err := s.request(options).Stream(ctx)
	switch timedOut := !stalled.Stop(); {
	case timedOut && initial:
		s.options.Stalled()
		err = errors.Join(errStalled, err)
	case timedOut:
		err = fmt.Errorf("the response to the watch has not started within %s", limit)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return startStream(ctx, cancel, body, s, initial), nil
}

// Get reads one object from the API server and returns its redacted JSON text.
func (c *Client) Get(
	ctx context.Context, resource schema.GroupVersionResource, namespace, name string,
) ([]byte, error) {
	client, err := c.restClient(resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	body, err := client.Get().NamespaceIfScoped(namespace, namespace != "").
		Resource(resource.Resource).Name(name).SetHeader("Accept", "application/json").Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", resource.Resource, fullName(namespace, name), err)
	}
	clean, err := redact.New(c.rules, resource.Group, resource.Resource).Object(nil, raw)
	return clean.Text, err
}

func fullName(namespace, name string) string { return strings.TrimPrefix(namespace+"/"+name, "/") }

// SpecAuthor reads an object, and returns who last changed its specification, or nil if unknown. It ignores field
// managers for which ignore returns true. created is the time at which the object was created.
func (c *Client) SpecAuthor(
	ctx context.Context, resource schema.GroupVersionResource, namespace, name string, ignore func(manager string) bool,
) (by *fieldmanager.Owner, created time.Time, err error) {
	managed, created, err := c.managedFields(ctx, resource, namespace, name)
	if err != nil {
		return nil, created, err
	}
	return fieldmanager.NewestSpec(managed, ignore), created, nil
}

// Owners reads an object, and returns its field managers, the newest first.
func (c *Client) Owners(
	ctx context.Context, resource schema.GroupVersionResource, namespace, name string,
) ([]fieldmanager.Owner, error) {
	managed, _, err := c.managedFields(ctx, resource, namespace, name)
	if err != nil {
		return nil, err
	}
	return fieldmanager.Owners(managed), nil
}

func (c *Client) managedFields(
	ctx context.Context, resource schema.GroupVersionResource, namespace, name string,
) (managed []byte, created time.Time, err error) {
	client, err := c.restClient(resource.GroupVersion())
	if err != nil {
		return nil, created, err
	}
	full := fullName(namespace, name)
	var o metav1.PartialObjectMetadata
	const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	raw, err := client.Get().NamespaceIfScoped(namespace, namespace != "").
		Resource(resource.Resource).Name(name).SetHeader("Accept", accept).DoRaw(ctx)
	if err != nil {
		return nil, created, fmt.Errorf("read the managedFields of %s %s: %w", resource.Resource, full, err)
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, created, fmt.Errorf("read the managedFields of %s %s: %w", resource.Resource, full, err)
	}
	managed, err = json.Marshal(o.ManagedFields)
	if err != nil {
		return nil, created, fmt.Errorf("read the managedFields of %s %s: %w", resource.Resource, full, err)
	}
	return managed, o.CreationTimestamp.Time, nil
}

// Reevaluate returns a copy of an object, with a verdict that is evaluated for the time now.
func (c *Client) Reevaluate(o *compact.Object, now time.Time) (*compact.Object, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	v := c.health.Evaluate(text, now, o.ManagedTime())
	return o.WithOwnVerdict(verdict.Pack(nil, &v)), nil
}
