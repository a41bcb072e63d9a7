package informer

import (
	"context"
	"hash/fnv"
	"io"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/status"

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
	// reconcileMinimum is the minimum time that the reconciler waits before it runs again because an access review is
	// due.
	reconcileMinimum = time.Second
)

// namespaceAccess is the last known permission of this program to list and watch one namespace.
type namespaceAccess struct {
	authz.Permissions

	// isListRefused means that the API server refused a list although an access review allows it. A short list is
	// then tried first, before the namespace is listed and watched again.
	isListRefused bool
	nextReview    time.Time
}

// evaluate requests access reviews for the namespaces whose review is due. It returns the permissions of those
// namespaces that this program is permitted to list. If a review fails, the previous decision stays. A namespace
// without a previous decision counts as permitted, so that its list is tried.
func (s *reconciler) evaluate(ctx context.Context, namespaces []string) map[string]authz.Permissions {
	access := make([]namespaceAccess, len(namespaces))
	var due []int
	var reviews errgroup.Group
	reviews.SetLimit(maxConcurrentReviews)
	for n, ns := range namespaces {
		known, ok := s.access[ns]
		access[n] = known
		if ok && time.Now().Before(known.nextReview) {
			continue
		}
		due = append(due, n)
		reviews.Go(func() error {
			access[n] = s.review(ctx, ns, known, !ok)
			return nil
		})
	}
	_ = reviews.Wait()
	for n, ns := range namespaces {
		s.access[ns] = access[n]
	}
	s.updateCounts(countAccess(s.access))
	for _, n := range due {
		wait := s.reviewInterval(namespaces[n], access[n].List)
		if namespaces[n] != "" {
			wait = reviewDelay(namespaces[n], wait)
		}
		access[n].nextReview = time.Now().Add(wait)
	}
	return s.apply(namespaces, access)
}

// reviewInterval returns the time between two access reviews of a namespace. allowed means that this program is
// permitted to list it. The interval is constant for the list of all namespaces (""). Otherwise, it grows with the
// number of reviewed namespaces, up to maxReviewInterval.
//
// If the RBAC rules are complete, one review covers all resources. Only the permitted namespaces of this informer are
// then counted. Otherwise, those of all informers are counted.
func (s *reconciler) reviewInterval(namespace string, allowed bool) time.Duration {
	minimum, count := deniedEvery, s.options.Reviews.Denied.Load()
	switch {
	case namespace == "":
		return authz.ReviewEvery
	case allowed && s.options.Reviews.AreRulesIncomplete():
		minimum, count = authz.ReviewEvery, s.options.Reviews.Allowed.Load()
	case allowed:
		minimum, count = authz.ReviewEvery, s.counted.allowed
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

// review requests an access review for a namespace, and returns the new permissions. known contains the previous
// permissions. isFirst means that there are none.
func (s *reconciler) review(
	ctx context.Context, namespace string, known namespaceAccess, isFirst bool,
) namespaceAccess {
	v := known
	reviewed, err := s.options.Reviews.Review(
		ctx, listwatch.Scope{Resource: s.Scope.Resource, Namespace: namespace}, known.Permissions,
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
		v.List = !s.refusesList(ctx, namespace)
		v.isListRefused = !v.List
	}
	return v
}

func (s *reconciler) apply(namespaces []string, access []namespaceAccess) map[string]authz.Permissions {
	allowed := make(map[string]authz.Permissions)
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, ns := range namespaces {
		v := access[n]
		s.access[ns] = v
		if v.nextReview.Before(s.nextReview) {
			s.nextReview = v.nextReview
		}
		switch {
		case v.List:
			allowed[ns] = v.Permissions
		case s.denied[ns].State == "" || s.denied[ns].Reason != v.Reason:
			s.denied[ns] = status.Status{State: status.Forbidden, Since: time.Now(), Reason: v.Reason}
			s.isStatusChanged = true
		}
	}
	return allowed
}

type accessCounts struct{ allowed, denied int64 }

func countAccess(access map[string]namespaceAccess) (counts accessCounts) {
	for ns, v := range access {
		switch {
		case ns == "":
		case v.List:
			counts.allowed++
		default:
			counts.denied++
		}
	}
	return counts
}

// updateCounts updates the totals of permitted and denied namespaces over all informers, which the reviewer stores.
// counts are the new numbers of this informer.
func (s *reconciler) updateCounts(counts accessCounts) {
	s.options.Reviews.Allowed.Add(counts.allowed - s.counted.allowed)
	s.options.Reviews.Denied.Add(counts.denied - s.counted.denied)
	s.counted = counts
}
