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

// rights are what the program itself may do with a scope.
type rights struct {
	list, watch bool
	reason      string // Why list is refused.
}

// reviewer asks the API server what the program may do, by
// SelfSubjectAccessReviews and SelfSubjectRulesReviews, which it keeps nowhere.
type reviewer struct {
	client  authorizationclient.SelfSubjectAccessReviewInterface
	rules   authorizationclient.SelfSubjectRulesReviewInterface
	asked   answers[authorization.ResourceAttributes, right] // A moment ago, of single objects.
	permits answers[string, permits]                         // By namespace.
	partial atomic.Int64                                     // Until then rules are not all that decides, in Unix seconds.

	allowed, denied atomic.Int64 // Namespaces of all resources that are asked for, by what was answered.
}

func newReviewer(client authorizationclient.AuthorizationV1Interface) *reviewer {
	return &reviewer{
		client: client.SelfSubjectAccessReviews(), rules: client.SelfSubjectRulesReviews(),
		asked:   answers[authorization.ResourceAttributes, right]{most: maxRemembered, long: askedAgain().denied},
		permits: answers[string, permits]{most: maxPermits, long: permitsAge},
	}
}

// review returns the rights to a scope, of which known were known before. An
// error says that they are not known now: the API server is away, or does not
// let itself be asked. Where rules do not tell, the right to watch one namespace of
// many is not asked for again: it shows nothing that may not be listed, and watches
// end by themselves within minutes.
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

func (r *reviewer) may(ctx context.Context, scope wire.Scope, verb string) (authorization.SubjectAccessReviewStatus, error) {
	return r.ask(ctx, authorization.ResourceAttributes{
		Namespace: scope.Namespace, Verb: verb,
		Group: scope.Resource.Group, Version: scope.Resource.Version, Resource: scope.Resource.Resource,
	})
}

// allows reports whether the program may get an object, or list those like it: one that
// it may not, as a Secret, is not asked for in vain. Where that cannot be found out the
// API server is to say.
func (r *reviewer) allows(ctx context.Context, d deed, resource *Resource, namespace, name string, old age) bool {
	for _, name := range []string{"", name} { // Seldom are some allowed by name alone.
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

// loseLog returns once the log of a pod may not be read any more, or when ctx
// ends. What cannot be found out stays as it was.
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

func (r *reviewer) ask(ctx context.Context, of authorization.ResourceAttributes) (authorization.SubjectAccessReviewStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	answer, err := r.client.Create(ctx, &authorization.SelfSubjectAccessReview{
		Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: &of},
	}, metav1.CreateOptions{})
	if err != nil {
		return authorization.SubjectAccessReviewStatus{}, fmt.Errorf("ask for the right to %s %s: %w", of.Verb, of.Resource, err)
	}
	return answer.Status, nil
}

// refusal is what the API server would have said to the list.
func refusal(scope wire.Scope, reason string) string {
	where := "at the cluster scope"
	if scope.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", scope.Namespace)
	}
	return fmt.Sprintf("You cannot list %s %s. %s", scope.Resource.GroupResource(), where,
		cmp.Or(reason, "No rule of the cluster allows it."))
}
