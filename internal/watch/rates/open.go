package rates

import (
	"context"
	"errors"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// openSources checks permissions, and opens the resources from which the rates of a list are counted.
func openSources(
	ctx context.Context, o *opened.Opener, q *query.Query, r *resource.Resource,
) (_ *sources, err error) {
	var releases []func()
	s := &sources{Group: r.Group, Kind: r.Kind, Release: func() {
		for _, release := range releases {
			release()
		}
	}}
	defer func() {
		if err != nil {
			s.Release()
		}
	}()
	open := func(into *source, q query.Query) error {
		var release func()
		if *into, release, err = openSource(ctx, o, &q); err == nil {
			releases = append(releases, release)
		}
		return err
	}
	ref := r.Ref()
	if err := open(&s.List, *q); err != nil {
		return nil, err
	}
	s.HasPods = ref == podsRef || ownsPods(ref)
	if ref != podsRef && s.HasPods {
		if err := open(&s.Pods, query.Query{Resource: podsRef, Namespaces: q.Namespaces}); err != nil {
			return nil, err
		}
	}
	if r.Kind != "Event" {
		if err := open(&s.Events, query.Query{Resource: "core/v1/events", Namespaces: q.Namespaces}); err != nil {
			return nil, err
		}
	}
	if o.Checker.Viewer.User != nil {
		s.RecheckAt = time.Now().Add(authz.RecheckEvery)
	}
	return s, nil
}

const podsRef = "core/v1/pods"

// openSource opens one resource. If the resource is unknown or refused, s contains only the Refusal and err is nil, so
// that the caller can still count other resources.
func openSource(ctx context.Context, o *opened.Opener, q *query.Query) (s source, release func(), err error) {
	found, err := o.Open(ctx, q, authz.VerbWatch, authz.TTLRecheck())
	if p, ok := errors.AsType[*status.Problem](err); ok && (p.Cause == status.Refused || p.Cause == status.Unknown) {
		return source{Refusal: &status.Problem{Cause: p.Cause, Title: p.Title, Detail: o.Checker.Viewer.PublicDetail(p)}},
			func() {}, nil
	}
	if err != nil {
		return source{}, nil, err
	}
	found.Informer.Readers.Add(1)
	return source{Informer: found.Informer, Filter: found.Filter}, func() {
		found.Informer.Readers.Add(-1)
		found.Release()
	}, nil
}
