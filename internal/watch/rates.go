package watch

import (
	"context"
	"errors"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/rates"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// OpenRates returns a reader of the restarts and warnings of the objects that a query selects. Callers must close it.
func OpenRates(ctx context.Context, a *Access, q query.Query) (*rates.Reader, error) {
	r, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	return rates.New(ctx, func(ctx context.Context) (*rates.Sources, error) {
		return openSources(ctx, a, &q, r)
	}, a.AcquireProcessor)
}

// openSources checks permissions, and opens the resources from which the rates of a list are counted.
func openSources(ctx context.Context, a *Access, q *query.Query, r *resource.Resource) (_ *rates.Sources, err error) {
	var releases []func()
	s := &rates.Sources{Group: r.Group, Kind: r.Kind, Release: func() {
		for _, release := range releases {
			release()
		}
	}}
	defer func() {
		if err != nil {
			s.Release()
		}
	}()
	open := func(into *rates.Source, q query.Query) error {
		var release func()
		if *into, release, err = openSource(ctx, a, &q); err == nil {
			releases = append(releases, release)
		}
		return err
	}
	ref := r.Ref()
	if err := open(&s.List, *q); err != nil {
		return nil, err
	}
	s.HasPods = ref == podsRef || rates.OwnsPods(ref)
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
	if a.checker.Viewer.User != nil {
		s.RecheckAt = time.Now().Add(authz.RecheckEvery)
	}
	return s, nil
}

const podsRef = "core/v1/pods"

// openSource opens one resource. A refusal is not an error, because the viewer may see the other resources.
func openSource(ctx context.Context, a *Access, q *query.Query) (s rates.Source, release func(), err error) {
	opened, err := a.open(ctx, q, authz.VerbWatch, authz.TTLRecheck())
	if p, ok := errors.AsType[*status.Problem](err); ok && (p.Cause == status.Refused || p.Cause == status.Unknown) {
		return rates.Source{Refusal: &status.Problem{Cause: p.Cause, Title: p.Title, Detail: a.PublicDetail(p)}},
			func() {}, nil
	}
	if err != nil {
		return rates.Source{}, nil, err
	}
	opened.informer.Readers.Add(1)
	return rates.Source{Informer: opened.informer, Filter: opened.filter}, func() {
		opened.informer.Readers.Add(-1)
		opened.release()
	}, nil
}
