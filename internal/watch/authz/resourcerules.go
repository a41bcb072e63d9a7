package authz

import (
	"context"
	"slices"
	"time"

	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

const (
	resourceRulesMaxAge = 2 * time.Second
	maxResourceRules    = 200
	// rulesRetryDelay is the time without new SelfSubjectRulesReviews after one was refused or incomplete.
	rulesRetryDelay = 10 * time.Minute
)

type resourceRules []authorization.ResourceRule

// permissionsByRules returns the permissions that RBAC rules give to this program for the objects of a scope. The
// program can have more permissions, for example from a webhook authorizer.
func (r *Reviewer) permissionsByRules(ctx context.Context, scope listwatch.Scope) Permissions {
	if r.AreRulesIncomplete() {
		return Permissions{}
	}
	isFresh := func(_ resourceRules, startedAt time.Time) bool { return time.Since(startedAt) < resourceRulesMaxAge }
	p, _ := r.resourceRules.Get(ctx, scope.Namespace, isFresh, func(ctx context.Context) resourceRules {
		return r.fetchRules(ctx, scope.Namespace)
	})
	return Permissions{List: p.allows(scope, "list"), Watch: p.allows(scope, "watch")}
}

// AreRulesIncomplete reports whether RBAC rules are ignored, because a recent rules review was refused or incomplete.
func (r *Reviewer) AreRulesIncomplete() bool { return time.Now().Unix() < r.incompleteUntil.Load() }

func (r *Reviewer) fetchRules(ctx context.Context, namespace string) resourceRules {
	ctx, cancel := context.WithTimeout(ctx, ReviewTimeout)
	defer cancel()
	review, err := r.rules.Create(ctx, &authorization.SelfSubjectRulesReview{
		Spec: authorization.SelfSubjectRulesReviewSpec{Namespace: namespace},
	}, metav1.CreateOptions{})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err),
		err == nil && review.Status.Incomplete:
		r.incompleteUntil.Store(time.Now().Add(rulesRetryDelay).Unix())
		return nil
	case err != nil:
		return nil
	}
	return newResourceRules(review.Status.ResourceRules)
}

func newResourceRules(rules []authorization.ResourceRule) (p resourceRules) {
	for _, rule := range rules {
		if len(rule.ResourceNames) == 0 && (containsOrAll(rule.Verbs, "list") || containsOrAll(rule.Verbs, "watch")) {
			p = append(p, rule)
		}
	}
	return p
}

func (r resourceRules) allows(scope listwatch.Scope, verb string) bool {
	return slices.ContainsFunc(r, func(rule authorization.ResourceRule) bool {
		return containsOrAll(rule.Verbs, verb) && containsOrAll(rule.APIGroups, scope.Resource.Group) &&
			containsOrAll(rule.Resources, scope.Resource.Resource)
	})
}

func containsOrAll(list []string, word string) bool {
	return slices.Contains(list, word) || slices.Contains(list, "*")
}
