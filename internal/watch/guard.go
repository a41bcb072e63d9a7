package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"glasshouse/internal/limit"
)

const (
	// recheckEvery is the interval between rechecks of the permissions of a viewer who reads a Subscription, a log or a
	// response.
	recheckEvery = 10 * time.Second
	// recheckTimeout limits the duration of a recheck, because data is still sent during the recheck. With recheckEvery (10
	// s) and the maximum age of an allowed decision (2 s), a revoked permission takes effect within 15 s.
	recheckTimeout = 3 * time.Second
	// maxDecisions limits the number of cached decisions about users.
	maxDecisions = 20_000
	// maxReviewedNamespaces is the maximum number of namespaces that are checked one by one for a user without permission for all
	// namespaces.
	maxReviewedNamespaces = 1000
	// queryReviews limits the concurrent access reviews of one Query, userReviews those of one user, and allReviews
	// those of all users.
	queryReviews = 16
	userReviews  = 32
	allReviews   = 128
)

// decisionTTL is the maximum age of a cached decision, by its outcome.
type decisionTTL struct{ allowed, denied time.Duration }

// ttlRequest, ttlOpen and ttlRecheck return the maximum ages for a single request, for the start of a long-running
// read, and for its rechecks. A long-running read accepts only a young allowed decision, so that revoked data is not
// shown for long. Its rechecks accept an older denied decision, which saves access reviews.
func ttlRequest() decisionTTL { return decisionTTL{10 * time.Second, 10 * time.Second} }
func ttlOpen() decisionTTL    { return decisionTTL{ttlRecheck().allowed, ttlRequest().denied} }
func ttlRecheck() decisionTTL { return decisionTTL{2 * time.Second, 45 * time.Second} }

// accepts reports whether the cached decision cached is young enough to be reused. reviewedAt is the time of its review. A
// failed review is never reused.
func (a decisionTTL) accepts(cached decision, reviewedAt time.Time) bool {
	maxAge := a.denied
	if cached.allowed {
		maxAge = a.allowed
	}
	return cached.err == nil && time.Since(reviewedAt) < maxAge
}

// accessVerb is an action on objects that needs a permission.
type accessVerb string

// The actions of viewers.
const (
	verbList  accessVerb = "list"
	verbWatch accessVerb = "watch" // To watch objects, and to list them first.
	verbGet   accessVerb = "get"
	verbLog   accessVerb = "log" // To get the logs of pods.
)

// attributes returns the attributes of the access reviews for an action. A get of a Namespace by name is authorized in
// the namespace of that name, so that a Role in it can allow the get. A list or watch with a metadata.name field
// selector is authorized at the cluster scope, because its path contains no namespace (NewRequestInfo in
// k8s.io/apiserver/pkg/endpoints/request).
func (d accessVerb) attributes(r *Resource, namespace, name string) []authorization.ResourceAttributes {
	if d == verbGet && r.Group == "" && r.Resource == namespaceResource().Resource {
		namespace = name
	}
	attributes := authorization.ResourceAttributes{
		Namespace: namespace, Verb: string(d), Group: r.Group, Version: r.Version, Resource: r.Resource, Name: name,
	}
	switch d {
	case verbWatch:
		list := attributes
		list.Verb = string(verbList)
		return []authorization.ResourceAttributes{list, attributes}
	case verbLog:
		attributes.Verb, attributes.Subresource = string(verbGet), "log"
	case verbList, verbGet:
	}
	return []authorization.ResourceAttributes{attributes}
}

// guard checks what users may do, by SubjectAccessReviews, which the API server does not store. An action without a
// decision is not allowed.
type guard struct {
	client    authorizationclient.SubjectAccessReviewInterface
	limiter   *limit.Limiter // Limits reviews in progress.
	decisions flightCache[accessKey, decision]
}

func newGuard(client authorizationclient.SubjectAccessReviewInterface) guard {
	return guard{
		client:    client,
		limiter:   new(limit.Limiter),
		decisions: flightCache[accessKey, decision]{maxEntries: maxDecisions, maxAge: ttlRecheck().denied},
	}
}

// userHash is the hash of User.key.
type userHash [sha256.Size]byte

// subject is a user with the hash of their key. The hash is computed once, because many namespaces may need a review.
type subject struct {
	*User

	hash userHash
}

