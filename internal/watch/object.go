package watch

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/messages"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/podlog"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// An objectReader checks whether the viewer may read an object, and then reads it.
type objectReader struct {
	access          *Access
	resource        *resource.Resource
	namespace, name string
	permitted       *query.Filter // The filter that the object must match; set by authorize.
}

// Object returns one object as masked JSON: from the cache if the status of the cache is Live, and otherwise from the
// API server.
func (a *Access) Object(ctx context.Context, ref, namespace, name string) ([]byte, error) {
	o, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	return o.read(ctx)
}

// readable returns a reader of the object if the viewer may read the object.
func (a *Access) readable(ctx context.Context, ref, namespace, name string) (*objectReader, error) {
	resource, err := a.Resource(ctx, ref)
	if err != nil {
		return nil, err
	}
	if resource.Namespaced != (namespace != "") {
		return nil, status.Invalidf("Invalid object reference",
			"Namespaced resources need a namespace, others need _ instead; %s %s.",
			resource.Plural(), map[bool]string{true: "are namespaced", false: "are not namespaced"}[resource.Namespaced])
	}
	if namespace != "" {
		if err := query.CheckNamespace(namespace); err != nil {
			return nil, err
		}
	}
	if err := query.CheckName(name); err != nil {
		return nil, err
	}
	o := &objectReader{access: a, resource: resource, namespace: namespace, name: name}
	return o, o.authorize(ctx, authz.VerbGet, authz.TTLRequest())
}

// authorize checks that the viewer may get the object or its log, and sets the field permitted.
func (o *objectReader) authorize(ctx context.Context, verb authz.Verb, ttl authz.DecisionTTL) error {
	a, f := o.access, &query.Filter{Name: o.name, Namespaces: o.namespaces()}
	o.permitted = f
	if err := a.checker.Restrict(ctx, o.resource, f, verb, ttl); err != nil || !o.isConditional() {
		return err
	}
	// The share link selects objects by labels or by words in their rows, so check that it selects this object.
	q := query.Query{Resource: o.resource.Ref(), Namespaces: f.Namespaces, Name: o.name}
	snapshot, err := a.Snapshot(ctx, q, staleReadTimeout)
	if err != nil {
		return err
	}
	f.Columns = snapshot.Columns
	switch {
	case !snapshot.Synced:
		return notKnownYet(o.resource)
	case !slices.ContainsFunc(snapshot.Objects, f.Match):
		return permit.NotShared()
	}
	return nil
}

// isConditional reports whether the share link has conditions on the labels of objects, or on words in their rows.
func (o *objectReader) isConditional() bool {
	return o.permitted.Selector != nil || o.permitted.NeedsRow()
}

func (o *objectReader) namespaces() []string {
	if o.namespace == "" {
		return nil
	}
	return []string{o.namespace}
}

// notKnownYet returns the error for a share link whose conditions cannot be checked, because the list of objects is not
// available.
func notKnownYet(r *resource.Resource) *status.Problem {
	return status.Unavailablef("Not known yet", "The list of %s is not available now, so it is not known whether "+
		"the link includes this object; retry in a moment.", r.Plural())
}

// read reads the object and masks it for the viewer. It checks the filter in the field permitted again, because this
// version of the object can be newer than the one that authorize checked.
func (o *objectReader) read(ctx context.Context) ([]byte, error) {
	a := o.access
	cached, current := o.cached()
	live := cached != nil && current.State == status.Live
	switch {
	case live && !o.permitted.Match(cached):
		return nil, permit.NotShared()
	case live:
		return o.respond(authz.VerbList, cached.JSON)
	case o.permitted.NeedsRow():
		return nil, notKnownYet(o.resource)
	case !o.resource.Can("get"):
		return nil, status.Invalidf("Not readable",
			"Single objects of %s cannot be read: the API supports only the verbs %s.",
			o.resource.Plural(), strings.Join(o.resource.Verbs, ", "))
	case !a.cluster.reviews.Allows(ctx, authz.VerbGet, o.resource, o.namespace, o.name, authz.TTLRequest()):
		return nil, permit.Forbidden(o.resource, authz.VerbGet, &query.Filter{Namespaces: o.namespaces()})
	}
	text, err := a.cluster.get(ctx, o.resource.GVR(), o.namespace, o.name)
	if err != nil {
		return nil, status.FromRequest(err, strings.TrimPrefix(o.namespace+"/"+o.name, "/"))
	}
	// An object from the API server has no row. This share link has no conditions on rows, so compare only the labels.
	if o.permitted.Selector != nil && !o.permitted.Selector.Matches(query.Labels(compact.LabelsOf(text))) {
		return nil, permit.NotShared()
	}
	return o.respond(authz.VerbGet, func() ([]byte, error) { return text, nil })
}

