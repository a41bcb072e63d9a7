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
	// permitsAge is the maximum age of the cached rules of a namespace. Within this time, the permission checks of all
	// resources in the namespace use the same rules.
	permitsAge = 2 * time.Second
	maxPermits = 200
	// rulesAgain is the delay before the next rules review after one that was incomplete or not permitted.
	rulesAgain = 10 * time.Minute
)

// permits are the RBAC rules that allow this program to list or watch resources in one namespace.
type permits []authorization.ResourceRule

// permitted returns whether the rules allow the program to list and watch the resource of scope in its namespace. One
// SelfSubjectRulesReview covers all resources.
//
// If the rules do not allow it, an access review is still needed: rules give no reason for a denial, and an authorizer
// may allow more than its rules list. The webhook authorizers of many hosted clusters do, for example. With such an
// authorizer, rules are not used for a while, because it may also deny what they allow.
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

// has reports whether list, the verbs, groups or resources of a rule, contains word or the wildcard "*".
func has(list []string, word string) bool {
	return slices.Contains(list, word) || slices.Contains(list, "*")
}
