package reconcile

import (
	"cmp"
	"context"
	"hash/fnv"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// deniedEvery is the minimum time between two access reviews of one denied namespace. It is long, because hundreds of
	// namespaces can be denied.
	deniedEvery = 30 * time.Second
	// reviewSpacing is the average time between two access reviews of different namespaces. The more namespaces there
	// are, the longer is the interval between two reviews of the same namespace.
	reviewSpacing = 10 * time.Millisecond
	// maxReviewInterval is the maximum time between two access reviews of one namespace. With it, a new permission takes
	// effect within a minute.
	maxReviewInterval    = 45 * time.Second
	maxConcurrentReviews = 8
)

// namespaceAccess is the last known permission of this program to list and watch one namespace.
type namespaceAccess struct {
	authz.Permissions

	// isListRefused means that the API server refused a list, although the access review permitted it.
	isListRefused bool
	nextReview    time.Time
}

// accessTable contains the permissions of this program for each namespace, as last reviewed. The key "" is for all
// namespaces together.
type accessTable struct {
	reviews     *authz.Reviewer
	client      *listwatch.Client
	scope       listwatch.Scope
	byNamespace map[string]namespaceAccess
	nextReview  time.Time

	allowed, denied int64 // Numbers of namespaces in which a list is permitted or not.
}

func (t *accessTable) has(namespace string) bool {
	_, known := t.byNamespace[namespace]
	return known
}

// refuse records that the API server refused a list of a namespace. reason is the text of the API server.
func (t *accessTable) refuse(namespace, reason string) {
	t.byNamespace[namespace] = namespaceAccess{
		authz.Permissions{Reason: reason}, true, time.Now().Add(t.reviewInterval(namespace, false)),
	}
}

func (t *accessTable) forget(filter func(namespace string) bool) {
	maps.DeleteFunc(t.byNamespace, func(ns string, _ namespaceAccess) bool { return filter(ns) })
}

// evaluate sends access reviews for the namespaces whose next review is due. It returns the permissions for each
// namespace in which the program may list the resource (allowed), and the reason for each other namespace (denied).
func (t *accessTable) evaluate(
	ctx context.Context, namespaces []string,
) (allowed map[string]authz.Permissions, denied map[string]string) {
	access := make([]namespaceAccess, len(namespaces))
	var reviews errgroup.Group
	reviews.SetLimit(maxConcurrentReviews)
	for n, ns := range namespaces {
		known, ok := t.byNamespace[ns]
		access[n] = known
		if !ok || !time.Now().Before(known.nextReview) {
			reviews.Go(func() error {
				access[n] = t.review(ctx, ns, known, !ok)
				return nil
			})
		}
	}
	_ = reviews.Wait()
	for n, ns := range namespaces {
		t.byNamespace[ns] = access[n]
	}
	t.count(t.byNamespace) // Count first, because reviewInterval depends on the counts.
	allowed, denied = make(map[string]authz.Permissions), make(map[string]string)
	for n, ns := range namespaces {
		v := access[n]
		if v.nextReview.IsZero() {
			wait := t.reviewInterval(ns, v.List)
			if ns != "" {
				wait = reviewDelay(ns, wait)
			}
			v.nextReview = time.Now().Add(wait)
			t.byNamespace[ns] = v
		}
		if v.nextReview.Before(t.nextReview) {
			t.nextReview = v.nextReview
		}
		if v.List {
			allowed[ns] = v.Permissions
		} else {
			denied[ns] = v.Reason
		}
	}
	return allowed, denied
}

// reviewInterval returns the time until the next access review, after the result canList. Many namespaces increase it.
func (t *accessTable) reviewInterval(namespace string, canList bool) time.Duration {
	minimum, count := deniedEvery, t.reviews.Denied.Load()
	switch {
	case namespace == "":
		return authz.ReviewEvery
	// If the RBAC rules are incomplete, informers cannot share reviews: each informer reviews each of its namespaces.
	// Therefore, count the namespaces of all informers.
	case canList && t.reviews.AreRulesIncomplete():
		minimum, count = authz.ReviewEvery, t.reviews.Allowed.Load()
	case canList:
		minimum, count = authz.ReviewEvery, t.allowed
	}
	return min(max(minimum, time.Duration(count)*reviewSpacing), maxReviewInterval)
}

// reviewDelay returns the time until the next access review of a namespace. A hash of the name spreads the reviews of
// different namespaces over the interval.
func reviewDelay(namespace string, interval time.Duration) time.Duration {
	// All informers compute the same time for a namespace, so that they share one review of the namespace's RBAC rules.
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, namespace)
	phase := int64(hash.Sum64() % uint64(interval))
	wait := time.Duration(phase - time.Now().UnixNano()%int64(interval))
	if wait <= 0 {
		wait += interval
	}
	return wait
}

// review sends an access review for a namespace, and returns the new permissions. The caller sets the time of the next
// review.
func (t *accessTable) review(
	ctx context.Context, namespace string, previous namespaceAccess, isFirst bool,
) namespaceAccess {
	v := previous
	v.nextReview = time.Time{}
	reviewed, err := t.reviews.Review(
		ctx, listwatch.Scope{Resource: t.scope.Resource, Namespace: namespace}, previous.Permissions,
	)
	switch {
	case err == nil && reviewed.List && previous.isListRefused:
		v.List, v.Watch = true, reviewed.Watch
	case err == nil:
		v.Permissions, v.isListRefused = reviewed, false
	// If this is the first review of the namespace, or if the API server does not support access reviews, assume that a
	// list is permitted. The API server can still refuse the list request.
	case isFirst || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		v.List, v.Watch = true, true
	}
	// If the API server refused the last list, try a short list before the namespace is listed and watched again.
	if v.List && v.isListRefused {
		// Only a refusal denies the list. After another error, the feed (the list and watch) starts, and reports the error.
		state, _ := tryList(ctx, t.client, t.scope, namespace)
		v.List = !state.IsRefused()
		v.isListRefused = !v.List
	}
	if err == nil && !v.List && namespace == "" {
		v.Reason = cmp.Or(t.refusal(ctx, previous, isFirst), v.Reason)
	}
	return v
}

// refusal returns the API server's reason for refusing a list of all namespaces. In contrast to the result of an access
// review, it names the user of this program. It returns "" if the API server does not refuse the list, and for Secrets,
// which the program never lists without permission.
func (t *accessTable) refusal(ctx context.Context, previous namespaceAccess, isFirst bool) string {
	if !isFirst && !previous.List {
		return previous.Reason
	}
	if t.scope.Resource.GroupResource() == (schema.GroupResource{Resource: "secrets"}) {
		return ""
	}
	state, reason := tryList(ctx, t.client, t.scope, "")
	if state != status.Forbidden {
		return ""
	}
	if _, short, ok := strings.Cut(reason, " is forbidden: "); ok {
		return short
	}
	return reason
}

// count updates the totals of permitted and denied namespaces in the Reviewer, which all informers share. access
// contains the namespaces of this informer.
func (t *accessTable) count(access map[string]namespaceAccess) {
	var allowed, denied int64
	for ns, v := range access {
		switch {
		case ns == "":
		case v.List:
			allowed++
		default:
			denied++
		}
	}
	t.reviews.Allowed.Add(allowed - t.allowed)
	t.reviews.Denied.Add(denied - t.denied)
	t.allowed, t.denied = allowed, denied
}
