package watch

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
	// deniedEvery is the time between two reviews of a namespace that the program is not permitted to list. It is
	// longer, because there may be hundreds of them.
	deniedEvery = 30 * time.Second
	// reviewSpacing is the average time between two reviews of any permitted namespaces, and also between two reviews of
	// any denied ones. With more namespaces, each one is reviewed less often, but at least every maxReviewInterval. A new
	// permission is therefore effective within a minute, even with thousands of namespaces. For that, the reviews may
	// follow each other faster than reviewSpacing.
	reviewSpacing     = 10 * time.Millisecond
	maxReviewInterval = 45 * time.Second
	// maxConcurrentReviews limits the concurrent access reviews for one resource.
	maxConcurrentReviews = 8
	// reconcileMinimum is the shortest time between two runs of the reconciler that are only for reviews.
	reconcileMinimum = time.Second
)

// namespaceAccess is the last known permission to list and watch one namespace.
type namespaceAccess struct {
	authz.Permissions

	// isListRefused means that the API server refused the list although a review allows it. A short list is then tried
	// before a feed starts.
	isListRefused bool
	nextReview    time.Time // When the next review is due.
}

// evaluate reviews the permissions for namespaces whose review is due, and returns the permissions of those that may be
// listed. If a review fails, the previous decision stays. Without a previous decision, the namespace counts as allowed,
// so that its list is tried.
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
	_ = reviews.Wait() // The functions in the group return no errors.
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

// reviewInterval returns the time between two reviews of a namespace. It grows with the number of namespaces, up to
// maxReviewInterval. For the list of all namespaces, "", it is constant. One review of complete RBAC rules covers all
// resources. Therefore, with such rules, only the namespaces of this informer count among those that are allowed.
func (s *reconciler) reviewInterval(namespace string, allowed bool) time.Duration {
	minimum, count := deniedEvery, s.reviews.Denied.Load()
	switch {
	case namespace == "":
		return authz.ReviewEvery
	case allowed && s.reviews.AreRulesIncomplete():
		minimum, count = authz.ReviewEvery, s.reviews.Allowed.Load()
	case allowed:
		minimum, count = authz.ReviewEvery, s.counted.allowed
	}
	return min(max(minimum, time.Duration(count)*reviewSpacing), maxReviewInterval)
}

// reviewDelay returns the time until the next review of a namespace. Each namespace is reviewed at a fixed point in the
// interval every, the same for all resources. This spreads the reviews over time, and one review of the rules serves
// all resources.
func reviewDelay(namespace string, every time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, namespace) // WriteString on a hash returns no error.
	phase := int64(hash.Sum64() % uint64(every))
	wait := time.Duration(phase - time.Now().UnixNano()%int64(every))
	if wait <= 0 {
		wait += every
	}
	return wait
}

// review reviews the permission for a namespace. known is the previous access; isFirst means that there is none.
func (s *reconciler) review(
	ctx context.Context, namespace string, known namespaceAccess, isFirst bool,
) namespaceAccess {
	v := known
	reviewed, err := s.reviews.Review(
		ctx, listwatch.Scope{Resource: s.scope.Resource, Namespace: namespace}, known.Permissions,
	)
	switch {
	case err == nil && reviewed.List && known.isListRefused:
		v.List, v.Watch = true, reviewed.Watch // Keep the reason of the refused list.
	case err == nil:
		v.Permissions, v.isListRefused = reviewed, false
	// The program is not permitted to request reviews, or there is no previous decision: allow, so that a list is
	// tried.
	case isFirst || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		v.List, v.Watch = true, true
	}
	if v.List && v.isListRefused {
		v.List = !s.refusesList(ctx, namespace)
		v.isListRefused = !v.List
	}
	return v
}

// apply stores the new permissions, and returns the permissions of those namespaces that may be listed.
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

// accessCounts contains the numbers of reviewed namespaces that may be listed, and that may not.
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

// updateCounts updates the reviewer's totals over all informers with the numbers of this informer.
func (s *reconciler) updateCounts(counts accessCounts) {
	s.reviews.Allowed.Add(counts.allowed - s.counted.allowed)
	s.reviews.Denied.Add(counts.denied - s.counted.denied)
	s.counted = counts
}
