package permit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"golang.org/x/sync/errgroup"
)

// Restrict restricts a filter to the viewer's permissions. An error with the cause Refused must be the same whether or
// not forbidden objects exist, because it would otherwise reveal them.
func (c *Checker) Restrict(
	ctx context.Context, r *resource.Resource, f *query.Filter, verb authz.Verb, ttl authz.DecisionTTL,
) error {
	if f.IsGuest = c.Viewer.Scope != nil; f.IsGuest {
		f.HidesExtra = fieldmanager.HasEditors(r.Resource) // Other resources have no extra columns.
		if err := c.Viewer.Scope.Restrict(r, f, verb); err != nil {
			return err
		}
	}
	switch {
	case c.Viewer.User != nil:
		return c.restrictToUser(ctx, r, f, verb, ttl)
	case c.Viewer.Program:
		return nil
	}
	return status.Refusedf("Forbidden", "You are not logged in.")
}

// restrictToUser restricts a filter to the user's permissions. It waits at most authz.RecheckEvery for access
// reviews.
func (c *Checker) restrictToUser(
	ctx context.Context, r *resource.Resource, f *query.Filter, verb authz.Verb, ttl authz.DecisionTTL,
) error {
	ctx, cancel := context.WithTimeout(ctx, authz.RecheckEvery)
	defer cancel()
	all, err := c.deps.Guard.Allowed(ctx, c.subject, verb, r, "", f.Name, ttl)
	switch {
	case err != nil:
		return Unavailable(err)
	case all:
		return c.restrictByName(ctx, r, f, verb, ttl)
	case !r.Namespaced:
		return Forbidden(r, verb, f)
	}
	namespaces := f.Namespaces
	if len(namespaces) == 0 {
		known, err := c.deps.Namespaces(ctx)
		if err != nil {
			return err
		}
		if len(known) > authz.MaxReviewedNamespaces {
			return status.Refusedf("Forbidden", "You cannot %s %s in all namespaces, and there are more than %d "+
				"namespaces. Select namespaces with ns.", authz.VerbList, r.Plural(), authz.MaxReviewedNamespaces)
		}
		namespaces = known
	}
	allowed, err := CheckEach(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
		return c.deps.Guard.Allowed(ctx, c.subject, verb, r, ns, f.Name, ttl)
	})
	if err != nil {
		return Unavailable(err)
	}
	permitted := make([]string, 0, len(namespaces))
	for n, ns := range namespaces {
		if allowed[n] {
			permitted = append(permitted, ns)
		}
	}
	if len(permitted) == 0 {
		return Forbidden(r, verb, f)
	}
	f.RestrictToNamespaces(permitted, len(permitted) == len(namespaces))
	return nil
}

// restrictByName marks the filter of a subscription to one named object as restricted if the viewer may not watch all
// objects. The informer also watches the other objects, and messages must not reveal anything about them.
func (c *Checker) restrictByName(
	ctx context.Context, r *resource.Resource, f *query.Filter, verb authz.Verb, ttl authz.DecisionTTL,
) error {
	if f.Name == "" || verb != authz.VerbWatch {
		return nil
	}
	all, err := c.deps.Guard.Allowed(ctx, c.subject, verb, r, "", "", ttl)
	if err != nil {
		return Unavailable(err)
	}
	f.IsRestricted = f.IsRestricted || !all
	return nil
}

// CheckEach calls check for all items concurrently, and stops after an error. The results are in the order of items.
func CheckEach[T any](ctx context.Context, items []T, check func(context.Context, T) (bool, error)) ([]bool, error) {
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

// Unavailable returns the error for a failed access review. It returns context.Canceled unchanged.
func Unavailable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &status.Problem{
		Cause: status.Unavailable, Title: "Permissions unknown",
		Detail:       "The API server cannot check your permissions now: " + status.ReasonOf(err),
		PublicDetail: "The API server cannot check the permissions now.",
	}
}

// Forbidden returns the error for a user who does not have permission for verb in any namespace that the filter f
// includes.
func Forbidden(r *resource.Resource, verb authz.Verb, f *query.Filter) error {
	attributes := verb.Attributes(r, "", "")[0]
	target := r.Plural()
	if attributes.Subresource != "" {
		target = r.Resource + "/" + attributes.Subresource // RBAC rules name subresources in this form, such as pods/log.
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
	return status.Refusedf("Forbidden", "You cannot %s %s %s.", attributes.Verb, target, scopeText)
}

// Restrict restricts the filter f to what the share link shares. It returns a *Problem if nothing remains.
func (s *Scope) Restrict(r *resource.Resource, f *query.Filter, verb authz.Verb) error {
	ref := r.Ref()
	if verb == authz.VerbLog {
		ref += "/log"
	}
	at := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Resource == ref })
	if at < 0 {
		return NotShared()
	}
	p := &s.Parts[at]
	linkQuery := query.Query{Namespaces: p.Namespaces, Labels: p.Labels, Name: p.Name, Text: p.Text}
	linkFilter, err := query.NewFilter(&linkQuery, r)
	if err != nil {
		return fmt.Errorf("parse the scope of the link: %w", err)
	}
	if !f.RestrictToLink(linkFilter, p.Regarding) {
		return NotShared()
	}
	return nil
}

// NotShared returns the error for anything that the share link does not include.
func NotShared() error {
	return status.Refusedf("Forbidden", "The share link does not include the requested data.")
}
