package informer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"glasshouse/internal/watch/informer/budget"
	"glasshouse/internal/watch/status"
)

const (
	// estimateDelay is the delay before a new memory estimate, if the last estimate exceeded the free memory. During
	// the delay, the resource is not watched.
	estimateDelay = time.Minute
	// relistDelay is the delay before a new list, if the last list was canceled because it exceeded the free memory.
	// It is longer than estimateDelay, because a canceled list has read many objects in vain.
	relistDelay = 5 * time.Minute
	// changeMargin is the factor by which a memory estimate is increased, because later changes can add objects.
	changeMargin = 1.1
)

// estimate is the memory that the watch of a namespace needs, or the reason why the watch does not fit into the
// budget. The namespace "" means all namespaces.
type estimate struct {
	reserved *budget.Reservation // Needed memory, without that of objects that are already in memory.
	refusal  string              // Empty if the watch fits into memory.
	until    time.Time
}

// fits reports whether a namespace ("" means all) can be watched within the memory budget. It returns false until the
// data for an estimate has arrived. If the namespace does not fit, fits sets its status to Failed, with the reason
// and with advice for a smaller request.
//
// Namespaces that are not listed yet, but have got an estimate that fits, count as used memory.
func (s *reconciler) fits(ctx context.Context, namespace string) bool {
	if s.Account.Limit() == 0 {
		return true
	}
	s.mu.Lock()
	isWatched := s.feeds[namespace] != nil || namespace != "" && (s.coverage.covered[""] || s.coverage.covered[namespace])
	s.mu.Unlock()
	if isWatched {
		return true
	}
	if cached := s.estimates[namespace]; time.Now().Before(cached.until) {
		s.setFailed(namespace, cached.refusal)
		return false
	}
	probe := s.probe(ctx, namespace)
	return probe != nil && s.estimateFits(namespace, probe)
}

// estimateFits estimates the memory for a namespace from probe, the first page of its list. It reports whether that
// memory fits into the budget. If the request for the page failed, it returns true, because the complete list will
// then report the error or its own size.
func (s *reconciler) estimateFits(namespace string, probe *sizeProbe) bool {
	if probe.err != nil {
		s.estimates[namespace] = estimate{}
		return true
	}
	replaced := int64(0)
	// The list of all namespaces replaces the objects of single namespaces, so their memory becomes free.
	if namespace == "" {
		state, _ := s.Weight()
		replaced = int64(state) + s.masks.Weight()
	}
	bytes := int64(float64(budget.WeightOf(probe.objects, probe.bytes)) * changeMargin)
	additional := max(0, bytes-replaced)
	free, fits := s.Account.MakeRoom(additional)
	if fits {
		// Released when the namespace has been listed; see prepare.
		s.estimates[namespace] = estimate{reserved: s.Account.Reserve(additional)}
		return true
	}
	free += replaced
	refusal := fmt.Sprintf("The %d objects need about %s, and %s of the %s for watched objects are free: %s.",
		probe.objects, budget.FormatBytesUp(bytes), budget.FormatBytes(max(0, free)), budget.FormatBytes(s.Account.Limit()),
		s.advice(namespace))
	s.estimates[namespace] = estimate{refusal: refusal, until: time.Now().Add(estimateDelay)}
	s.setFailed(namespace, refusal)
	return false
}

func (f *feed) replaceableBytes() int64 {
	if f.namespace == "" {
		state, _ := f.Weight()
		return int64(state)
	}
	return int64(f.WeightIn(f.covers))
}

// measure counts a part of a list that has arrived. It cancels the list if it does not fit into memory.
func (f *feed) measure(objects int, bytes int64) {
	refusal := f.reserved.Measure(objects, bytes)
	if refusal == "" {
		return
	}
	f.mu.Lock()
	f.state.markStopping(time.Now())
	f.state.oversizedReason = refusal
	f.mu.Unlock()
	f.stop()
	f.RequestReconcile()
}

func (s *reconciler) advice(namespace string) string {
	if s.Scope.Fields != "" {
		return "use a narrower field selector, or increase --memory-limit"
	}
	if s.resource.Namespaced && namespace == "" {
		return "select one namespace or a few (ns=NAME), use a field selector, or increase --memory-limit"
	}
	return "use a field selector, or increase --memory-limit"
}

func (s *reconciler) setFailed(namespace, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	previous, since := s.denied[namespace], time.Now()
	if previous.State == status.Failed {
		since = previous.Since
	}
	if previous.State != status.Failed || previous.Reason != reason {
		s.denied[namespace] = status.Status{State: status.Failed, Since: since, Reason: reason}
		s.isStatusChanged = true
	}
}

// dropOversized stops the feeds (lists and watches) whose list did not fit into memory, and removes their rows.
func (s *reconciler) dropOversized() {
	s.mu.Lock()
	reasons := make(map[string]string)
	for ns, f := range s.feeds {
		if f.state.oversizedReason != "" {
			reasons[ns] = f.state.oversizedReason
		}
	}
	s.mu.Unlock()
	for ns, reason := range reasons {
		refusal := reason + ": " + s.advice(ns) + "."
		s.setFailed(ns, refusal) // Set the status first, so that no other status is reported in between.
		s.endFeeds(func(f *feed) bool { return f.namespace == ns })
		if evicted, _ := s.evict(func(other string) bool { return other == ns || ns == "" }); evicted {
			s.resetReaders()
		}
		s.estimates[ns] = estimate{refusal: refusal, until: time.Now().Add(relistDelay)}
	}
}

// enforceBudget stops all feeds (lists and watches) of the informer if it has grown too large for the memory budget.
// It reports whether it has stopped them.
func (s *reconciler) enforceBudget() bool {
	if !s.Account.IsExceeded() {
		return false
	}
	s.mu.Lock()
	watched := slices.Collect(maps.Keys(s.feeds))
	s.mu.Unlock()
	prefix := fmt.Sprintf("The resource has grown to %s, and the limit for all watched objects is %s: ",
		budget.FormatBytesUp(s.Account.Load()), budget.FormatBytes(s.Account.Limit()))
	refusalOf := func(ns string) string { return prefix + s.advice(ns) + "." }
	for _, ns := range watched {
		s.setFailed(ns, refusalOf(ns))
	}
	s.endFeeds(everyFeed)
	s.clearRows()
	// Also refuse the watch of all namespaces together (""), because it needs at least as much memory.
	for _, ns := range append(watched, "") {
		s.estimates[ns] = estimate{refusal: refusalOf(ns), until: time.Now().Add(estimateDelay)}
	}
	return true
}
