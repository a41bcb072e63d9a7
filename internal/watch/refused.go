package watch

import (
	"context"
	"fmt"
	"time"
)

// heed stops the feeds (watches of one namespace, or of all) that the API server refused, and removes their rows and
// the history. They are tried again after a while.
//
// heed returns false if the API server does not find the resource at all. A "not found" for one namespace does not
// prove that.
func (s *settler) heed() bool {
	refused := make(map[string]Status)
	s.mu.Lock()
	for ns, f := range s.feeds {
		if status := f.now.status; f.now.own && status.State.refused() {
			refused[ns] = status
		}
	}
	s.mu.Unlock()
	if len(refused) == 0 {
		return true
	}
	for _, status := range refused {
		if status.State == Absent {
			s.stir() // The resource may be gone.
		}
	}
	if refused[""].State == Absent {
		s.retry = time.Now().Add(reviewEvery)
		s.absent(fmt.Sprintf("The API server reports that %s is not found.", s.scope.Resource.GroupResource()))
		return false
	}
	for ns, status := range refused {
		s.verdicts[ns] = verdict{rights{reason: status.Reason}, true, time.Now().Add(s.interval(ns, false))}
		s.mu.Lock()
		s.denied[ns] = status
		s.mu.Unlock()
	}
	listed := false
	s.end(func(f *feed) bool {
		_, ok := refused[f.namespace]
		listed = listed || ok && f.now.lists > 0
		return ok
	})
	_, all := refused[""]
	if taken, _ := s.purge(func(ns string) bool { _, ok := refused[ns]; return ok || all }); taken || listed {
		s.beginAnew()
	}
	return true
}

// refuses reports whether the API server still refuses a short list of a namespace. It returns false for any other
// error, which the feed then handles.
func (s *settler) refuses(ctx context.Context, namespace string) bool {
	return s.try(ctx, namespace).refused()
}

// try requests a short list of a namespace, or of all namespaces if it is "". It returns the state that follows from
// the response: Live if the list succeeds.
func (s *settler) try(ctx context.Context, namespace string) State {
	scope := s.scope
	scope.Namespace = namespace
	if _, _, err := s.client.Estimate(ctx, scope); err != nil {
		return stateOf(err, false)
	}
	return Live
}

// listed reports whether the API server still serves the resource, by a short list of one watched namespace. An error
// other than "not found" counts as served. It returns false if nothing is watched.
func (s *settler) listed(ctx context.Context) bool {
	s.mu.Lock()
	namespace, watched := "", false
	for namespace = range s.feeds {
		watched = true
		break
	}
	s.mu.Unlock()
	return watched && s.try(ctx, namespace) != Absent
}