// staleReadTimeout is how long a read waits for the API server if the cache has only a stale version.
const staleReadTimeout = 2 * time.Second

// LastKnown is like Object. If the cache is Stale and the API server does not respond, LastKnown returns the cached
// version, with the status Stale.
func (a *Access) LastKnown(
	ctx context.Context, ref, namespace, name string,
) (text []byte, current status.Status, err error) {
	o, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, status.Status{}, err
	}
	cached, current := o.cached()
	if current.State != status.Stale || cached == nil || !o.permitted.Match(cached) {
		cached = nil
	}
	readCtx := ctx
	if cached != nil {
		var cancel context.CancelFunc
		readCtx, cancel = context.WithTimeout(ctx, staleReadTimeout)
		defer cancel()
	}
	text, err = o.read(readCtx)
	if p := new(status.Problem); cached != nil && errors.As(err, &p) && p.Cause == status.Unavailable {
		text, err = o.respond(authz.VerbList, cached.JSON)
		return text, current, err
	}
	return text, status.Status{State: status.Live}, err
}

func (o *objectReader) cached() (*compact.Object, status.Status) {
	i := o.access.cluster.find(o.access.checker.Viewer.InformerScope(o.resource, ""))
	if i == nil {
		return nil, status.Status{}
	}
	status := i.CurrentState(o.namespaces()).Status
	cached, _, _ := i.Get(informer.Key(o.namespace, o.name))
	return cached, status
}

// respond returns the text of an object, in which sensitive values are masked for a guest. It records that the response
// depends on the program's permission for verb: list if the object is from the cache, get if it is from the API server.
func (o *objectReader) respond(verb authz.Verb, read func() ([]byte, error)) ([]byte, error) {
	a, r, permitted := o.access, o.resource, o.permitted
	a.checker.RecordObject(r, permitted, verb, o.namespace, o.name, func() bool {
		cached, current := o.cached()
		return cached == nil || current.State != status.Live || permitted.Match(cached)
	})
	text, err := read()
	a.Grow(max(0, int64(len(text))-messages.LargestText))
	if err != nil || !a.checker.Viewer.IsMasked() {
		return text, err
	}
	return redact.NewGuestMask(r.Group, r.Resource).Object(nil, text)
}

// LogOptions are the options for reading a container's log.
type LogOptions = listwatch.LogOptions

// Logs opens the log of one container of a pod. With options.Follow, Logs can block until ctx ends, because the API
// server does not respond before the first line exists.
func (a *Access) Logs(ctx context.Context, namespace, pod string, options LogOptions) (io.ReadCloser, error) {
	if err := query.CheckNamespace(namespace); err != nil {
		return nil, err
	}
	if err := query.CheckName(pod); err != nil {
		return nil, err
	}
	if options.Container != "" {
		if err := query.CheckName(options.Container); err != nil {
			return nil, err
		}
	}
	if err := a.authorizeLog(ctx, namespace, pod, authz.TTLOpen()); err != nil {
		return nil, err
	}
	request := podlog.Request{
		Namespace: namespace, Pod: pod, Options: options,
		Client: a.cluster.client, Reviews: a.cluster.reviews, Timeout: a.cluster.timeout,
		Object: func(ctx context.Context) ([]byte, error) { return a.Object(ctx, "core/v1/pods", namespace, pod) },
	}
	if a.checker.Viewer.User != nil || a.checker.Viewer.Scope != nil {
		request.Recheck = func(ctx context.Context) error {
			return a.authorizeLog(ctx, namespace, pod, authz.TTLRecheck())
		}
	}
	return request.Open(ctx)
}

// authorizeLog returns an error if the viewer may not read the log of a pod.
func (a *Access) authorizeLog(ctx context.Context, namespace, pod string, ttl authz.DecisionTTL) error {
	pods := &resource.Resource{
		Version: "v1", Resource: "pods", Namespaced: true, Verbs: []string{"get", "list", "watch"},
	}
	o := &objectReader{access: a, resource: pods, namespace: namespace, name: pod}
	if err := o.authorize(ctx, authz.VerbLog, ttl); err != nil || !o.isConditional() {
		return err
	}
	if err := a.checker.Viewer.Scope.Restrict(pods, o.permitted, authz.VerbGet); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, staleReadTimeout)
	defer cancel()
	// The share link has conditions on labels or rows. The method read returns an error if the current pod does not
	// match these conditions.
	_, err := o.read(ctx)
	return err
}