// accessKey is the cache key of a decision: may this user do this?
type accessKey struct {
	user userHash
	authorization.ResourceAttributes
}

// decision is a decision. An error goes only to the callers that waited for this review; later callers repeat the review.
type decision struct {
	allowed bool
	err     error
}

// allowed reports whether a user may do everything that an action needs. name limits the check to one object, and namespace
// limits it to one namespace; "" means all. ttl is the maximum age of cached decisions.
func (g *guard) allowed(ctx context.Context, u subject, verb accessVerb, r *Resource, namespace, name string, ttl decisionTTL) (bool, error) {
	for _, attributes := range verb.attributes(r, namespace, name) {
		result, ok := g.decisions.get(ctx, accessKey{u.hash, attributes}, ttl.accepts, func(ctx context.Context) decision {
			return g.review(ctx, u, attributes)
		})
		if !ok {
			return false, ctx.Err()
		}
		if !result.allowed {
			return false, result.err
		}
	}
	return true, nil
}

func (g *guard) review(ctx context.Context, u subject, attributes authorization.ResourceAttributes) decision {
	lease, err := g.limiter.Acquire(
		ctx, 1,
		limit.Limit{Key: "user " + string(u.hash[:]), Max: userReviews},
		limit.Limit{Key: "all", Max: allReviews},
	)
	if err != nil {
		return decision{err: fmt.Errorf("wait for the access review of %s %s: %w", attributes.Verb, attributes.Resource, err)}
	}
	defer lease.Release()
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	spec := authorization.SubjectAccessReviewSpec{User: u.Name, UID: u.UID, Groups: u.Groups, ResourceAttributes: &attributes}
	for name, values := range u.Extra {
		if spec.Extra == nil {
			spec.Extra = make(map[string]authorization.ExtraValue)
		}
		spec.Extra[name] = values
	}
	review, err := g.client.Create(ctx, &authorization.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return decision{err: fmt.Errorf("access review of %s %s: %w", attributes.Verb, attributes.Resource, err)}
	}
	return decision{allowed: review.Status.Allowed && !review.Status.Denied}
}

