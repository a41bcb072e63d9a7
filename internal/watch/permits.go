package watch

import (
	"context"
	"slices"
	"time"

	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"glasshouse/internal/watch/wire"
)

const (
	// permitsAge is the maximum age of cached rules. Within this time, the reviews of all resources of a namespace
	// share them.
	permitsAge = 2 * time.Second
	maxPermits = 200
	// rulesAgain is the delay before the next rules review after one that was incomplete or not permitted.
	rulesAgain = 10 * time.Minute
)

// permits are the rules that allow the program to list or watch in a namespace.
type permits []authorization.ResourceRule

// permitted returns what rules allow the program in one namespace. One SelfSubjectRulesReview covers all resources.
//
// What the rules do not allow still needs an access review. Rules give no reason for a denial, and an authorizer may
// have more than rules. Many hosted clusters have a webhook, for example. With such an authorizer, rules are not used
// for a while, because it may also deny what they allow.
func (r *reviewer) permitted(ctx context.Context, scope wire.Scope) rights {
	if r.isPartial() {
		return rights{}
	}
	young := func(_ permits, asked time.Time) bool { return time.Since(asked) < permitsAge }
	p, _ := r.permits.get(ctx, scope.Namespace, young, func(ctx context.Context) permits {
		return r.resolve(ctx, scope.Namespace)
	})
	return rights{list: p.allow(scope, "list"), watch: p.allow(scope, "watch")}
}

func (r *reviewer) isPartial() bool { return time.Now().Unix() < r.partial.Load() }

func (r *reviewer) resolve(ctx context.Context, namespace string) permits {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	answer, err := r.rules.Create(ctx, &authorization.SelfSubjectRulesReview{
		Spec: authorization.SelfSubjectRulesReviewSpec{Namespace: namespace},
	}, metav1.CreateOptions{})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err),
		err == nil && answer.Status.Incomplete:
		r.partial.Store(time.Now().Add(rulesAgain).Unix())
		return nil
	case err != nil:
		return nil
	}
	return permitsOf(answer.Status.ResourceRules)
}

func permitsOf(rules []authorization.ResourceRule) (p permits) {
	for _, rule := range rules {
		if len(rule.ResourceNames) == 0 && (has(rule.Verbs, "list") || has(rule.Verbs, "watch")) {
			p = append(p, rule)
		}
	}
	return p
}

func (p permits) allow(scope wire.Scope, verb string) bool {
	return slices.ContainsFunc(p, func(rule authorization.ResourceRule) bool {
		return has(rule.Verbs, verb) && has(rule.APIGroups, scope.Resource.Group) &&
			has(rule.Resources, scope.Resource.Resource)
	})
}

// has reports whether a list of a rule contains a word, or the wildcard "*".
func has(list []string, word string) bool {
	return slices.Contains(list, word) || slices.Contains(list, "*")
}
