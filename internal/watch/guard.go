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
	// lookEvery is the interval between rechecks of the permissions of a viewer who reads a Subscription, a log or a
	// response.
	lookEvery = 10 * time.Second
	// lookPatience limits the duration of a recheck, because data is still sent during the recheck. With lookEvery (10
	// s) and the maximum age of an allowed decision (2 s), a revoked permission takes effect within 15 s.
	lookPatience = 3 * time.Second
	// maxRights limits the number of cached decisions about users.
	maxRights = 20_000
	// maxLooked is the maximum number of namespaces that are checked one by one for a user without permission for all
	// namespaces.
	maxLooked = 1000
	// looksAtOnce limits the concurrent access reviews of one Query, userReviews those of one user, and allReviews
	// those of all users.
	looksAtOnce = 16
	userReviews = 32
	allReviews  = 128
)

// age is the maximum age of a cached decision, by its outcome.
type age struct{ allowed, denied time.Duration }

// askedOnce, askedFirst and askedAgain return the maximum ages for a single request, for the start of a long-running
// read, and for its rechecks. A long-running read accepts only a young allowed decision, so that revoked data is not
// shown for long. Its rechecks accept an older denied decision, which saves access reviews.
func askedOnce() age  { return age{10 * time.Second, 10 * time.Second} }
func askedFirst() age { return age{askedAgain().allowed, askedOnce().denied} }
func askedAgain() age { return age{2 * time.Second, 45 * time.Second} }

// good reports whether the cached decision answer is young enough to be reused. asked is the time of its review. A
// failed review is never reused.
func (a age) good(answer right, asked time.Time) bool {
	long := a.denied
	if answer.allowed {
		long = a.allowed
	}
	return answer.err == nil && time.Since(asked) < long
}

// deed is an action on objects that needs a permission.
type deed string

// The actions of viewers.
const (
	toList  deed = "list"
	toWatch deed = "watch" // To watch objects, and to list them first.
	toGet   deed = "get"
	toLog   deed = "log" // To get the logs of pods.
)

// attributes returns the attributes of the access reviews for an action. A get of a Namespace by name is authorized in
// the namespace of that name, so that a Role in it can allow the get. A list or watch with a metadata.name field
// selector is authorized at the cluster scope, because its path contains no namespace (NewRequestInfo in
// k8s.io/apiserver/pkg/endpoints/request).
func (d deed) attributes(r *Resource, namespace, name string) []authorization.ResourceAttributes {
	if d == toGet && r.Group == "" && r.Resource == namespaceResource().Resource {
		namespace = name
	}
	of := authorization.ResourceAttributes{
		Namespace: namespace, Verb: string(d), Group: r.Group, Version: r.Version, Resource: r.Resource, Name: name,
	}
	switch d {
	case toWatch:
		list := of
		list.Verb = string(toList)
		return []authorization.ResourceAttributes{list, of}
	case toLog:
		of.Verb, of.Subresource = string(toGet), "log"
	case toList, toGet:
	}
	return []authorization.ResourceAttributes{of}
}

// guard checks what users may do, by SubjectAccessReviews, which the API server does not store. An action without a
// decision is not allowed.
type guard struct {
	client  authorizationclient.SubjectAccessReviewInterface
	limiter *limit.Limiter // Limits reviews in progress.
	rights  answers[question, right]
}

func newGuard(client authorizationclient.SubjectAccessReviewInterface) guard {
	return guard{
		client:  client,
		limiter: new(limit.Limiter),
		rights:  answers[question, right]{most: maxRights, long: askedAgain().denied},
	}
}

// userHash is the hash of User.key.
type userHash [sha256.Size]byte

// asker is a user with the hash of their key. The hash is computed once, because many namespaces may need a review.
type asker struct {
	*User

	hash userHash
}

// question is the cache key of a decision: may this user do this?
type question struct {
	user userHash
	authorization.ResourceAttributes
}

// right is a decision. An error goes only to the callers that waited for this review; later callers repeat the review.
type right struct {
	allowed bool
	err     error
}

