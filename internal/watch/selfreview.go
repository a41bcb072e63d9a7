package watch

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"glasshouse/internal/watch/listwatch"
)

// reviewTimeout bounds one access review.
const reviewTimeout = 5 * time.Second

// permissions are this program's own permissions to list and watch a scope.
type permissions struct {
	list, watch bool
	reason      string // The reason why list is denied.
}

// reviewer checks what the program itself may do, by SelfSubjectAccessReviews and SelfSubjectRulesReviews, which the
// API server does not store.
type reviewer struct {
	client        authorizationclient.SelfSubjectAccessReviewInterface
	rules         authorizationclient.SelfSubjectRulesReviewInterface
	decisions     flightCache[authorization.ResourceAttributes, decision] // Recent decisions about single objects.
	resourceRules flightCache[string, resourceRules]                      // The rules that allow list or watch, by namespace.
	// The time, in Unix seconds, until which rules are not used, because they were incomplete.
	incompleteUntil atomic.Int64

	allowed, denied atomic.Int64 // How many namespaces were allowed or denied, summed over all resources.
}

func newReviewer(client authorizationclient.AuthorizationV1Interface) *reviewer {
	return &reviewer{
		client: client.SelfSubjectAccessReviews(), rules: client.SelfSubjectRulesReviews(),
		decisions:     flightCache[authorization.ResourceAttributes, decision]{maxEntries: maxCachedResults, maxAge: ttlRecheck().denied},
		resourceRules: flightCache[string, resourceRules]{maxEntries: maxResourceRules, maxAge: resourceRulesMaxAge},
	}
}

// review returns this program's permissions on a scope. known is the result of the previous review. If review returns
// an error, the permissions are unknown: the API server is unavailable, or it refuses the review.
//
// A single namespace that could be listed and watched before is reviewed again only for list, unless rules decide. This
// is safe: a watch shows nothing that list does not allow, and watches end on their own within minutes.
func (r *reviewer) review(ctx context.Context, scope listwatch.Scope, known permissions) (permissions, error) {
	if known.list && scope.Namespace != "" {
		if byRules := r.permissionsByRules(ctx, scope); byRules.list {
			return byRules, nil
		}
	}
	list, err := r.reviewVerb(ctx, scope, "list")
	if err != nil || !list.Allowed {
		return permissions{reason: forbiddenReason(scope, list.Reason)}, err
	}
	if known.list && known.watch && scope.Namespace != "" {
		return known, nil
	}
	watch, err := r.reviewVerb(ctx, scope, "watch")
	return permissions{list: true, watch: watch.Allowed}, err
}

func (r *reviewer) reviewVerb(
	ctx context.Context, scope listwatch.Scope, verb string,
) (authorization.SubjectAccessReviewStatus, error) {
	return r.sendReview(ctx, authorization.ResourceAttributes{
		Namespace: scope.Namespace, Verb: verb,
		Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource,
	})
}

// allows reports whether this program may perform the action d on one object, or on all objects of its resource. The
// check avoids requests that cannot succeed, for example for a Secret. If there is no decision, allows returns true,
// and the API server decides on the request itself.
func (r *reviewer) allows(ctx context.Context, verb accessVerb, resource *Resource, namespace, name string, ttl decisionTTL) bool {
	for _, name := range []string{"", name} { // Without a name first: permissions for single names are rare.
		attributes := verb.attributes(resource, namespace, name)[0]
		result, _ := r.decisions.get(ctx, attributes, ttl.accepts, func(ctx context.Context) decision {
			status, err := r.sendReview(ctx, attributes)
			return decision{status.Allowed, err}
		})
		if result.allowed || result.err != nil {
			return true
		}
	}
	return ctx.Err() != nil
}

// awaitLogRevoked reviews this program's permission to read the log of a pod at intervals. It returns when the permission is
// lost, or when ctx ends. A failed review does not count as a loss.
func (r *reviewer) awaitLogRevoked(ctx context.Context, namespace, pod string) {
	for range Ticks(ctx, reviewEvery) {
		review, err := r.sendReview(ctx, authorization.ResourceAttributes{
			Namespace: namespace, Verb: "get", Version: "v1", Resource: "pods", Subresource: "log", Name: pod,
		})
		if err == nil && !review.Allowed {
			return
		}
	}
}

func (r *reviewer) sendReview(
	ctx context.Context, attributes authorization.ResourceAttributes,
) (authorization.SubjectAccessReviewStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
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
