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

	"glasshouse/internal/watch/wire"
)

// reviewTimeout bounds one access review.
const reviewTimeout = 5 * time.Second

// rights are this program's own permissions to list and watch a scope.
type rights struct {
	list, watch bool
	reason      string // The reason why list is denied.
}

// reviewer checks what the program itself may do, by SelfSubjectAccessReviews and SelfSubjectRulesReviews, which the
// API server does not store.
type reviewer struct {
	client  authorizationclient.SelfSubjectAccessReviewInterface
	rules   authorizationclient.SelfSubjectRulesReviewInterface
	asked   answers[authorization.ResourceAttributes, right] // Recent decisions about single objects.
	permits answers[string, permits]                         // The rules that allow list or watch, by namespace.
	// The time, in Unix seconds, until which rules are not used, because they were incomplete.
	partial atomic.Int64

	allowed, denied atomic.Int64 // How many namespaces were allowed or denied, summed over all resources.
}

func newReviewer(client authorizationclient.AuthorizationV1Interface) *reviewer {
	return &reviewer{
		client: client.SelfSubjectAccessReviews(), rules: client.SelfSubjectRulesReviews(),
		asked:   answers[authorization.ResourceAttributes, right]{most: maxRemembered, long: askedAgain().denied},
		permits: answers[string, permits]{most: maxPermits, long: permitsAge},
	}
}

// review returns this program's permissions on a scope. known is the result of the previous review. If review returns
// an error, the permissions are unknown: the API server is unavailable, or it refuses the review.
//
// A single namespace that could be listed and watched before is reviewed again only for list, unless rules decide. This
// is safe: a watch shows nothing that list does not allow, and watches end on their own within minutes.
func (r *reviewer) review(ctx context.Context, scope wire.Scope, known rights) (rights, error) {
	if known.list && scope.Namespace != "" {
		if now := r.permitted(ctx, scope); now.list {
			return now, nil
		}
	}
	list, err := r.may(ctx, scope, "list")
	if err != nil || !list.Allowed {
		return rights{reason: refusal(scope, list.Reason)}, err
	}
	if known.list && known.watch && scope.Namespace != "" {
		return known, nil
	}
	watch, err := r.may(ctx, scope, "watch")
	return rights{list: true, watch: watch.Allowed}, err
}

func (r *reviewer) may(
	ctx context.Context, scope wire.Scope, verb string,
) (authorization.SubjectAccessReviewStatus, error) {
	return r.ask(ctx, authorization.ResourceAttributes{
		Namespace: scope.Namespace, Verb: verb,
		Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource,
	})
}

// allows reports whether this program may perform the action d on one object, or on all objects of its resource. The
// check avoids requests that cannot succeed, for example for a Secret. If there is no decision, allows returns true,
// and the API server decides on the request itself.
func (r *reviewer) allows(ctx context.Context, d deed, resource *Resource, namespace, name string, old age) bool {
	for _, name := range []string{"", name} { // Without a name first: permissions for single names are rare.
		of := d.attributes(resource, namespace, name)[0]
		answer, _ := r.asked.get(ctx, of, old.good, func(ctx context.Context) right {
			status, err := r.ask(ctx, of)
			return right{status.Allowed, err}
		})
		if answer.allowed || answer.err != nil {
			return true
		}
	}
	return ctx.Err() != nil
}

// loseLog reviews this program's permission to read the log of a pod at intervals. It returns when the permission is
// lost, or when ctx ends. A failed review does not count as a loss.
func (r *reviewer) loseLog(ctx context.Context, namespace, pod string) {
	for range Ticks(ctx, reviewEvery) {
		answer, err := r.ask(ctx, authorization.ResourceAttributes{
			Namespace: namespace, Verb: "get", Version: "v1", Resource: "pods", Subresource: "log", Name: pod,
		})
		if err == nil && !answer.Allowed {
			return
		}
	}
}

func (r *reviewer) ask(
	ctx context.Context, of authorization.ResourceAttributes,
) (authorization.SubjectAccessReviewStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	answer, err := r.client.Create(ctx, &authorization.SelfSubjectAccessReview{
		Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: &of},
	}, metav1.CreateOptions{})
	if err != nil {
		return authorization.SubjectAccessReviewStatus{}, fmt.Errorf(
			"review the permission to %s %s: %w", of.Verb, of.Resource, err,
		)
	}
	return answer.Status, nil
}

// refusal returns a message like the one with which the API server refuses the list.
func refusal(scope wire.Scope, reason string) string {
	where := "at the cluster scope"
	if scope.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", scope.Namespace)
	}
	return fmt.Sprintf("You cannot list %s %s. %s", scope.Resource.GroupResource(), where,
		cmp.Or(reason, "No RBAC rule allows it."))
}
