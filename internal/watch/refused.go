package watch

import (
	"context"
	"fmt"
	"time"
)

// heed handles feeds that the API server refused. They are stopped, and their rows and the history are removed. They
// are tried again after a while. heed reports whether the resource still exists. A namespace that is not found does not
// prove the opposite.
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
		s.absent(fmt.Sprintf("The API server does not find %s.", s.scope.Resource.GroupResource()))
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

// refuses reports whether the API server still refuses a short list of a namespace. Any other error is left to the
// feed.
func (s *settler) refuses(ctx context.Context, namespace string) bool {
	return s.try(ctx, namespace).refused()
}

// try returns the state that follows from a short list of a namespace; "" means all.
func (s *settler) try(ctx context.Context, namespace string) State {
	scope := s.scope
	scope.Namespace = namespace
	if _, _, err := s.client.Estimate(ctx, scope); err != nil {
		return stateOf(err, false)
	}
	return Live
}

// listed reports whether the API server still lists what is watched, or cannot answer now.
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
