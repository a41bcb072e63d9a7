package authz

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

const (
	// ReviewEvery is the interval between reviews of this program's own permissions. It is also the delay before a list
	// that failed is sent again.
	ReviewEvery = 10 * time.Second
	// ReviewTimeout is the maximum duration of one access review.
	ReviewTimeout    = 5 * time.Second
	maxCachedResults = 1000
)

// Permissions are this program's own permissions to list and watch a resource in one or all namespaces.
type Permissions struct {
	List, Watch bool
	Reason      string // why the field List is false
}

// Reviewer checks this program's own permissions by SelfSubjectAccessReviews and SelfSubjectRulesReviews.
type Reviewer struct {
	client    authorizationclient.SelfSubjectAccessReviewInterface
	rules     authorizationclient.SelfSubjectRulesReviewInterface
	decisions *flight.Cache[authorization.ResourceAttributes, decision]
	// resourceRules contains the RBAC rules of this program by namespace.
	resourceRules *flight.Cache[string, resourceRules]
	// incompleteUntil is a Unix time. Until then, RBAC rules are ignored, because a rules review was refused or
	// incomplete.
	incompleteUntil atomic.Int64

	Allowed, Denied atomic.Int64 // current numbers of allowed and denied namespaces, summed over all resources
}

// NewReviewer returns a Reviewer that uses client.
func NewReviewer(client authorizationclient.AuthorizationV1Interface) *Reviewer {
	return &Reviewer{
		client: client.SelfSubjectAccessReviews(), rules: client.SelfSubjectRulesReviews(),
		decisions: flight.New[authorization.ResourceAttributes, decision](
			maxCachedResults, TTLRecheck().Denied,
		),
		resourceRules: flight.New[string, resourceRules](maxResourceRules, resourceRulesMaxAge),
	}
}

// Review returns this program's permissions for the objects of a scope. previous is the result of the last review. It
// makes some requests unnecessary. An error means that the permissions are unknown.
func (r *Reviewer) Review(ctx context.Context, scope listwatch.Scope, previous Permissions) (Permissions, error) {
	if previous.List && scope.Namespace != "" {
		if byRules := r.permissionsByRules(ctx, scope); byRules.List {
			return byRules, nil
		}
	}
	list, err := r.reviewVerb(ctx, scope, "list")
	if err != nil || !list.Allowed {
		return Permissions{Reason: cmp.Or(list.Reason, "No RBAC rule allows it.")}, err
	}
	// If the previous review permitted both, review only the verb list. A revocation of the verb watch alone hides no
	// objects from the program, because a watch shows only objects that a list shows, too.
	if previous.List && previous.Watch && scope.Namespace != "" {
		return previous, nil
	}
	watch, err := r.reviewVerb(ctx, scope, "watch")
	return Permissions{List: true, Watch: watch.Allowed}, err
}

func (r *Reviewer) reviewVerb(
	ctx context.Context, scope listwatch.Scope, verb string,
) (authorization.SubjectAccessReviewStatus, error) {
	return r.sendReview(ctx, authorization.ResourceAttributes{
		Namespace: scope.Namespace, Verb: verb,
		Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource,
	})
}

// Allows reports whether this program can perform an action on one object. It sends up to two self-reviews: for all
// objects, and then by name. If one fails, Allows returns true: the API server then decides when the program sends the
// request for the action.
func (r *Reviewer) Allows(
	ctx context.Context, verb Verb, resource *resource.Resource, namespace, name string, ttl DecisionTTL,
) bool {
	for _, name := range []string{"", name} { // Review all objects ("") first: permissions for one name are rare.
		attributes := verb.Attributes(resource, namespace, name)[0]
		result, _ := r.decisions.Get(ctx, attributes, ttl.accepts, func(ctx context.Context) decision {
			status, err := r.sendReview(ctx, attributes)
			return decision{status.Allowed, err}
		})
		if result.allowed || result.err != nil {
			return true
		}
	}
	return ctx.Err() != nil
}

// AwaitLogRevoked waits until this program has lost the permission to read a pod's log. A review that fails does not
// end the wait.
func (r *Reviewer) AwaitLogRevoked(ctx context.Context, namespace, pod string) {
	for range signal.Ticks(ctx, ReviewEvery) {
		review, err := r.sendReview(ctx, authorization.ResourceAttributes{
			Namespace: namespace, Verb: "get", Version: "v1", Resource: "pods", Subresource: "log", Name: pod,
		})
		if err == nil && !review.Allowed {
			return
		}
	}
}

func (r *Reviewer) sendReview(
	ctx context.Context, attributes authorization.ResourceAttributes,
) (authorization.SubjectAccessReviewStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, ReviewTimeout)
	defer cancel()
	review, err := r.client.Create(ctx, &authorization.SelfSubjectAccessReview{
		Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
	}, metav1.CreateOptions{})
	if err != nil {
		return authorization.SubjectAccessReviewStatus{}, fmt.Errorf(
			"review the permission to %s %s: %w", attributes.Verb, attributes.Resource, err,
		)
	}
	return review.Status, nil
}
