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
	// ReviewEvery is the time between two permission reviews of a watched resource. It is also the time after which a
	// resource that could not be listed is tried again.
	ReviewEvery = 10 * time.Second
	// ReviewTimeout bounds one access review.
	ReviewTimeout = 5 * time.Second
	// maxCachedResults limits the number of cached decisions about single objects.
	maxCachedResults = 1000
)

// Permissions are this program's own permissions to list and watch a scope.
type Permissions struct {
	List, Watch bool
	Reason      string // The Reason why list is denied.
}

// Reviewer checks what the program itself may do, by SelfSubjectAccessReviews and SelfSubjectRulesReviews, which the
// API server does not store.
type Reviewer struct {
	client    authorizationclient.SelfSubjectAccessReviewInterface
	rules     authorizationclient.SelfSubjectRulesReviewInterface
	decisions *flight.Cache[authorization.ResourceAttributes, decision] // Recent decisions about single objects.
	// The rules that allow list or watch, by namespace.
	resourceRules *flight.Cache[string, resourceRules]
	// The time, in Unix seconds, until which rules are not used, because they were incomplete.
	incompleteUntil atomic.Int64

	Allowed, Denied atomic.Int64 // How many namespaces were allowed or denied, summed over all resources.
}

// NewReviewer returns a reviewer that sends its reviews with client.
func NewReviewer(client authorizationclient.AuthorizationV1Interface) *Reviewer {
	return &Reviewer{
		client: client.SelfSubjectAccessReviews(), rules: client.SelfSubjectRulesReviews(),
		decisions: flight.New[authorization.ResourceAttributes, decision](
			maxCachedResults, TTLRecheck().Denied,
		),
		resourceRules: flight.New[string, resourceRules](maxResourceRules, resourceRulesMaxAge),
	}
}

// Review returns this program's permissions on a scope. known is the result of the previous review. If review returns
// an error, the permissions are unknown: the API server is unavailable, or it refuses the review.
//
// A single namespace that could be listed and watched before is reviewed again only for list, unless rules decide. This
// is safe: a watch shows nothing that list does not allow, and watches end on their own within minutes.
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

// Allows reports whether this program may perform the action d on one object, or on all objects of its resource. The
// check avoids requests that cannot succeed, for example for a Secret. If there is no decision, allows returns true,
// and the API server decides on the request itself.
func (r *Reviewer) Allows(
	ctx context.Context, verb Verb, resource *resource.Resource, namespace, name string, ttl DecisionTTL,
) bool {
	for _, name := range []string{"", name} { // Without a name first: permissions for single names are rare.
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

// AwaitLogRevoked reviews this program's permission to read the log of a pod at intervals. It returns when the
// permission is lost, or when ctx ends. A failed review does not count as a loss.
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

// forbiddenReason returns a message like the one with which the API server refuses the list.
func forbiddenReason(scope listwatch.Scope, reason string) string {
	scopeText := "at the cluster scope"
	if scope.Namespace != "" {
		scopeText = fmt.Sprintf("in the namespace %q", scope.Namespace)
	}
	return fmt.Sprintf("You cannot list %s %s. %s", scope.Resource.GroupResource(), scopeText,
		cmp.Or(reason, "No RBAC rule allows it."))
}
