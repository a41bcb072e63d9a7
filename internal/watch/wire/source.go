package wire

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

// accept asks for a Table, and takes plain objects of a server that cannot
// print.
const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// A Client makes Sources that share one connection to the API server: client-go
// keeps one transport for each distinct TLS configuration.
type Client struct {
	config *rest.Config
	rules  redact.Rules
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

// NewClient keeps a copy of config without its Timeout, which would cut long
// lists and end watches, and without a rate limit of its own: the server's
// priority and fairness is the one that counts. What rules say is masked in all
// that it reads.
func NewClient(config *rest.Config, rules redact.Rules) *Client {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	config.QPS = -1
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return &Client{config: config, rules: rules, scheme: scheme, codecs: serializer.NewCodecFactory(scheme)}
}

// A Scope is what one list or watch covers.
type Scope struct {
	Resource  schema.GroupVersionResource
	Namespace string // Empty for all, and for resources that have none.
	Fields    string // A field selector; empty for all.
	Metadata  bool   // Objects have their metadata alone.
	Shared    bool   // What a Veil masks is masked before it is kept, in cells too.
}

// A Source lists and watches one Scope. One list or watch is read at a time.
type Source struct {
	client  rest.Interface
	scope   Scope
	codec   runtime.ParameterCodec
	decoder *decoder
	options SourceOptions
	listed  int // Objects in the pages of a list so far.
}

// SourceOptions are what a Source wants to know beside its Scope.
type SourceOptions struct {
	// Stall is how long a streaming list may make no progress before it is
	// given up with a timeout error.
	Stall time.Duration
	// Stalled is called when that has happened.
	Stalled func()
	// Going is called once a watch has sent something that is no error, or nothing
	// for settling; not for one that begins with a list. Nil is not called.
	Going func()
	// Failed is called when a streaming list ends in another way before its end:
	// client-go tries it again without a word. Nil is not called.
	Failed func(error)
	// Panicked is called with a panic and its stack: a decoder that cannot cope
	// with an object fails its list or watch, and not the program.
	Panicked func(v any, stack []byte)
	// Observe is called for each object of a list, and at its end, with how many it
	// has sent, and what those hold that are as small already as they are kept.
	Observe func(objects int, bytes int64)
	// Masks is what Sources of one resource remember of masked values; nil is
	// nothing of another Source's.
	Masks *redact.Memory
}

// Source returns a Source for scope.
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
	if scope.Shared {
		rules = append(slices.Clone(rules), redact.Shared()...)
	}
	if options.Going == nil {
		options.Going = func() {}
	}
	gr := scope.Resource.GroupResource()
	decoder := newDecoder(gr, masks.Redactor(rules, gr.Group, gr.Resource, scope.Namespace))
	return &Source{
		client: client, scope: scope, codec: runtime.NewParameterCodec(c.scheme), decoder: decoder, options: options,
	}, nil
}

func (c *Client) restClient(gv schema.GroupVersion) (rest.Interface, error) {
	config := rest.CopyConfig(c.config)
	config.GroupVersion = &gv
	config.APIPath = "/apis"
	if gv.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = c.codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", gv, err)
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

// Columns are those of the newest list; nil before the first row of the first.
// They must not be changed.
func (s *Source) Columns() []Column { return s.decoder.currentColumns() }

// Remembered is about how many bytes the newest list has added to what is
// remembered of masked values, in SourceOptions.Masks.
func (s *Source) Remembered() int64 { return s.decoder.redactor.Remembered() }

// SetDates says by which paths (SimplePath) the resource's date columns are
// looked up, from the next list on.
func (s *Source) SetDates(dates map[string]string) { s.decoder.dates = dates }

// SetPaths says what the columns of a CRD show, each by its JSONPath, from the
// next list or watch on; nil where that is not known.
func (s *Source) SetPaths(paths map[string]string) { s.decoder.paths = paths }

// begins is how long the answer to a list may take to begin: its server may have to
// gather all of it first, for which kube-apiserver gives itself a minute
// (--request-timeout).
const begins = 75 * time.Second

// List reads a whole list, row by row. One that has begun and makes no progress is
// given up after twice the time that a streaming list has.
func (s *Source) List(ctx context.Context, options metav1.ListOptions) (list *List, err error) {
	defer s.recover(&err)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := begins
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
	defer func() { _ = body.Close() }() // Read to its end, or given up.
	limit = 2 * s.options.Stall
	stalled.Reset(limit)
	if options.Continue == "" {
		s.decoder.beginList()
		s.listed = 0
	}
	before := s.listed
	list, err = s.decoder.list(bufio.NewReaderSize(body, 64<<10), func(objects int) {
		stalled.Reset(limit)
		s.options.Observe(before+objects, s.decoder.listed)
	})
	if err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", s.scope.Resource.Resource, err)
	}
	s.listed += len(list.Items)
	if list.Continue == "" {
		s.decoder.endList()
		s.options.Observe(s.listed, s.decoder.listed)
	}
	return list, err
}

// recover is deferred around the decoding of what the API server sends.
func (s *Source) recover(err *error) {
	if v := recover(); v != nil {
		s.options.Panicked(v, debug.Stack())
		*err = errors.New("what the API server sent could not be decoded; the log has the reason")
	}
}

// Watch starts a watch. Its goroutine has ended when Stop returns.
func (s *Source) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	ctx, cancel := context.WithCancel(ctx)
	limit := silence // Some proxies hand on no answer before its first event.
	if initial {
		limit = s.options.Stall
	}
	stalled := time.AfterFunc(limit, cancel) // Until the answer begins; then the stream sees to it.
	body, err := s.request(options).Stream(ctx)
	switch late := !stalled.Stop(); {
	case late && initial:
		s.options.Stalled()
		err = errors.Join(errStalled, err)
	case late:
		err = fmt.Errorf("the answer to the watch has not begun within %s", limit)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return startStream(ctx, cancel, body, s, initial), nil
}

// Get reads one object, redacted, as JSON.
func (c *Client) Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) ([]byte, error) {
	client, err := c.restClient(resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	body, err := client.Get().NamespaceIfScoped(namespace, namespace != "").
		Resource(resource.Resource).Name(name).SetHeader("Accept", "application/json").Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // Read to its end, or given up.
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", resource.Resource, name, err)
	}
	clean, err := redact.New(c.rules, resource.Group, resource.Resource).Object(nil, raw)
	return clean.Text, err
}
