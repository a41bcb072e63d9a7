package reconcile

import (
	"context"
	"hash/fnv"
	"io"
	"maps"
	"time"

	"glasshouse/internal/watch/authz"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"glasshouse/internal/watch/listwatch"
)

const (
	// deniedEvery is the minimum time between two access reviews of a namespace that this program is not permitted to
	// list. It is longer than authz.ReviewEvery, because there can be hundreds of such namespaces.
	deniedEvery = 30 * time.Second
	// reviewSpacing is the average time between two access reviews of different namespaces. Permitted and denied
	// namespaces are reviewed separately. With more namespaces, each one is therefore reviewed less often, but at
	// least every maxReviewInterval.
	reviewSpacing = 10 * time.Millisecond
	// maxReviewInterval is the maximum time between two access reviews of one namespace. A new permission is
	// therefore effective within a minute, even with thousands of namespaces. With so many, the time between reviews
	// is shorter than reviewSpacing.
	maxReviewInterval    = 45 * time.Second
	maxConcurrentReviews = 8
)

// namespaceAccess is the last known permission of this program to list and watch one namespace.
type namespaceAccess struct {
	authz.Permissions

	// isListRefused means that the API server refused a list although an access review allows it. A short list is
	// then tried first, before the namespace is listed and watched again.
	isListRefused bool
	nextReview    time.Time
}

// accessTable contains the permissions of this program by namespace, as last reviewed. The key "" means all namespaces
// together.
type accessTable struct {
	reviews     *authz.Reviewer
	client      *listwatch.Client
	scope       listwatch.Scope
	byNamespace map[string]namespaceAccess
	nextReview  time.Time

	allowed, denied int64 // Numbers of namespaces.
}

func (t *accessTable) has(namespace string) bool {
	_, known := t.byNamespace[namespace]
	return known
}

// refuse records that the API server refused a list, with its reason.
func (t *accessTable) refuse(namespace, reason string) {
	t.byNamespace[namespace] = namespaceAccess{
		authz.Permissions{Reason: reason}, true, time.Now().Add(t.reviewInterval(namespace, false)),
	}
}

func (t *accessTable) forget(matches func(namespace string) bool) {
	maps.DeleteFunc(t.byNamespace, func(ns string, _ namespaceAccess) bool { return matches(ns) })
}

// evaluate requests access reviews for the namespaces whose review is due. It returns the permissions of those
// namespaces that this program is permitted to list, and the reasons why others are denied. If a review fails, the
// previous decision stays. A namespace without a previous decision counts as permitted, so that its list is tried.
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
	t.count(t.byNamespace) // The intervals depend on the counts.
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

// reviewInterval returns the time between two access reviews of a namespace. allowed means that this program is
// permitted to list it. The interval is constant for the list of all namespaces (""). Otherwise, it grows with the
// number of reviewed namespaces, up to maxReviewInterval.
//
// If the RBAC rules are complete, one review covers all resources. Only the permitted namespaces of this informer are
// then counted. Otherwise, those of all informers are counted.
func (t *accessTable) reviewInterval(namespace string, allowed bool) time.Duration {
	minimum, count := deniedEvery, t.reviews.Denied.Load()
	switch {
	case namespace == "":
		return authz.ReviewEvery
	case allowed && t.reviews.AreRulesIncomplete():
		minimum, count = authz.ReviewEvery, t.reviews.Allowed.Load()
	case allowed:
		minimum, count = authz.ReviewEvery, t.allowed
	}
	return min(max(minimum, time.Duration(count)*reviewSpacing), maxReviewInterval)
}

// reviewDelay returns the time until the next access review of a namespace. every is the interval between its
// reviews. Each namespace has a fixed point within the interval, which follows from a hash of its name. This spreads
// the reviews over time. The point is the same for all resources, so that one review of the RBAC rules in a namespace
// covers all of them.
func reviewDelay(namespace string, every time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, namespace)
	phase := int64(hash.Sum64() % uint64(every))
	wait := time.Duration(phase - time.Now().UnixNano()%int64(every))
	if wait <= 0 {
		wait += every
	}
	return wait
}

// review requests an access review for a namespace, and returns the new permissions, without the time of the next
// review. known contains the previous permissions. isFirst means that there are none.
func (t *accessTable) review(
	ctx context.Context, namespace string, known namespaceAccess, isFirst bool,
) namespaceAccess {
	v := known
	v.nextReview = time.Time{}
	reviewed, err := t.reviews.Review(
		ctx, listwatch.Scope{Resource: t.scope.Resource, Namespace: namespace}, known.Permissions,
	)
	switch {
	case err == nil && reviewed.List && known.isListRefused:
		v.List, v.Watch = true, reviewed.Watch
	case err == nil:
		v.Permissions, v.isListRefused = reviewed, false
	// Access reviews are not permitted or not served, or there is no previous decision. Allow the list, so that the
	// API server decides.
	case isFirst || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		v.List, v.Watch = true, true
	}
	if v.List && v.isListRefused {
		// Any other error does not count, because the feed (the list and watch) reports it later.
		v.List = !tryList(ctx, t.client, t.scope, namespace).IsRefused()
		v.isListRefused = !v.List
	}
	return v
}

// count updates the totals of permitted and denied namespaces over all informers, which the reviewer stores. access
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
