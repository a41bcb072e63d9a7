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
	// permitsAge is how old permits may be: all resources of a namespace have their
	// turn within it.
	permitsAge = 2 * time.Second
	maxPermits = 200
	// rulesAgain is when rules are asked for again that were not all, or not told.
	rulesAgain = 10 * time.Minute
)

// permits are the rules by which the program may list or watch in a namespace.
type permits []authorization.ResourceRule

// permitted returns what the program may do in one namespace, as far as rules tell:
// one SelfSubjectRulesReview for all resources. What they do not allow is to be
// asked for, as they give no reason, and an authorizer may have more than rules:
// a webhook, as many hosted clusters have one. Where it has, rules are not asked for
// for a while, as it may also refuse what they allow.
func (r *reviewer) permitted(ctx context.Context, scope wire.Scope) rights {
	if r.isPartial() {
		return rights{}
	}
	young := func(_ permits, asked time.Time) bool { return time.Since(asked) < permitsAge }
	p, _ := r.permits.get(ctx, scope.Namespace, young, func(ctx context.Context) permits { return r.resolve(ctx, scope.Namespace) })
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
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err), err == nil && answer.Status.Incomplete:
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
		return has(rule.Verbs, verb) && has(rule.APIGroups, scope.Resource.Group) && has(rule.Resources, scope.Resource.Resource)
	})
}

// has reports whether a rule's list has a word, or means all of them.
func has(list []string, word string) bool {
	return slices.Contains(list, word) || slices.Contains(list, "*")
}
