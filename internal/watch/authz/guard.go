// Package authz checks permissions of users, and of this program itself, by access reviews of the API server.
package authz

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/limit"
)

const (
	// RecheckEvery is the interval between permission checks during a subscription, a log stream or a long response.
	RecheckEvery = 10 * time.Second
	// RecheckTimeout limits one recheck. Revoked permissions take effect within 15 s: RecheckEvery, 2 s for cached
	// decisions, and this timeout.
	RecheckTimeout = 3 * time.Second
	maxDecisions   = 20_000
	// MaxReviewedNamespaces is the maximum number of namespaces of one query. Each namespace needs its own access review.
	MaxReviewedNamespaces = 1000
	// QueryReviews is the maximum number of concurrent access reviews of one query.
	QueryReviews = 16
	userReviews  = 32
	allReviews   = 128
)

// DecisionTTL contains the maximum ages of cached decisions that allow or deny an action.
type DecisionTTL struct{ Allowed, Denied time.Duration }

// TTLRequest returns the maximum ages of decisions for a request with a single response.
func TTLRequest() DecisionTTL { return DecisionTTL{10 * time.Second, 10 * time.Second} }

// TTLOpen returns the maximum ages of decisions for the start of a stream. Allowed is short, because revoked
// permissions must take effect soon.
func TTLOpen() DecisionTTL { return DecisionTTL{TTLRecheck().Allowed, TTLRequest().Denied} }

// TTLRecheck returns the maximum ages of decisions for rechecks during a stream. Denied is long, which saves access
// reviews.
func TTLRecheck() DecisionTTL { return DecisionTTL{2 * time.Second, 45 * time.Second} }

func (a DecisionTTL) accepts(cached decision, reviewedAt time.Time) bool {
	maxAge := a.Denied
	if cached.allowed {
		maxAge = a.Allowed
	}
	return cached.err == nil && time.Since(reviewedAt) < maxAge
}

// Verb is an action for which a viewer needs a permission.
type Verb string

// The actions for which viewers need a permission.
const (
	VerbList  Verb = "list"
	VerbWatch Verb = "watch" // needs the permissions list and watch
	VerbGet   Verb = "get"
	VerbLog   Verb = "log" // needs the permission get on the subresource log
)

// Attributes returns the attributes of the access reviews for an action. The API server must allow all of them.
func (d Verb) Attributes(r *resource.Resource, namespace, name string) []authorization.ResourceAttributes {
	// Like the API server, treat a get of a Namespace as a request in that Namespace, so a Role in it can allow the get. A
	// list with the field selector metadata.name is not a request in that Namespace. The source is NewRequestInfo in
	// k8s.io/apiserver/pkg/endpoints/request.
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

// Guard checks the permissions of users by SubjectAccessReviews. Without a decision of the API server, an action is
// not allowed.
type Guard struct {
	client    authorizationclient.SubjectAccessReviewInterface
	limiter   *limit.Limiter
	decisions *flight.Cache[accessKey, decision]
}

// NewGuard returns a Guard that uses client.
func NewGuard(client authorizationclient.SubjectAccessReviewInterface) Guard {
	return Guard{
		client:    client,
		limiter:   new(limit.Limiter),
		decisions: flight.New[accessKey, decision](maxDecisions, TTLRecheck().Denied),
	}
}

// UserHash is the SHA-256 hash of User.Key.
type UserHash [sha256.Size]byte

// Subject is a user with a precomputed hash, because one request can need reviews for many namespaces.
type Subject struct {
	*User

	hash UserHash
}

// NewSubject returns a user as the subject of access reviews.
func NewSubject(user *User) Subject { return Subject{user, sha256.Sum256([]byte(user.Key()))} }

type accessKey struct {
	user UserHash
	authorization.ResourceAttributes
}

// decision is the result of one access review. Decisions with an error are not cached.
type decision struct {
	allowed bool
	err     error
}

// Allowed reports whether a user has all permissions for an action. An empty namespace or name means all.
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
