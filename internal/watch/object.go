package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

// Object returns one object as masked JSON: from the cache while that is Live, and otherwise from the API server.
func (a *Access) Object(ctx context.Context, ref, namespace, name string) ([]byte, error) {
	resource, permitted, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	return a.readObject(ctx, resource, permitted, namespace, name)
}

// readable returns the resource, and the filter that the object must match, if the viewer may read the object.
func (a *Access) readable(ctx context.Context, ref, namespace, name string) (*resource.Resource, *query.Filter, error) {
	resource, err := a.Resource(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if resource.Namespaced != (namespace != "") {
		return nil, nil, status.Invalidf(
			"Invalid object reference",
			"Namespaced resources need a namespace, others need _ instead; %s %s.",
			resource.Ref(), map[bool]string{true: "is namespaced", false: "is not namespaced"}[resource.Namespaced],
		)
	}
	if namespace != "" {
		if err := query.CheckNamespace(namespace); err != nil {
			return nil, nil, err
		}
	}
	if err := query.CheckName(name); err != nil {
		return nil, nil, err
	}
	permitted, err := a.authorizeGet(ctx, resource, authz.VerbGet, namespace, name, authz.TTLRequest())
	return resource, permitted, err
}

// authorizeGet checks that the viewer may get the object or its log. It returns the filter for the object.
func (a *Access) authorizeGet(
	ctx context.Context, r *resource.Resource, verb authz.Verb, namespace, name string, ttl authz.DecisionTTL,
) (*query.Filter, error) {
	f := &query.Filter{Name: name}
	if namespace != "" {
		f.Namespaces = []string{namespace}
	}
	if err := a.restrict(ctx, r, f, verb, ttl); err != nil || f.Selector == nil && !f.NeedsRow() {
		return f, err
	}
	// The share link has conditions on labels or words of rows, so this object's row must match.
	q := query.Query{Resource: r.Ref(), Namespaces: f.Namespaces, Name: name}
	snapshot, err := a.Snapshot(ctx, q, staleReadTimeout)
	if err != nil {
		return nil, err
	}
	f.Columns = snapshot.Columns
	switch {
	case !snapshot.Synced:
		return nil, notKnownYet(r)
	case !slices.ContainsFunc(snapshot.Objects, f.Match):
		return nil, notShared()
	}
	return f, nil
}

// notKnownYet returns the error for a share link whose conditions need the list of objects, which is not available.
func notKnownYet(r *resource.Resource) *status.Problem {
	return &status.Problem{
		Cause: status.Unavailable,
		Title: "Not known yet",
		Detail: fmt.Sprintf(
			"The list of %s is not available now, so it is not known whether the link includes this one; "+
				"retry in a moment.",
			r.Resource,
		),
	}
}

// readObject reads an object and masks it for the viewer. This version must match the filter in permitted, too.
func (a *Access) readObject(
	ctx context.Context, resource *resource.Resource, permitted *query.Filter, namespace, name string,
) ([]byte, error) {
	o, current := a.cachedObject(resource, namespace, name)
	live := o != nil && current.State == status.Live
	switch {
	case live && !permitted.Match(o):
		return nil, notShared()
	case live:
		a.recordObject(resource, permitted, authz.VerbList, namespace, name)
		text, err := o.JSON()
		return a.maskText(resource, text, err)
	case permitted.NeedsRow():
		return nil, notKnownYet(resource)
	case !resource.Can("get"):
		return nil, status.Invalidf(
			"Not readable",
			"%s cannot be read one by one: the API serves only %s.",
			resource.Ref(), strings.Join(resource.Verbs, ", "),
		)
	case !a.cluster.reviews.Allows(ctx, authz.VerbGet, resource, namespace, name, authz.TTLRequest()):
		return nil, errForbidden(
			resource, authz.VerbGet,
			&query.Filter{Namespaces: slices.DeleteFunc([]string{namespace}, func(ns string) bool { return ns == "" })},
		)
	}
	text, err := a.cluster.get(ctx, resource.GVR(), namespace, name)
	if err != nil {
		return nil, problemOf(err, strings.TrimPrefix(namespace+"/"+name, "/"))
	}
	// An object from the API server has no row, so only labels are compared.
	if permitted.Selector != nil && !permitted.Selector.Matches(query.Labels(listwatch.LabelsOf(text))) {
		return nil, notShared()
	}
	a.recordObject(resource, permitted, authz.VerbGet, namespace, name)
	return a.maskText(resource, text, nil)
}

// staleReadTimeout is how long a read waits for the API server if the cache has only a stale version.
const staleReadTimeout = 2 * time.Second

// LastKnown is like Object, but returns a cached version with the status Stale if the API server does not answer.
func (a *Access) LastKnown(
	ctx context.Context, ref, namespace, name string,
) (text []byte, current status.Status, err error) {
	resource, permitted, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, status.Status{}, err
	}
	cached, current := a.cachedObject(resource, namespace, name)
	if current.State != status.Stale || cached == nil || !permitted.Match(cached) {
		cached = nil
	}
	readCtx := ctx
	if cached != nil {
		var cancel context.CancelFunc
		readCtx, cancel = context.WithTimeout(ctx, staleReadTimeout)
		defer cancel()
	}
	text, err = a.readObject(readCtx, resource, permitted, namespace, name)
	if p := new(status.Problem); cached != nil && errors.As(err, &p) && p.Cause == status.Unavailable {
		a.recordObject(resource, permitted, authz.VerbList, namespace, name)
		text, err = cached.JSON()
		text, err = a.maskText(resource, text, err)
		return text, current, err
	}
	return text, status.Status{State: status.Live}, err
}

func (a *Access) cachedObject(resource *resource.Resource, namespace, name string) (*listwatch.Object, status.Status) {
	var namespaces []string
	if namespace != "" {
		namespaces = []string{namespace}
	}
	i := a.cluster.find(a.scope(resource, ""))
	if i == nil {
		return nil, status.Status{}
	}
	status := i.CurrentState(namespaces).Status
	o, _, _ := i.Get(informer.Key(namespace, name))
	return o, status
}
