package watch

import (
	"context"
	"slices"
	"strings"
)

// logs is the resource name by which a Part of a link's Scope shares the logs of pods.
const logs = "core/v1/pods/log"

// May returns an error with the reason if the viewer may not read the result of the query. It also returns one if the
// viewer may read only some of the namespaces that the query names.
func (a *Access) May(ctx context.Context, q Query) error {
	d := toList
	if q.Name != "" {
		d = toGet
	}
	return a.may(ctx, q, d)
}

func (a *Access) may(ctx context.Context, q Query, d deed) error {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return err
	}
	seen, err := a.check(ctx, &q, resource, d, askedOnce())
	if err != nil {
		return err
	}
	for _, ns := range q.Namespaces {
		if !slices.Contains(seen.namespaces, ns) {
			return refused(resource, d, &filter{namespaces: []string{ns}})
		}
	}
	return nil
}

// MayShare returns an error with the reason if the viewer cannot share the Scope: the Scope is invalid, or the viewer
// may not see its content now.
func (a *Access) MayShare(ctx context.Context, s *Scope) error {
	for n := range s.Parts {
		p := &s.Parts[n]
		if slices.ContainsFunc(s.Parts[:n], func(other Part) bool { return other.Resource == p.Resource }) {
			return invalid(
				"Duplicate resource", "%.100q is in two parts; combine them, with several namespaces.", p.Resource,
			)
		}
		if err := a.mayShare(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (a *Access) mayShare(ctx context.Context, p *Part) error {
	q := Query{Resource: p.Resource, Namespaces: p.Namespaces, Labels: p.Labels, Name: p.Name, Text: p.Text}
	d := toList
	switch {
	case p.Resource == logs:
		q.Resource, d = strings.TrimSuffix(logs, "/log"), toLog
	case p.Name != "":
		d = toGet
	}
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return err
	}
	if p.Name != "" && resource.Namespaced && len(p.Namespaces) != 1 {
		return invalid(
			"Invalid object reference",
			"%s is namespaced: a part with a name needs exactly one namespace.",
			resource.Ref(),
		)
	}
	if p.About != "" && !canBeAbout(resource, p.About) {
		return invalid(
			"Invalid object reference",
			"about is %.100q; it applies only to events, and must be the kind, group and name of an object, such as "+
				"pod.core/web-1 or deployment.apps/web, or pod/web-1 for any group.",
			p.About,
		)
	}
	return a.may(ctx, q, d)
}
