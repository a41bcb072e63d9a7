// Package authz checks permissions of users, and of this program itself. The API server decides, by access reviews.
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
	// RecheckEvery is the interval between checks whether a viewer still has the permissions for a subscription, a log
	// stream or a long response.
	RecheckEvery = 10 * time.Second
	// RecheckTimeout is the maximum duration of one check of a viewer's permissions. Revoked permissions take effect
	// within 15 s, the sum of RecheckEvery (10 s), the age of a cached decision (2 s), and this timeout (3 s).
	RecheckTimeout = 3 * time.Second
	maxDecisions   = 20_000
	// MaxReviewedNamespaces is the maximum number of namespaces that are reviewed for a query that names none, if the
	// viewer has no permission for all namespaces. It is limited because each namespace needs its own access review.
	MaxReviewedNamespaces = 1000
	// QueryReviews is the maximum number of concurrent access reviews of one query.
	QueryReviews = 16
	userReviews  = 32
	allReviews   = 128
)

// DecisionTTL contains the maximum age of a cached decision that allows an action, and of one that denies it.
type DecisionTTL struct{ Allowed, Denied time.Duration }

// TTLRequest returns the maximum ages of cached decisions for a request that gets one short response.
func TTLRequest() DecisionTTL { return DecisionTTL{10 * time.Second, 10 * time.Second} }

// TTLOpen returns the maximum ages of cached decisions for the start of a stream. The age for Allowed is short, so that
// a revoked permission soon has an effect.
func TTLOpen() DecisionTTL { return DecisionTTL{TTLRecheck().Allowed, TTLRequest().Denied} }

// TTLRecheck returns the maximum ages of cached decisions for the checks during a stream. The field Denied is long, to
// save access reviews.
func TTLRecheck() DecisionTTL { return DecisionTTL{2 * time.Second, 45 * time.Second} }

func (d DecisionTTL) accepts(cached decision, reviewedAt time.Time) bool {
	maxAge := d.Denied
	if cached.allowed {
		maxAge = d.Allowed
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

// Attributes returns the attributes of the access reviews that an action needs. The action is allowed only if the API
// server allows all of them.
func (v Verb) Attributes(r *resource.Resource, namespace, name string) []authorization.ResourceAttributes {
	// Like the API server, treat a get of a Namespace object as a request inside that namespace, so that a Role in it can
	// allow the get. A list with the field selector metadata.name is not a request inside the namespace. The source is
	// NewRequestInfo in k8s.io/apiserver/pkg/endpoints/request.
	if v == VerbGet && r.Group == "" && r.Resource == resource.Namespaces().Resource {
		namespace = name
	}
	attributes := authorization.ResourceAttributes{
		Namespace: namespace, Verb: string(v), Group: r.Group, Version: r.Version, Resource: r.Resource, Name: name,
	}
	switch v {
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

// Guard checks the permissions of users by SubjectAccessReviews. If the API server does not decide, for example because
// a review fails, the action is not allowed.
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

// Subject is a user with the hash of User.Key. The hash is computed once, because one request can need reviews for many
// namespaces.
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

// decision is the result of one access review. A decision with an error is used only once, and not cached.
type decision struct {
	allowed bool
	err     error
}

// Allowed reports whether a user has all permissions for an action. An empty namespace or name means all namespaces or
// all names.
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
		return decision{
			err: fmt.Errorf("wait for other permission checks before checking the permission to %s %s: %w",
				attributes.Verb, attributes.Resource, err),
		}
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
		return decision{err: fmt.Errorf("check the permission to %s %s: %w", attributes.Verb, attributes.Resource, err)}
	}
	return decision{allowed: review.Status.Allowed && !review.Status.Denied}
}
