package authz

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"glasshouse/internal/flight"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/signal"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"glasshouse/internal/watch/listwatch"
)

const (
	// ReviewEvery is the interval between two reviews of this program's permissions on a watched resource. A failed
	// list is retried after the same time.
	ReviewEvery = 10 * time.Second
	// ReviewTimeout is the maximum duration of one access review.
	ReviewTimeout = 5 * time.Second
	// maxCachedResults is the maximum number of cached decisions about this program's access to single objects.
	maxCachedResults = 1000
)

// Permissions are this program's own permissions to list and watch a scope (a resource in one or all namespaces).
type Permissions struct {
	List, Watch bool
	Reason      string // why the permission to list is denied
}

// Reviewer checks this program's own permissions by SelfSubjectAccessReviews and SelfSubjectRulesReviews. The API
// server does not store these reviews.
type Reviewer struct {
	client    authorizationclient.SelfSubjectAccessReviewInterface
	rules     authorizationclient.SelfSubjectRulesReviewInterface
	decisions *flight.Cache[authorization.ResourceAttributes, decision]
	// resourceRules caches the RBAC rules that allow list or watch, by namespace.
	resourceRules *flight.Cache[string, resourceRules]
	// incompleteUntil is the Unix time until which RBAC rules are ignored, because a rules review was refused or
	// incomplete.
	incompleteUntil atomic.Int64

	Allowed, Denied atomic.Int64 // number of allowed and denied namespaces, counted separately for each resource
}

// NewReviewer returns a Reviewer that sends its access reviews with client.
func NewReviewer(client authorizationclient.AuthorizationV1Interface) *Reviewer {
	return &Reviewer{
		client: client.SelfSubjectAccessReviews(), rules: client.SelfSubjectRulesReviews(),
		decisions: flight.New[authorization.ResourceAttributes, decision](
			maxCachedResults, TTLRecheck().Denied,
		),
		resourceRules: flight.New[string, resourceRules](maxResourceRules, resourceRulesMaxAge),
	}
}

// Review returns this program's permissions on a scope (a resource in one or all namespaces). The parameter known is
// the result of the previous review. An error means that the permissions are unknown, because the API server is
// unavailable or refuses the review.
//
// In a single namespace, if known permits list and watch, the permission to watch is not reviewed again. This is
// safe: a watch shows nothing that list does not allow, and each watch ends by itself within minutes.
func (r *Reviewer) Review(ctx context.Context, scope listwatch.Scope, known Permissions) (Permissions, error) {
	if known.List && scope.Namespace != "" {
		if byRules := r.permissionsByRules(ctx, scope); byRules.List {
			return byRules, nil
		}
	}
	list, err := r.reviewVerb(ctx, scope, "list")
	if err != nil || !list.Allowed {
		return Permissions{Reason: forbiddenReason(scope, list.Reason)}, err
	}
	if known.List && known.Watch && scope.Namespace != "" {
		return known, nil
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

// Allows reports whether this program has the permission for an action on one object, or on all objects of the
// resource. Callers use it to avoid requests that cannot succeed, for example for a Secret. If the review fails,
// Allows returns true: the API server then decides about the request itself.
func (r *Reviewer) Allows(
	ctx context.Context, verb Verb, resource *resource.Resource, namespace, name string, ttl DecisionTTL,
) bool {
	for _, name := range []string{"", name} { // all objects ("") first, because permissions for single names are rare
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

// AwaitLogRevoked waits until this program has lost the permission to read the log of a pod, or until ctx ends. It
// sends an access review every ReviewEvery. If a review fails, the permission counts as unchanged.
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

func forbiddenReason(scope listwatch.Scope, reason string) string {
	scopeText := "at the cluster scope"
	if scope.Namespace != "" {
		scopeText = fmt.Sprintf("in the namespace %q", scope.Namespace)
	}
	return fmt.Sprintf("You cannot list %s %s. %s", scope.Resource.GroupResource(), scopeText,
		cmp.Or(reason, "No RBAC rule allows it."))
}