// may reports whether a user may do everything that an action needs. name limits the check to one object, and namespace
// limits it to one namespace; "" means all. old is the maximum age of cached decisions.
func (g *guard) may(ctx context.Context, u asker, d deed, r *Resource, namespace, name string, old age) (bool, error) {
	for _, of := range d.attributes(r, namespace, name) {
		answer, ok := g.rights.get(ctx, question{u.hash, of}, old.good, func(ctx context.Context) right {
			return g.review(ctx, u, of)
		})
		if !ok {
			return false, ctx.Err()
		}
		if !answer.allowed {
			return false, answer.err
		}
	}
	return true, nil
}

func (g *guard) review(ctx context.Context, u asker, of authorization.ResourceAttributes) right {
	lease, err := g.limiter.Acquire(
		ctx, 1,
		limit.Limit{Key: "user " + string(u.hash[:]), Max: userReviews},
		limit.Limit{Key: "all", Max: allReviews},
	)
	if err != nil {
		return right{err: fmt.Errorf("wait for the access review of %s %s: %w", of.Verb, of.Resource, err)}
	}
	defer lease.Release()
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	spec := authorization.SubjectAccessReviewSpec{User: u.Name, UID: u.UID, Groups: u.Groups, ResourceAttributes: &of}
	for name, values := range u.Extra {
		if spec.Extra == nil {
			spec.Extra = make(map[string]authorization.ExtraValue)
		}
		spec.Extra[name] = values
	}
	answer, err := g.client.Create(ctx, &authorization.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return right{err: fmt.Errorf("access review of %s %s: %w", of.Verb, of.Resource, err)}
	}
	return right{allowed: answer.Status.Allowed && !answer.Status.Denied}
}

// narrow restricts a filter to the objects on which the viewer may perform the action. It returns a *Problem: Refused
// if no objects remain, with the same text whether such objects exist or not, and Unavailable if there is no decision.
func (a *Access) narrow(ctx context.Context, r *Resource, f *filter, d deed, old age) error {
	if f.shared = a.viewer.Scope != nil; f.shared {
		if err := a.viewer.Scope.narrow(r, f, d); err != nil {
			return err
		}
	}
	switch {
	case a.viewer.User != nil:
		return a.narrowTo(ctx, r, f, d, old)
	case a.viewer.Program:
		return nil
	}
	return &Problem{Cause: Refused, Title: "Forbidden", Detail: "You are not logged in."}
}

// narrowTo restricts a filter to what the viewer's user may see. It takes at most lookEvery, the interval of rechecks.
func (a *Access) narrowTo(ctx context.Context, r *Resource, f *filter, d deed, old age) error {
	ctx, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	all, err := a.cluster.guard.may(ctx, a.user, d, r, "", f.name, old)
	switch {
	case err != nil:
		return unsure(err)
	case all:
		return a.narrowByName(ctx, r, f, d, old)
	case !r.Namespaced:
		return refused(r, d, f)
	}
	namespaces := f.namespaces
	if len(namespaces) == 0 {
		known, err := a.cluster.knownNamespaces(ctx)
		if err != nil {
			return err
		}
		if len(known) > maxLooked {
			return &Problem{
				Cause: Refused,
				Title: "Forbidden",
				Detail: fmt.Sprintf(
					"You cannot %s %s in all namespaces, and there are more than %d namespaces. "+
						"Select namespaces with ns.",
					toList, r.Resource, maxLooked,
				),
			}
		}
		namespaces = known
	}
	allowed, err := several(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
		return a.cluster.guard.may(ctx, a.user, d, r, ns, f.name, old)
	})
	if err != nil {
		return unsure(err)
	}
	seen := make([]string, 0, len(namespaces))
	for n, ns := range namespaces {
		if allowed[n] {
			seen = append(seen, ns)
		}
	}
	if len(seen) == 0 {
		return refused(r, d, f)
	}
	f.part = f.part || len(seen) < len(namespaces) || len(f.namespaces) == 0
	if len(f.namespaces) == 0 {
		f.reach = seen
	}
	f.namespaces, f.hides = seen, true
	f.named = common(f.named, seen)
	return nil
}

