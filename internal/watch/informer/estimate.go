package informer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"glasshouse/internal/watch/status"

	"k8s.io/apimachinery/pkg/api/resource"

	"glasshouse/internal/watch/journal"
)

// estimate is the memory that the watch of a namespace needs, or the reason why the watch does not fit into the
// budget. The namespace "" means all namespaces.
type estimate struct {
	bytes   int64  // Needed bytes, without those of objects that are already in memory.
	refusal string // Empty if the watch fits into memory.
	until   time.Time
}

// fits reports whether a namespace ("" means all) can be watched within the memory budget. It returns false until the
// data for an estimate has arrived. If the namespace does not fit, fits sets its status to Failed, with the reason
// and with advice for a smaller request.
//
// Namespaces that are not listed yet, but have got an estimate that fits, count as used memory.
func (s *reconciler) fits(ctx context.Context, namespace string) bool {
	if s.options.Pool.Budget == 0 {
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
	bytes := int64(float64(weightOf(probe.objects, probe.bytes)) * changeMargin)
	additional := max(0, bytes-replaced)
	free, fits := s.options.Pool.makeRoom(additional, s.Informer)
	if fits {
		s.reservedBytes.Add(additional) // Released when the namespace has been listed; see prepare.
		s.estimates[namespace] = estimate{bytes: additional}
		return true
	}
	free += replaced
	refusal := fmt.Sprintf("The %d objects need about %s, and %s of the %s for watched objects are free: %s.",
		probe.objects, formatBytesUp(bytes), formatBytes(max(0, free)), formatBytes(s.options.Pool.Budget),
		s.advice(namespace))
	s.estimates[namespace] = estimate{refusal: refusal, until: time.Now().Add(estimateDelay)}
	s.setFailed(namespace, refusal)
	return false
}

func weightOf(objects int, bytes int64) int64 { return bytes + int64(objects)*journal.EntryOverhead }

// reservation is the memory that a feed (the list and watch of one namespace, or of all) reserves until its list is
// complete. While the feed runs, only the goroutine that reads the list uses the reservation. Before the start and
// after the end of the feed, only the reconciler uses it.
type reservation struct {
	// bytes is the memory that is reserved for the list. It does not include what was in memory before the list:
	// objects, and data about masked values.
	bytes         int64
	replacedBytes int64 // Size of the objects that the list replaces; unmeasured (-1) until it is computed.
	masks         int64 // The part of bytes that is already in use, for data about masked values in this list.
	isOversized   bool  // The list did not fit and was canceled.
}

const unmeasured = -1

func (f *feed) replaceableBytes() int64 {
	if f.namespace == "" {
		state, _ := f.Weight()
		return int64(state)
	}
	return int64(f.WeightIn(f.covers))
}

// measure is called with the number of objects and bytes of a list that have arrived so far. It cancels the list if
// they exceed both the estimate and the free memory. Estimates can be too low or missing: the API server does not
// report the length of a list with a field selector, and a relist can have any size.
//
// While a list arrives, its objects are in memory together with the objects that they replace. Only the larger of the
// two sizes counts, because otherwise no resource could use more than half of the budget.
func (f *feed) measure(objects int, bytes int64) {
	r := &f.reserved
	if f.options.Pool.Budget == 0 || r.isOversized {
		return
	}
	masks := f.source.DigestBytes()
	f.reservedBytes.Add(r.masks - masks)
	r.masks = masks
	total := weightOf(objects, bytes+masks)
	if total <= r.bytes {
		return
	}
	if r.replacedBytes == unmeasured {
		r.replacedBytes = f.replaceableBytes()
	}
	excess := total - r.replacedBytes - r.bytes
	if excess <= 0 {
		return
	}
	var free int64
	for _, additional := range []int64{excess + reserveStep, excess} {
		var fits bool
		if free, fits = f.options.Pool.makeRoom(additional, f.Informer); fits {
			r.bytes += additional
			f.reservedBytes.Add(additional)
			return
		}
	}
	r.isOversized = true
	f.mu.Lock()
	f.state.markStopping(time.Now())
	f.state.oversizedReason = fmt.Sprintf(
		"The first %d objects need about %s, more objects can follow, and %s of the %s for watched objects are free",
		objects, formatBytesUp(total), formatBytes(max(0, free+r.replacedBytes+r.bytes)), formatBytes(f.options.Pool.Budget),
	)
	f.mu.Unlock()
	f.stop()
	f.requestReconcile()
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
	if !s.options.Pool.exceedsBudget(s.Informer) {
		return false
	}
	s.mu.Lock()
	watched := slices.Collect(maps.Keys(s.feeds))
	s.mu.Unlock()
	prefix := fmt.Sprintf("The resource has grown to %s, and the limit for all watched objects is %s: ",
		formatBytesUp(s.load()), formatBytes(s.options.Pool.Budget))
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

func formatBytes(n int64) string {
	return resource.NewQuantity(n/byteUnit(n)*byteUnit(n), resource.BinarySI).String() + "B"
}

func formatBytesUp(n int64) string { return formatBytes(n + byteUnit(n) - 1) }

func byteUnit(n int64) int64 {
	if n >= 10<<20 {
		return 1 << 20
	}
	return 1 << 10
}
