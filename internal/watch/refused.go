package watch

import (
	"context"
	"fmt"
	"time"
)

// interval is between two questions for the right to a namespace; "" is all.
func interval(namespace string, allowed bool) time.Duration {
	if namespace != "" && !allowed {
		return deniedEvery
	}
	return reviewEvery
}

// heed learns from feeds that were refused: they end, and are tried again after
// a while. It reports whether the resource is there, which a namespace that is
// not found does not tell.
func (s *settler) heed() bool {
	refused := make(map[string]Status)
	s.mu.Lock()
	for ns, f := range s.feeds {
		if status := f.now.status; f.now.own && (status.State == Forbidden || status.State == Absent) {
			refused[ns] = status
		}
	}
	s.mu.Unlock()
	if refused[""].State == Absent {
		s.retry = time.Now().Add(reviewEvery)
		s.absent(fmt.Sprintf("The API server does not find %s.", s.scope.Resource.GroupResource()))
		return false
	}
	for ns, status := range refused {
		s.verdicts[ns] = verdict{rights{reason: status.Reason}, true, time.Now().Add(interval(ns, false))}
		s.mu.Lock()
		s.denied[ns] = status
		s.mu.Unlock()
	}
	s.end(func(f *feed) bool { _, ok := refused[f.namespace]; return ok })
	return true
}

// refuses reports whether the API server refuses a short list of a namespace, as
// it did before. Any other error is for a feed to tell.
func (s *settler) refuses(ctx context.Context, namespace string) bool {
	scope := s.scope
	scope.Namespace = namespace
	_, _, err := s.client.Estimate(ctx, scope)
	state := stateOf(err, false)
	return err != nil && (state == Forbidden || state == Absent)
}