// restrict restricts a filter to the objects on which the viewer may perform the action. It returns a *Problem: Refused
// if no objects remain, with the same text whether such objects exist or not, and Unavailable if there is no decision.
func (a *Access) restrict(ctx context.Context, r *Resource, f *filter, verb accessVerb, ttl decisionTTL) error {
	if f.isGuest = a.viewer.Scope != nil; f.isGuest {
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
	return &Problem{Cause: Refused, Title: "Forbidden", Detail: "You are not logged in."}
}

// restrictToUser restricts a filter to what the viewer's user may see. It takes at most recheckEvery, the interval of rechecks.
func (a *Access) restrictToUser(ctx context.Context, r *Resource, f *filter, verb accessVerb, ttl decisionTTL) error {
	ctx, cancel := context.WithTimeout(ctx, recheckEvery)
	defer cancel()
	all, err := a.cluster.guard.allowed(ctx, a.subject, verb, r, "", f.name, ttl)
	switch {
	case err != nil:
		return errAuthzUnavailable(err)
	case all:
		return a.restrictByName(ctx, r, f, verb, ttl)
	case !r.Namespaced:
		return errForbidden(r, verb, f)
	}
	namespaces := f.namespaces
	if len(namespaces) == 0 {
		known, err := a.cluster.knownNamespaces(ctx)
		if err != nil {
			return err
		}
		if len(known) > maxReviewedNamespaces {
			return &Problem{
				Cause: Refused,
				Title: "Forbidden",
				Detail: fmt.Sprintf(
					"You cannot %s %s in all namespaces, and there are more than %d namespaces. "+
						"Select namespaces with ns.",
					verbList, r.Resource, maxReviewedNamespaces,
				),
			}
		}
		namespaces = known
	}
	allowed, err := checkEach(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
		return a.cluster.guard.allowed(ctx, a.subject, verb, r, ns, f.name, ttl)
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
	f.isPartial = f.isPartial || len(permitted) < len(namespaces) || len(f.namespaces) == 0
	if len(f.namespaces) == 0 {
		f.permittedNamespaces = permitted
	}
	f.namespaces, f.isRestricted = permitted, true
	f.named = intersect(f.named, permitted)
	return nil
}

// restrictByName marks a subscription to one named object as restricted if the viewer may not see all objects. Other
// objects share its informer, and nothing about them may be revealed.
func (a *Access) restrictByName(ctx context.Context, r *Resource, f *filter, verb accessVerb, ttl decisionTTL) error {
	if f.name == "" || verb != verbWatch {
		return nil
	}
	all, err := a.cluster.guard.allowed(ctx, a.subject, verb, r, "", "", ttl)
	if err != nil {
		return errAuthzUnavailable(err)
	}
	f.isRestricted = f.isRestricted || !all
	return nil
}

// checkEach calls check for each item concurrently, until one call returns an error. The results are in the order of the
// items. They are false for items that were not checked.
func checkEach[T any](ctx context.Context, items []T, check func(context.Context, T) (bool, error)) ([]bool, error) {
	allowed := make([]bool, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(queryReviews)
	for n, item := range items {
		group.Go(func() (err error) {
			allowed[n], err = check(ctx, item)
			return err
		})
	}
	return allowed, group.Wait()
}

// intersect returns the namespaces that are in both some and others. others must be sorted.
func intersect(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(ns string) bool {
		_, ok := slices.BinarySearch(others, ns)
		return !ok
	})
}

func errAuthzUnavailable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &Problem{
		Cause: Unavailable, Title: "Permissions unknown",
		Detail:       "The API server cannot check your permissions now: " + reasonOf(err),
		PublicDetail: "The API server cannot check the permissions now.",
	}
}

// errForbidden returns the error for a viewer who may see none of the objects that a filter selects.
func errForbidden(r *Resource, verb accessVerb, f *filter) error {
	attributes := verb.attributes(r, "", "")[0]
	target := r.gvr().GroupResource().String()
	if attributes.Subresource != "" {
		target += "/" + attributes.Subresource
	}
	scopeText := "at the cluster scope"
	switch {
	case len(f.namespaces) == 1:
		scopeText = fmt.Sprintf("in the namespace %q", f.namespaces[0])
	case len(f.namespaces) > 1:
		scopeText = "in any of the namespaces"
	case r.Namespaced:
		scopeText = "in all namespaces, nor in any known namespace"
	}
	return &Problem{
		Cause: Refused, Title: "Forbidden", Detail: fmt.Sprintf("You cannot %s %s %s.", attributes.Verb, target, scopeText),
	}
}

// restrict restricts the filter f for the resource r to what the link shares. It returns a *Problem if the link shares
// nothing that f selects.
func (s *Scope) restrict(r *Resource, f *filter, verb accessVerb) error {
	ref := r.Ref()
	if verb == verbLog {
		ref += "/log"
	}
	at := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Resource == ref })
	if at < 0 {
		return notShared()
	}
	p := &s.Parts[at]
	linkFilter, err := newFilter(&Query{Namespaces: p.Namespaces, Labels: p.Labels, Name: p.Name, Text: p.Text}, r)
	if err != nil {
		return fmt.Errorf("parse the scope of the link: %w", err)
	}
	f.isRestricted = true
	f.isPartial = f.isPartial || linkFilter.selector != nil || linkFilter.name != "" || len(linkFilter.words) > 0 || p.Regarding != ""
	if len(linkFilter.namespaces) > 0 {
		requested := f.namespaces
		f.isPartial = f.isPartial || len(requested) == 0
		f.namespaces = linkFilter.namespaces
		if len(requested) > 0 {
			f.namespaces = intersect(requested, linkFilter.namespaces)
			f.isPartial = f.isPartial || len(f.namespaces) < len(requested)
		}
		f.named = f.namespaces
	}
	if len(linkFilter.namespaces) > 0 && len(f.namespaces) == 0 || linkFilter.name != "" && f.name != "" && linkFilter.name != f.name {
		return notShared()
	}
	if linkFilter.name != "" {
		f.name = linkFilter.name
	}
	f.selector = f.selector.and(linkFilter.selector)
	f.requiredWords, f.regarding = slices.Concat(f.requiredWords, linkFilter.words), p.Regarding
	return nil
}

func notShared() error {
	return &Problem{Cause: Refused, Title: "Forbidden", Detail: "This is not shared with you."}
}
