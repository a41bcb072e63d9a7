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
	// reviewEvery is how often it is asked whether what is watched still may
	// be, and whether what could not be listed now can.
	reviewEvery = 10 * time.Second
	// deniedEvery is the same for namespaces that nobody may list: there may be
	// hundreds of them.
	deniedEvery = 30 * time.Second
	// reviewPace is between two reviews of namespaces that may be listed, and of
	// those that may not, on an average. Where there are more, each has its turn less
	// often, up to reviewMost: a right that comes shows within a minute, also with
	// thousands of namespaces, which are then asked for as quickly as that takes.
	reviewPace = 10 * time.Millisecond
	reviewMost = 45 * time.Second
	// reviewsAtOnce bounds the access reviews on their way for one resource.
	reviewsAtOnce = 8
	// settleMinimum is between two looks for rights that are due.
	settleMinimum = time.Second
)

// verdict is what is known of the right to a namespace.
type verdict struct {
	rights

	refused bool      // The list was, whatever reviews say: it is tried before a feed begins.
	next    time.Time // When it is to be asked again.
}

// judge returns those of the namespaces that may be listed. What cannot be found
// out stays as it was, or else is tried.
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
	_ = reviews.Wait() // They give no error.
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

// interval is between two questions for the right to a namespace: the more there
// are, the longer, within a bound. Rules tell of all resources at once. For all
// namespaces together, "", it is always the same.
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

// turn is how long it is until a namespace is asked for again. Each has its moment,
// the same for all resources, so that questions come spread, and one answer is for all.
func turn(namespace string, every time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, namespace) // It gives no error.
	moment := int64(hash.Sum64() % uint64(every))
	wait := time.Duration(moment - time.Now().UnixNano()%int64(every))
	if wait <= 0 {
		wait += every
	}
	return wait
}

// inquire asks for the right to a namespace.
func (s *settler) inquire(ctx context.Context, namespace string, known verdict, first bool) verdict {
	v := known
	rights, err := s.reviews.review(ctx, wire.Scope{Resource: s.scope.Resource, Namespace: namespace}, known.rights)
	switch {
	case err == nil && rights.list && known.refused:
		v.list, v.watch = true, rights.watch // The reason is the list's.
	case err == nil:
		v.rights, v.refused = rights, false
	case first || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err): // Nobody may ask.
		v.list, v.watch = true, true
	}
	if v.list && v.refused {
		v.list = !s.refuses(ctx, namespace)
		v.refused = !v.list
	}
	return v
}

// take keeps verdicts, and returns the rights of those that may be listed.
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

// sums are how many namespaces are asked for, by what was answered.
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

// count tells the reviewer how many namespaces this informer asks for.
func (s *settler) count(now sums) {
	s.reviews.allowed.Add(now.allowed - s.asking.allowed)
	s.reviews.denied.Add(now.denied - s.asking.denied)
	s.asking = now
}
