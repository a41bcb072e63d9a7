package watch

import (
	"context"
	"slices"
	"strings"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/status"
)

const podLogsRef = "core/v1/pods/log"

// Authorize returns an error with the reason if the viewer may not read the result, or not all named namespaces.
func (a *Access) Authorize(ctx context.Context, q query.Query) error {
	verb := authz.VerbList
	if q.Name != "" {
		verb = authz.VerbGet
	}
	return a.authorize(ctx, q, verb)
}

func (a *Access) authorize(ctx context.Context, q query.Query, verb authz.Verb) error {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return err
	}
	permitted, err := a.check(ctx, &q, resource, verb, authz.TTLRequest())
	if err != nil {
		return err
	}
	for _, ns := range q.Namespaces {
		if !slices.Contains(permitted.Namespaces, ns) {
			return errForbidden(resource, verb, &query.Filter{Namespaces: []string{ns}})
		}
	}
	return nil
}

// AuthorizeShare returns an error if the scope is invalid, or if the viewer may not read everything in it.
func (a *Access) AuthorizeShare(ctx context.Context, s *Scope) error {
	for n := range s.Parts {
		p := &s.Parts[n]
		if slices.ContainsFunc(s.Parts[:n], func(other Part) bool { return other.Resource == p.Resource }) {
			return status.Invalidf(
				"Duplicate resource",
				"The resource %.100q is in two parts; combine them to one part with several namespaces.", p.Resource,
			)
		}
		if err := a.authorizePart(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (a *Access) authorizePart(ctx context.Context, p *Part) error {
	q := query.Query{Resource: p.Resource, Namespaces: p.Namespaces, Labels: p.Labels, Name: p.Name, Text: p.Text}
	verb := authz.VerbList
	switch {
	case p.Resource == podLogsRef:
		q.Resource, verb = strings.TrimSuffix(podLogsRef, "/log"), authz.VerbLog
	case p.Name != "":
		verb = authz.VerbGet
	}
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return err
	}
	if p.Name != "" && resource.Namespaced && len(p.Namespaces) != 1 {
		return status.Invalidf(
			"Invalid object reference",
			"%s is namespaced: a part with a name needs exactly one namespace.",
			resource.Ref(),
		)
	}
	if p.Regarding != "" && !query.IsValidRegarding(resource, p.Regarding) {
		return status.Invalidf(
			"Invalid object reference",
			"The value of about is %.100q, but about is only for events, and must be the kind, group and name of "+
				"an object, such as pod.core/web-1 or deployment.apps/web, or pod/web-1 for any group.",
			p.Regarding,
		)
	}
	return a.authorize(ctx, q, verb)
}
