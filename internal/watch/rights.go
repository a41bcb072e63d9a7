package watch

import (
	"context"
	"hash/fnv"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"glasshouse/internal/watch/wire"
)

const (
	// reviewEvery is the time between two permission reviews of a watched resource. It is also the time after which a
	// resource that could not be listed is tried again.
	reviewEvery = 10 * time.Second
	// deniedEvery is the time between two reviews of a namespace that the program may not list. It is longer, because
	// there may be hundreds of them.
	deniedEvery = 30 * time.Second
	// reviewPace is the average time between two reviews of any permitted namespaces, and also between two reviews of
	// any denied ones. With more namespaces, each one is reviewed less often, but at least every reviewMost. A new
	// permission is therefore effective within a minute, even with thousands of namespaces. For that, the reviews may
	// follow each other faster than reviewPace.
	reviewPace = 10 * time.Millisecond
	reviewMost = 45 * time.Second
	// reviewsAtOnce limits the concurrent access reviews for one resource.
	reviewsAtOnce = 8
	// settleMinimum is the shortest time between two runs of the reconciler that are only for reviews.
	settleMinimum = time.Second
)

// verdict is the last known permission to list and watch one namespace.
type verdict struct {
	rights

	// refused means that the API server refused the list although a review allows it. A short list is then tried before
	// a feed starts.
	refused bool
	next    time.Time // When the next review is due.
}

// judge reviews the permissions for namespaces whose review is due, and returns the permissions of those that may be
// listed. If a review fails, the previous decision stays. Without a previous decision, the namespace counts as allowed,
// so that its list is tried.
func (s *settler) judge(ctx context.Context, namespaces []string) map[string]rights {
	verdicts := make([]verdict, len(namespaces))
	var due []int
	var reviews errgroup.Group
	reviews.SetLimit(reviewsAtOnce)
	for n, ns := range namespaces {
		known, ok := s.verdicts[ns]
		verdicts[n] = known
		if ok && time.Now().Before(known.next) {
			continue
		}
		due = append(due, n)
		reviews.Go(func() error {
			verdicts[n] = s.inquire(ctx, ns, known, !ok)
			return nil
		})
	}
	_ = reviews.Wait() // The functions in the group return no errors.
	for n, ns := range namespaces {
		s.verdicts[ns] = verdicts[n]
	}
	s.count(sumsOf(s.verdicts))
	for _, n := range due {
		wait := s.interval(namespaces[n], verdicts[n].list)
		if namespaces[n] != "" {
			wait = turn(namespaces[n], wait)
		}
		verdicts[n].next = time.Now().Add(wait)
	}
	return s.take(namespaces, verdicts)
}

// interval returns the time between two reviews of a namespace. It grows with the number of namespaces, up to
// reviewMost. For the list of all namespaces, "", it is constant. One review of complete RBAC rules covers all
// resources. Therefore, with such rules, only the namespaces of this informer count among those that are allowed.
func (s *settler) interval(namespace string, allowed bool) time.Duration {
	least, many := deniedEvery, s.reviews.denied.Load()
	switch {
	case namespace == "":
		return reviewEvery
	case allowed && s.reviews.isPartial():
		least, many = reviewEvery, s.reviews.allowed.Load()
	case allowed:
		least, many = reviewEvery, s.asking.allowed
	}
	return min(max(least, time.Duration(many)*reviewPace), reviewMost)
}

// turn returns the time until the next review of a namespace. Each namespace is reviewed at a fixed point in the
// interval every, the same for all resources. This spreads the reviews over time, and one review of the rules serves
// all resources.
func turn(namespace string, every time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, namespace) // It returns no error.
	moment := int64(hash.Sum64() % uint64(every))
	wait := time.Duration(moment - time.Now().UnixNano()%int64(every))
	if wait <= 0 {
		wait += every
	}
	return wait
}

// inquire reviews the permission for a namespace. known is the previous verdict; first means that there is none.
func (s *settler) inquire(ctx context.Context, namespace string, known verdict, first bool) verdict {
	v := known
	rights, err := s.reviews.review(ctx, wire.Scope{Resource: s.scope.Resource, Namespace: namespace}, known.rights)
	switch {
	case err == nil && rights.list && known.refused:
		v.list, v.watch = true, rights.watch // Keep the reason of the refused list.
	case err == nil:
		v.rights, v.refused = rights, false
	// The program may not request reviews, or there is no previous verdict: allow, so that a list is tried.
	case first || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		v.list, v.watch = true, true
	}
	if v.list && v.refused {
		v.list = !s.refuses(ctx, namespace)
		v.refused = !v.list
	}
	return v
}

// take stores the new verdicts, and returns the permissions of those namespaces that may be listed.
func (s *settler) take(namespaces []string, verdicts []verdict) map[string]rights {
	allowed := make(map[string]rights)
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, ns := range namespaces {
		v := verdicts[n]
		s.verdicts[ns] = v
		if v.next.Before(s.due) {
			s.due = v.next
		}
		switch {
		case v.list:
			allowed[ns] = v.rights
		case s.denied[ns].State == "" || s.denied[ns].Reason != v.reason:
			s.denied[ns] = Status{State: Forbidden, Since: time.Now(), Reason: v.reason}
			s.moved = true
		}
	}
	return allowed
}

// sums contains the numbers of reviewed namespaces that may be listed, and that may not.
type sums struct{ allowed, denied int64 }

func sumsOf(verdicts map[string]verdict) (of sums) {
	for ns, v := range verdicts {
		switch {
		case ns == "":
		case v.list:
			of.allowed++
		default:
			of.denied++
		}
	}
	return of
}

// count updates the reviewer's totals over all informers with the numbers of this informer.
func (s *settler) count(now sums) {
	s.reviews.allowed.Add(now.allowed - s.asking.allowed)
	s.reviews.denied.Add(now.denied - s.asking.denied)
	s.asking = now
}
