// Package permit decides what a viewer may read, and checks this again while a response is sent.
//
// An error must not reveal whether something exists that the viewer may not read.
package permit

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"k8s.io/apimachinery/pkg/fields"
)

// Deps is what all Checkers of a cluster share.
type Deps struct {
	Guard   authz.Guard     // Reviews the permissions of users.
	Reviews *authz.Reviewer // Reviews the permissions of this program.
	Redact  redact.Rules    // The values that are masked for all viewers.
	// Find returns the resource with a ref, such as "apps/v1/deployments".
	Find func(ctx context.Context, ref string) (*resource.Resource, error)
	// InheritsVerdicts means that objects can have verdicts from objects of other resources.
	InheritsVerdicts bool
	// Namespaces returns the namespaces for which a user's permissions are reviewed.
	Namespaces func(context.Context) ([]string, error)
	Forbidden  *ForbiddenCache
}

// A Checker checks what one viewer may read.
type Checker struct {
	Viewer       Viewer
	Revalidation *Revalidation // The recorded permissions on which a response depends; nil: not recorded.
	deps         *Deps
	subject      authz.Subject
}

// New returns a Checker for the viewer.
func New(viewer Viewer, deps *Deps) Checker {
	c := Checker{Viewer: viewer, deps: deps}
	if viewer.User != nil {
		c.subject = authz.NewSubject(viewer.User)
	}
	return c
}

// Resource returns the resource with a ref, such as "apps/v1/deployments".
func (c *Checker) Resource(ctx context.Context, ref string) (*resource.Resource, error) {
	if c.Viewer.Scope != nil &&
		!slices.ContainsFunc(c.Viewer.Scope.Parts, func(p Part) bool { return p.Resource == ref }) {
		return nil, NotShared() // Do not reveal whether the resource exists.
	}
	return c.deps.Find(ctx, ref)
}

// Filter returns a filter for what the viewer may see. It returns an error if access reviews deny the query or fail.
func (c *Checker) Filter(
	ctx context.Context, q *query.Query, resource *resource.Resource, verb authz.Verb, ttl authz.DecisionTTL,
) (*query.Filter, error) {
	filter, err := query.NewFilter(q, resource)
	if err != nil {
		return nil, err
	}
	if err := c.checkMasked(filter.Fields, resource); err != nil {
		return nil, err
	}
	if err := c.Restrict(ctx, resource, filter, verb, ttl); err != nil {
		return filter, err
	}
	return filter, c.restrictCauses(ctx, filter, ttl)
}

// checkMasked returns an error for a field selector on a masked field. With such a selector, a user could find out the
// masked value by trial.
func (c *Checker) checkMasked(selector string, r *resource.Resource) error {
	rules := c.deps.Redact
	if c.Viewer.IsMasked() {
		rules = append(slices.Clone(rules), redact.GuestRules()...)
	}
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return nil //nolint:nilerr // Ignore this error: NewFilter returns it.
	}
	for _, requirement := range parsed.Requirements() {
		if rules.MayMask(r.Group, r.Resource, strings.Split(strings.TrimPrefix(requirement.Field, "."), ".")) {
			return status.Refusedf("Masked field", "The field %s of %s is masked, so field selectors cannot use it.",
				requirement.Field, r.Plural())
		}
	}
	return nil
}

// ReviewsTimeout is the time limit for the access reviews of all resources together.
const ReviewsTimeout = 2 * time.Second

// CanSeeAll reports for each resource whether the viewer may see all objects. A failed or late review means false.
func (c *Checker) CanSeeAll(ctx context.Context, resources []*resource.Resource) []bool {
	if c.Viewer.User == nil || c.Viewer.Scope != nil {
		return slices.Repeat([]bool{c.Viewer.Program && c.Viewer.Scope == nil}, len(resources))
	}
	ctx, cancel := context.WithTimeout(ctx, ReviewsTimeout)
	defer cancel()
	// Ignore the error, because the result of a failed review is false.
	all, _ := CheckEach(ctx, resources, func(ctx context.Context, r *resource.Resource) (bool, error) {
		return c.deps.Guard.Allowed(ctx, c.subject, authz.VerbWatch, r, "", "", authz.TTLRequest())
	})
	for n, r := range resources {
		if all[n] {
			c.Record(r, &query.Filter{}, authz.VerbWatch)
		}
	}
	return all
}

const podLogsRef = "core/v1/pods/log"

// Authorize returns an error if the viewer may read nothing of the query's result, or may not read one of the
// namespaces that the query names. The error contains the reason.
func (c *Checker) Authorize(ctx context.Context, q query.Query) error {
	verb := authz.VerbList
	if q.Name != "" {
		verb = authz.VerbGet
	}
	return c.authorize(ctx, q, verb)
}

func (c *Checker) authorize(ctx context.Context, q query.Query, verb authz.Verb) error {
	resource, err := c.Resource(ctx, q.Resource)
	if err != nil {
		return err
	}
	permitted, err := c.Filter(ctx, &q, resource, verb, authz.TTLRequest())
	if err != nil {
		return err
	}
	for _, ns := range q.Namespaces {
		if !slices.Contains(permitted.Namespaces, ns) {
			return Forbidden(resource, verb, &query.Filter{Namespaces: []string{ns}})
		}
	}
	return nil
}

// AuthorizeShare returns an error if the scope is invalid, or if the viewer may not read everything in it.
func (c *Checker) AuthorizeShare(ctx context.Context, s *Scope) error {
	for n := range s.Parts {
		p := &s.Parts[n]
		if slices.ContainsFunc(s.Parts[:n], func(other Part) bool { return other.Resource == p.Resource }) {
			return status.Invalidf("Duplicate resource",
				"The resource %.100q is in two parts; combine them to one part with several namespaces.", p.Resource)
		}
		if err := c.authorizePart(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) authorizePart(ctx context.Context, p *Part) error {
	q := query.Query{Resource: p.Resource, Namespaces: p.Namespaces, Labels: p.Labels, Name: p.Name, Text: p.Text}
	verb := authz.VerbList
	switch {
	case p.Resource == podLogsRef:
		q.Resource, verb = strings.TrimSuffix(podLogsRef, "/log"), authz.VerbLog
	case p.Name != "":
		verb = authz.VerbGet
	}
	resource, err := c.Resource(ctx, q.Resource)
	if err != nil {
		return err
	}
	if p.Name != "" && resource.Namespaced && len(p.Namespaces) != 1 {
		return status.Invalidf("Invalid object reference",
			"%s are namespaced: a part with a name needs exactly one namespace.", resource.Plural())
	}
	if p.Regarding != "" && !query.IsValidRegarding(resource, p.Regarding) {
		return status.Invalidf("Invalid object reference",
			"The value of about is %.100q, but about is only for events, and must be the kind, group and name of "+
				"an object, such as pod.core/web-1 or deployment.apps/web, or pod/web-1 for any group.", p.Regarding)
	}
	return c.authorize(ctx, q, verb)
}