// narrowByName marks a subscription to one named object as restricted if the viewer may not see all objects. Other
// objects share its informer, and nothing about them may be revealed.
func (a *Access) narrowByName(ctx context.Context, r *Resource, f *filter, d deed, old age) error {
	if f.name == "" || d != toWatch {
		return nil
	}
	all, err := a.cluster.guard.may(ctx, a.user, d, r, "", "", old)
	if err != nil {
		return unsure(err)
	}
	f.hides = f.hides || !all
	return nil
}

// several calls may for each item concurrently, until one call returns an error. The results are in the order of the
// items. They are false for items that were not checked.
func several[T any](ctx context.Context, of []T, may func(context.Context, T) (bool, error)) ([]bool, error) {
	allowed := make([]bool, len(of))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(looksAtOnce)
	for n, it := range of {
		asking.Go(func() (err error) {
			allowed[n], err = may(ctx, it)
			return err
		})
	}
	return allowed, asking.Wait()
}

// common returns the namespaces that are in both some and others. others must be sorted.
func common(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(ns string) bool {
		_, ok := slices.BinarySearch(others, ns)
		return !ok
	})
}

func unsure(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &Problem{
		Cause: Unavailable, Title: "Permissions unknown",
		Detail: "The API server cannot check your permissions now: " + reasonOf(err),
		Brief:  "The API server cannot check the permissions now.",
	}
}

// refused returns the error for a viewer who may see none of the objects that a filter selects.
func refused(r *Resource, d deed, f *filter) error {
	of := d.attributes(r, "", "")[0]
	what := r.gvr().GroupResource().String()
	if of.Subresource != "" {
		what += "/" + of.Subresource
	}
	where := "at the cluster scope"
	switch {
	case len(f.namespaces) == 1:
		where = fmt.Sprintf("in the namespace %q", f.namespaces[0])
	case len(f.namespaces) > 1:
		where = "in any of the namespaces"
	case r.Namespaced:
		where = "in all namespaces, nor in any known namespace"
	}
	return &Problem{
		Cause: Refused, Title: "Forbidden", Detail: fmt.Sprintf("You cannot %s %s %s.", of.Verb, what, where),
	}
}

// narrow restricts the filter f for the resource r to what the link shares. It returns a *Problem if the link shares
// nothing that f selects.
func (s *Scope) narrow(r *Resource, f *filter, d deed) error {
	ref := r.Ref()
	if d == toLog {
		ref += "/log"
	}
	at := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Resource == ref })
	if at < 0 {
		return notShared()
	}
	p := &s.Parts[at]
	limit, err := newFilter(&Query{Namespaces: p.Namespaces, Labels: p.Labels, Name: p.Name, Text: p.Text}, r)
	if err != nil {
		return fmt.Errorf("parse the scope of the link: %w", err)
	}
	f.hides = true
	f.part = f.part || limit.selector != nil || limit.name != "" || len(limit.words) > 0 || p.About != ""
	if len(limit.namespaces) > 0 {
		asked := f.namespaces
		f.part = f.part || len(asked) == 0
		f.namespaces = limit.namespaces
		if len(asked) > 0 {
			f.namespaces = common(asked, limit.namespaces)
			f.part = f.part || len(f.namespaces) < len(asked)
		}
		f.named = f.namespaces
	}
	if len(limit.namespaces) > 0 && len(f.namespaces) == 0 || limit.name != "" && f.name != "" && limit.name != f.name {
		return notShared()
	}
	if limit.name != "" {
		f.name = limit.name
	}
	f.selector = f.selector.and(limit.selector)
	f.bound, f.about = slices.Concat(f.bound, limit.words), p.About
	return nil
}

func notShared() error {
	return &Problem{Cause: Refused, Title: "Forbidden", Detail: "This is not shared with you."}
}
