package informer

import (
	"context"
	"fmt"
	"time"

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/status"
)

// dropForbidden stops the feeds (watches of one namespace, or of all) that the API server refused, and removes their
// rows and the history. The reconciler starts such feeds again after some time.
//
// It returns false if the API server does not find the resource. A "not found" for a single namespace does not count.
func (s *reconciler) dropForbidden() bool {
	refused := make(map[string]status.Status)
	s.mu.Lock()
	for ns, f := range s.feeds {
		if status := f.state.status; f.state.hasOwnStatus && status.State.IsRefused() {
			refused[ns] = status
		}
	}
	s.mu.Unlock()
	if len(refused) == 0 {
		return true
	}
	for _, current := range refused {
		if current.State == status.Absent {
			s.options.RefreshSoon()
		}
	}
	if refused[""].State == status.Absent {
		s.nextAttempt = time.Now().Add(authz.ReviewEvery)
		s.setAbsent(fmt.Sprintf("The API server reports that %s is not found.", s.Scope.Resource.GroupResource()))
		return false
	}
	for ns, status := range refused {
		s.access[ns] = namespaceAccess{
			authz.Permissions{Reason: status.Reason},
			true,
			time.Now().Add(s.reviewInterval(ns, false)),
		}
		s.mu.Lock()
		s.denied[ns] = status
		s.mu.Unlock()
	}
	hadListed := false
	s.endFeeds(func(f *feed) bool {
		_, ok := refused[f.namespace]
		hadListed = hadListed || ok && f.state.Lists > 0
		return ok
	})
	_, all := refused[""]
	if evicted, _ := s.evict(func(ns string) bool { _, ok := refused[ns]; return ok || all }); evicted || hadListed {
		s.resetReaders()
	}
	return true
}

// refusesList requests a short list of a namespace, and reports whether the API server refuses it. It returns false
// for any other error, which the feed (the list and watch) reports later.
func (s *reconciler) refusesList(ctx context.Context, namespace string) bool {
	return s.tryList(ctx, namespace).IsRefused()
}

// tryList requests a short list of a namespace, or of all namespaces if namespace is "". It returns the state that a
// feed would have after the response, which is Live if the list succeeds.
func (s *reconciler) tryList(ctx context.Context, namespace string) status.State {
	scope := s.Scope
	scope.Namespace = namespace
	if _, _, err := s.options.Client.Estimate(ctx, scope); err != nil {
		return status.StateOf(err, false)
	}
	return status.Live
}

// isStillListed requests a short list of one watched namespace, and reports whether the API server still serves the
// resource. Any error except "not found" counts as served. It returns false if nothing is watched.
func (s *reconciler) isStillListed(ctx context.Context) bool {
	s.mu.Lock()
	namespace, watched := "", false
	for namespace = range s.feeds {
		watched = true
		break
	}
	s.mu.Unlock()
	return watched && s.tryList(ctx, namespace) != status.Absent
}
