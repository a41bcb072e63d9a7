package reconcile

import (
	"context"
	"hash/fnv"
	"io"
	"maps"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

const (
	// deniedEvery is the minimum time between access reviews of one denied namespace. It is long, because there can be
	// hundreds of denied namespaces.
	deniedEvery = 30 * time.Second
	// reviewSpacing is the average time from the review of one namespace to the review of another. If there are many
	// namespaces, the interval for each of them is therefore longer.
	reviewSpacing = 10 * time.Millisecond
	// maxReviewInterval is the maximum time between reviews of one namespace. New permissions are therefore effective
	// within a minute.
	maxReviewInterval    = 45 * time.Second
	maxConcurrentReviews = 8
)

// namespaceAccess is the last known permission of this program to list and watch one namespace.
type namespaceAccess struct {
	authz.Permissions

	// isListRefused means that the API server refused a list although the access review allows it.
	isListRefused bool
	nextReview    time.Time
}

// accessTable contains the last reviewed permissions of this program by namespace. "" means all namespaces together.
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

func (t *accessTable) forget(filter func(namespace string) bool) {
	maps.DeleteFunc(t.byNamespace, func(ns string, _ namespaceAccess) bool { return filter(ns) })
}

// evaluate reviews the namespaces whose next review is due. It returns the permissions of allowed namespaces, and the
// reasons why others are denied.
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

// reviewInterval returns the time between two access reviews of a namespace. It grows with the number of reviewed
// namespaces.
func (t *accessTable) reviewInterval(namespace string, canList bool) time.Duration {
	minimum, count := deniedEvery, t.reviews.Denied.Load()
	switch {
	case namespace == "":
		return authz.ReviewEvery
	// Without usable RBAC rules, each resource needs its own reviews, so the namespaces of all informers count.
	case canList && t.reviews.AreRulesIncomplete():
		minimum, count = authz.ReviewEvery, t.reviews.Allowed.Load()
	case canList:
		minimum, count = authz.ReviewEvery, t.allowed
	}
	return min(max(minimum, time.Duration(count)*reviewSpacing), maxReviewInterval)
}

// reviewDelay returns the time until a namespace's next review. A hash of its name spreads the reviews over the
// interval.
func reviewDelay(namespace string, interval time.Duration) time.Duration {
	// All resources get the same time, so that one review of RBAC rules covers them.
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, namespace)
	phase := int64(hash.Sum64() % uint64(interval))
	wait := time.Duration(phase - time.Now().UnixNano()%int64(interval))
	if wait <= 0 {
		wait += interval
	}
	return wait
}

// review requests an access review, and returns the new permissions without the time of the next review.
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
	// If the first review of the namespace fails, or if access reviews are unusable, try the list. The API server then
	// decides.
	case isFirst || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		v.List, v.Watch = true, true
	}
	// Try a short list before the namespace is listed and watched again.
	if v.List && v.isListRefused {
		// Only a refusal counts. The feed (the list and watch) reports any other error later.
		v.List = !tryList(ctx, t.client, t.scope, namespace).IsRefused()
		v.isListRefused = !v.List
	}
	return v
}

// count updates the reviewer's totals of permitted and denied namespaces. access contains the namespaces of this
// informer.
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
