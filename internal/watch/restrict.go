package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"

	"golang.org/x/sync/errgroup"
)

// restrict restricts a filter to the viewer's permissions. An error with cause Refused must not reveal whether
// forbidden objects exist.
func (a *Access) restrict(
	ctx context.Context, r *resource.Resource, f *query.Filter, verb authz.Verb, ttl authz.DecisionTTL,
) error {
	if f.IsGuest = a.viewer.Scope != nil; f.IsGuest {
		if err := a.viewer.Scope.restrict(r, f, verb); err != nil {
			return err
		}
	}
	switch {
	case a.viewer.User != nil:
		return a.restrictToUser(ctx, r, f, verb, ttl)
	case a.viewer.Program:
		return nil
	}
	return &status.Problem{Cause: status.Refused, Title: "Forbidden", Detail: "You are not logged in."}
}

// restrictToUser restricts a filter to the user's permissions. It waits at most authz.RecheckEvery for access
// reviews.
func (a *Access) restrictToUser(
	ctx context.Context, r *resource.Resource, f *query.Filter, verb authz.Verb, ttl authz.DecisionTTL,
) error {
	ctx, cancel := context.WithTimeout(ctx, authz.RecheckEvery)
	defer cancel()
	all, err := a.cluster.guard.Allowed(ctx, a.subject, verb, r, "", f.Name, ttl)
	switch {
	case err != nil:
		return errAuthzUnavailable(err)
	case all:
		return a.restrictByName(ctx, r, f, verb, ttl)
	case !r.Namespaced:
		return errForbidden(r, verb, f)
	}
	namespaces := f.Namespaces
	if len(namespaces) == 0 {
		known, err := a.cluster.knownNamespaces(ctx)
		if err != nil {
			return err
		}
		if len(known) > authz.MaxReviewedNamespaces {
			return &status.Problem{
				Cause: status.Refused,
				Title: "Forbidden",
				Detail: fmt.Sprintf(
					"You cannot %s %s in all namespaces, and there are more than %d namespaces. "+
						"Select namespaces with ns.",
					authz.VerbList, r.Resource, authz.MaxReviewedNamespaces,
				),
			}
		}
		namespaces = known
	}
	allowed, err := checkEach(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
		return a.cluster.guard.Allowed(ctx, a.subject, verb, r, ns, f.Name, ttl)
	})
	if err != nil {
		return errAuthzUnavailable(err)
	}
	permitted := make([]string, 0, len(namespaces))
	for n, ns := range namespaces {
		if allowed[n] {
			permitted = append(permitted, ns)
		}
	}
	if len(permitted) == 0 {
		return errForbidden(r, verb, f)
	}
	f.RestrictToNamespaces(permitted, len(permitted) == len(namespaces))
	return nil
}

// restrictByName marks a subscription to a named object as restricted, because its informer also watches hidden
// objects.
func (a *Access) restrictByName(
	ctx context.Context, r *resource.Resource, f *query.Filter, verb authz.Verb, ttl authz.DecisionTTL,
) error {
	if f.Name == "" || verb != authz.VerbWatch {
		return nil
	}
	all, err := a.cluster.guard.Allowed(ctx, a.subject, verb, r, "", "", ttl)
	if err != nil {
		return errAuthzUnavailable(err)
	}
	f.IsRestricted = f.IsRestricted || !all
	return nil
}

// checkEach calls check for all items concurrently, and stops after an error. The results are in the order of items.
func checkEach[T any](ctx context.Context, items []T, check func(context.Context, T) (bool, error)) ([]bool, error) {
	allowed := make([]bool, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(authz.QueryReviews)
	for n, item := range items {
		group.Go(func() (err error) {
			allowed[n], err = check(ctx, item)
			return err
		})
	}
	return allowed, group.Wait()
}

func errAuthzUnavailable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &status.Problem{
		Cause: status.Unavailable, Title: "Permissions unknown",
		Detail:       "The API server cannot check your permissions now: " + status.ReasonOf(err),
		PublicDetail: "The API server cannot check the permissions now.",
	}
}

func errForbidden(r *resource.Resource, verb authz.Verb, f *query.Filter) error {
	attributes := verb.Attributes(r, "", "")[0]
	target := r.GVR().GroupResource().String()
	if attributes.Subresource != "" {
		target += "/" + attributes.Subresource
	}
	scopeText := "at the cluster scope"
	switch {
	case len(f.Namespaces) == 1:
		scopeText = fmt.Sprintf("in the namespace %q", f.Namespaces[0])
	case len(f.Namespaces) > 1:
		scopeText = "in any of the namespaces"
	case r.Namespaced:
		scopeText = "in all namespaces, nor in any known namespace"
	}
	return &status.Problem{
		Cause: status.Refused, Title: "Forbidden",
		Detail: fmt.Sprintf("You cannot %s %s %s.", attributes.Verb, target, scopeText),
	}
}

// restrict restricts the filter f to what the share link shares. It returns a *Problem if nothing remains.
func (s *Scope) restrict(r *resource.Resource, f *query.Filter, verb authz.Verb) error {
	ref := r.Ref()
	if verb == authz.VerbLog {
		ref += "/log"
	}
	at := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Resource == ref })
	if at < 0 {
		return notShared()
	}
	p := &s.Parts[at]
	linkQuery := query.Query{Namespaces: p.Namespaces, Labels: p.Labels, Name: p.Name, Text: p.Text}
	linkFilter, err := query.NewFilter(&linkQuery, r)
	if err != nil {
		return fmt.Errorf("parse the scope of the link: %w", err)
	}
	if !f.RestrictToLink(linkFilter, p.Regarding) {
		return notShared()
	}
	return nil
}

func notShared() error {
	return &status.Problem{Cause: status.Refused, Title: "Forbidden", Detail: "This is not shared with you."}
}
