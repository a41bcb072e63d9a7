// Package authz decides what users, and the program itself, can do in the cluster. The API server makes each decision.
package authz

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"glasshouse/internal/flight"
	"glasshouse/internal/watch/resource"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"glasshouse/internal/limit"
)

const (
	// RecheckEvery is the interval between rechecks of the permissions of a viewer who reads a Subscription, a log or a
	// response.
	RecheckEvery = 10 * time.Second
	// RecheckTimeout limits the duration of a recheck, because data is still sent during the recheck. With RecheckEvery
	// (10 s) and the maximum age of an allowed decision (2 s), a revoked permission takes effect within 15 s.
	RecheckTimeout = 3 * time.Second
	// maxDecisions limits the number of cached decisions about users.
	maxDecisions = 20_000
	// MaxReviewedNamespaces is the maximum number of namespaces that are checked one by one for a user without permission
	// for all namespaces.
	MaxReviewedNamespaces = 1000
	// QueryReviews limits the concurrent access reviews of one Query, userReviews those of one user, and allReviews
	// those of all users.
	QueryReviews = 16
	userReviews  = 32
	allReviews   = 128
)

// DecisionTTL is the maximum age of a cached decision, by its outcome.
type DecisionTTL struct{ Allowed, Denied time.Duration }

// TTLRequest returns the maximum ages for a single request.
func TTLRequest() DecisionTTL { return DecisionTTL{10 * time.Second, 10 * time.Second} }

// TTLOpen returns the maximum ages for the start of a long-running read. It accepts only a young allowed decision, so
// that revoked data is not shown for long.
func TTLOpen() DecisionTTL { return DecisionTTL{TTLRecheck().Allowed, TTLRequest().Denied} }

// TTLRecheck returns the maximum ages for the rechecks of a long-running read. They accept an older denied decision,
// which saves access reviews.
func TTLRecheck() DecisionTTL { return DecisionTTL{2 * time.Second, 45 * time.Second} }

// accepts reports whether the cached decision cached is young enough to be reused. reviewedAt is the time of its
// review. A failed review is never reused.
func (a DecisionTTL) accepts(cached decision, reviewedAt time.Time) bool {
	maxAge := a.Denied
	if cached.allowed {
		maxAge = a.Allowed
	}
	return cached.err == nil && time.Since(reviewedAt) < maxAge
}

// Verb is an action on objects that needs a permission.
type Verb string

// The actions of viewers.
const (
	VerbList  Verb = "list"
	VerbWatch Verb = "watch" // To watch objects, and to list them first.
	VerbGet   Verb = "get"
	VerbLog   Verb = "log" // To get the logs of pods.
)

// Attributes returns the attributes of the access reviews for an action. A get of a Namespace by name is authorized in
// the namespace of that name, so that a Role in it can allow the get. A list or watch with a metadata.name field
// selector is authorized at the cluster scope, because its path contains no namespace (NewRequestInfo in
// k8s.io/apiserver/pkg/endpoints/request).
func (d Verb) Attributes(r *resource.Resource, namespace, name string) []authorization.ResourceAttributes {
	if d == VerbGet && r.Group == "" && r.Resource == resource.Namespaces().Resource {
		namespace = name
	}
	attributes := authorization.ResourceAttributes{
		Namespace: namespace, Verb: string(d), Group: r.Group, Version: r.Version, Resource: r.Resource, Name: name,
	}
	switch d {
	case VerbWatch:
		list := attributes
		list.Verb = string(VerbList)
		return []authorization.ResourceAttributes{list, attributes}
	case VerbLog:
		attributes.Verb, attributes.Subresource = string(VerbGet), "log"
	case VerbList, VerbGet:
	}
	return []authorization.ResourceAttributes{attributes}
}

// Guard checks what users may do, by SubjectAccessReviews, which the API server does not store. An action without a
// decision is not allowed.
type Guard struct {
	client    authorizationclient.SubjectAccessReviewInterface
	limiter   *limit.Limiter // Limits reviews in progress.
	decisions *flight.Cache[accessKey, decision]
}

// NewGuard returns a guard that sends its reviews with client.
func NewGuard(client authorizationclient.SubjectAccessReviewInterface) Guard {
	return Guard{
		client:    client,
		limiter:   new(limit.Limiter),
		decisions: flight.New[accessKey, decision](maxDecisions, TTLRecheck().Denied),
	}
}

// UserHash is the hash of User.Key.
type UserHash [sha256.Size]byte

// Subject is a user with the hash of their key. The hash is computed once, because many namespaces may need a review.
type Subject struct {
	*User

	hash UserHash
}

// NewSubject returns the subject of a user's access reviews.
func NewSubject(user *User) Subject { return Subject{user, sha256.Sum256([]byte(user.Key()))} }

// accessKey is the cache key of a decision: the user, and the action on a resource.
type accessKey struct {
	user UserHash
	authorization.ResourceAttributes
}

// decision is a decision. An error goes only to the callers that waited for this review; later callers repeat the
// review.
type decision struct {
	allowed bool
	err     error
}

// Allowed reports whether a user may do everything that an action needs. name limits the check to one object, and
// namespace limits it to one namespace; "" means all. ttl is the maximum age of cached decisions.
func (g *Guard) Allowed(
	ctx context.Context, u Subject, verb Verb, r *resource.Resource, namespace, name string, ttl DecisionTTL,
) (bool, error) {
	for _, attributes := range verb.Attributes(r, namespace, name) {
		result, ok := g.decisions.Get(ctx, accessKey{u.hash, attributes}, ttl.accepts, func(ctx context.Context) decision {
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

func (g *Guard) review(ctx context.Context, u Subject, attributes authorization.ResourceAttributes) decision {
	lease, err := g.limiter.Acquire(
		ctx, 1,
		limit.Limit{Key: "user " + string(u.hash[:]), Max: userReviews},
		limit.Limit{Key: "all", Max: allReviews},
	)
	if err != nil {
		return decision{err: fmt.Errorf("wait for the access review of %s %s: %w", attributes.Verb, attributes.Resource, err)}
	}
	defer lease.Release()
	ctx, cancel := context.WithTimeout(ctx, ReviewTimeout)
	defer cancel()
	spec := authorization.SubjectAccessReviewSpec{
		User:               u.Name,
		UID:                u.UID,
		Groups:             u.Groups,
		ResourceAttributes: &attributes,
	}
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
