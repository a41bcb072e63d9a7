package listwatch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"glasshouse/internal/watch/redact"
)

// accept is the Accept header of lists and watches. It requests a Table, but allows plain objects from a server that
// cannot print Tables.
const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// Client creates Sources that share one connection to the API server: client-go uses one transport for each distinct
// TLS configuration.
type Client struct {
	config *rest.Config
	rules  redact.Rules
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

// NewClient returns a Client with a copy of config. The copy has no Timeout, which would interrupt long lists and end
// watches. It also has no client-side rate limit, because the API priority and fairness of the server replaces it.
// Everything that the Client reads is redacted by the rules.
func NewClient(config *rest.Config, rules redact.Rules) *Client {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	config.QPS = -1
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return &Client{config: config, rules: rules, scheme: scheme, codecs: serializer.NewCodecFactory(scheme)}
}

// Scope is the set of objects that one list or watch covers.
type Scope struct {
	Resource    schema.GroupVersionResource
	Namespace   string // Empty for all namespaces, and for cluster-scoped resources.
	Fields      string // A field selector; empty for all objects.
	Metadata    bool   // Only the metadata of objects is requested.
	GuestMasked bool   // The guest mask is applied to objects and their cells before they are stored.
}

// Source lists and watches the objects of one Scope. Only one list or watch at a time may be read.
type Source struct {
	client    rest.Interface
	scope     Scope
	codec     runtime.ParameterCodec
	decoder   *decoder
	options   SourceOptions
	listCount int // The number of objects in the pages of the list so far.
}

// SourceOptions configures a Source, in addition to its Scope.
type SourceOptions struct {
	// Stall is how long a streaming list may make no progress before it fails with a timeout error.
	Stall time.Duration
	// Stalled is called when a streaming list has failed because of Stall.
	Stalled func()
	// Established is called once, when a watch works: it has sent an event other than an error, or nothing for the
	// duration of settling. It is not called for a watch that begins with a list. It may be nil.
	Established func()
	// Failed is called when a streaming list fails before its end for any other reason. client-go retries such a list
	// without reporting the error. Failed may be nil.
	Failed func(error)
	// Panicked is called with the value and the stack of a panic during decoding. Such a panic fails the list or watch,
	// but does not end the program.
	Panicked func(v any, stack []byte)
	// Observe is called for each object of a list, and at the end of the list. objects is the number of objects
	// received so far. bytes is the size of those that are already compressed.
	Observe func(objects int, bytes int64)
	// Masks contains digests of masked values, which the Sources of one resource share. If it is nil, the Source shares
	// nothing with other Sources.
	Masks *redact.Memory
}

// Source returns a Source for a scope.
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
		groupResource, masks.Redactor(rules, groupResource.Group, groupResource.Resource, scope.Namespace),
	)
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
		return nil, fmt.Errorf("make a client for %s: %w", groupVersion, err)
	}
	return client, nil
}

func (s *Source) request(options metav1.ListOptions) *rest.Request {
	options.FieldSelector = s.scope.Fields
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

// Columns returns the columns of the newest list, or nil before the first row of the first list. The caller must not
// change them.
func (s *Source) Columns() []Column { return s.decoder.currentColumns() }

// DigestBytes returns the approximate size, in bytes, of the digests that the newest list has added to
// SourceOptions.Masks.
func (s *Source) DigestBytes() int64 { return s.decoder.redactor.DigestBytes() }

// SetDates sets the paths (see SimplePath) of the resource's date columns; the key is the column's name. They are used
// from the next list on.
func (s *Source) SetDates(dates map[string]string) { s.decoder.dates = dates }

// SetPaths sets the JSONPaths of a CRD's columns; the key is the column's name. paths is nil if they are not known.
// They are used from the next list or watch on.
func (s *Source) SetPaths(paths map[string]string) { s.decoder.paths = paths }

// responseTimeout is the time limit until the response to a list begins. The server may have to collect the complete
// list first. kube-apiserver limits this to one minute (--request-timeout).
const responseTimeout = 75 * time.Second

// List reads a complete list, or a page of it, row by row. After the response has begun, the list fails if it makes no
// progress for twice SourceOptions.Stall.
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
	defer func() { _ = body.Close() }() // The body was read to its end, or is no longer needed.
	limit = 2 * s.options.Stall
	stalled.Reset(limit)
	if options.Continue == "" {
		s.decoder.beginList()
		s.listCount = 0
	}
	before := s.listCount
	list, err = s.decoder.list(bufio.NewReaderSize(body, 64<<10), func(objects int) {
		stalled.Reset(limit)
		s.options.Observe(before+objects, s.decoder.listBytes)
	})
	if err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", s.scope.Resource.Resource, err)
	}
	s.listCount += len(list.Items)
	if list.Continue == "" {
		s.decoder.endList()
		s.options.Observe(s.listCount, s.decoder.listBytes)
	}
	return list, err
}

// recover converts a panic into an error. The functions that decode the API server's data defer it.
func (s *Source) recover(err *error) {
	if v := recover(); v != nil {
		s.options.Panicked(v, debug.Stack())
		*err = errors.New("the response of the API server could not be decoded; the log has the reason")
	}
}

// Watch starts a watch. When Stop of the result returns, the goroutine of the watch has ended.
func (s *Source) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	ctx, cancel := context.WithCancel(ctx)
	limit := maxSilence // Some proxies send no response before the first event.
	if initial {
		limit = s.options.Stall
	}
	stalled := time.AfterFunc(limit, cancel) // For the response only; then the stream has its own timer.
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

// Get reads one object from the API server, and returns its redacted JSON.
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
	defer func() { _ = body.Close() }() // The body was read to its end, or is no longer needed.
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", resource.Resource, name, err)
	}
	clean, err := redact.New(c.rules, resource.Group, resource.Resource).Object(nil, raw)
	return clean.Text, err
}
