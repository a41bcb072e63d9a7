package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// estimateDelay is the time between two memory estimates of a list that did not fit into the free memory.
	estimateDelay = time.Minute
	// relistDelay is the time before a list is tried again that was canceled because it exceeded the free memory. It is
	// long, because the canceled list read many objects in vain.
	relistDelay = 5 * time.Minute
	// changeMargin is the factor by which a memory estimate is increased, because later changes can add objects.
	changeMargin = 1.1
)

// estimate is the memory that a namespace's watch needs, or the reason why it does not fit.
type estimate struct {
	reserved *budget.Reservation // Memory for the objects that are not in memory yet.
	refusal  string              // Empty if the watch fits into memory.
	until    time.Time
}

// fits reports whether a namespace fits into the memory budget. It returns false until an estimate has arrived.
func (s *Reconciler) fits(ctx context.Context, namespace string) bool {
	if s.informer.Account.Limit() == 0 || s.feeds.IsWatched(namespace) {
		return true
	}
	if cached := s.estimates[namespace]; time.Now().Before(cached.until) {
		s.fail(namespace, cached.refusal)
		return false
	}
	probe := s.probes.probe(ctx, namespace)
	s.isIncomplete = s.isIncomplete || probe == nil
	return probe != nil && s.estimateFits(namespace, probe)
}

// estimateFits estimates a namespace's memory from the first page of its list, and reports whether it fits.
func (s *Reconciler) estimateFits(namespace string, probe *sizeProbe) bool {
	// If the probe failed, allow the feed: its complete list reports the error or fits into memory.
	if probe.err != nil {
		s.estimates[namespace] = estimate{}
		return true
	}
	replaced := int64(0)
	// The list of all namespaces replaces the objects of single namespaces, so the memory of these objects becomes
	// free.
	if namespace == "" {
		replaced = s.informer.Stats().CacheBytes
	}
	bytes := int64(float64(budget.WeightOf(probe.objects, probe.bytes)) * changeMargin)
	additional := max(0, bytes-replaced)
	free, fits := s.informer.Account.MakeRoom(additional)
	if fits {
		// Released when the namespace has been listed; see takeReservation.
		s.estimates[namespace] = estimate{reserved: s.informer.Account.Reserve(additional)}
		return true
	}
	free += replaced
	refusal := fmt.Sprintf("The %d objects need about %s of memory, and %s of the %s for watched objects are free: %s.",
		probe.objects, budget.FormatBytesUp(bytes), budget.FormatBytes(max(0, free)),
		budget.FormatBytes(s.informer.Account.Limit()), s.advice(namespace))
	s.estimates[namespace] = estimate{refusal: refusal, until: time.Now().Add(estimateDelay)}
	s.fail(namespace, refusal)
	return false
}

func (s *Reconciler) advice(namespace string) string {
	if s.scope.Fields != "" {
		return "use a narrower field selector, or increase --memory-limit"
	}
	if s.resource.Namespaced && namespace == "" {
		return "select one namespace or a few (ns=NAME), use a field selector, or increase --memory-limit"
	}
	return "use a field selector, or increase --memory-limit"
}

// takeReservation returns the memory that an estimate has reserved for the list of a namespace.
func (s *Reconciler) takeReservation(namespace string) *budget.Reservation {
	reserved := s.estimates[namespace].reserved
	delete(s.estimates, namespace)
	return cmp.Or(reserved, s.informer.Account.Reserve(0))
}

func (s *Reconciler) fail(namespace, reason string) {
	s.feeds.Deny(status.Failed, map[string]string{namespace: reason})
}

// dropOversized stops the feeds (lists and watches) whose list did not fit into memory, and removes their rows.
func (s *Reconciler) dropOversized() {
	oversized := make(map[string]status.Status)
	for ns, current := range s.feeds.Running() {
		if current.State == status.Failed {
			current.Reason += ": " + s.advice(ns) + "."
			oversized[ns] = current
		}
	}
	s.feeds.Drop(oversized)
	for ns, current := range oversized {
		s.estimates[ns] = estimate{refusal: current.Reason, until: time.Now().Add(relistDelay)}
	}
}

// enforceBudget stops all feeds if the informer exceeds the memory budget, and reports whether it has stopped them.
func (s *Reconciler) enforceBudget() bool {
	if !s.informer.Account.IsExceeded() {
		return false
	}
	prefix := fmt.Sprintf("The objects of the resource need %s of memory, and the limit for all watched objects is %s: ",
		budget.FormatBytesUp(s.informer.Account.Load()), budget.FormatBytes(s.informer.Account.Limit()))
	refusals := make(map[string]string)
	for ns := range s.feeds.Running() {
		refusals[ns] = prefix + s.advice(ns) + "."
	}
	s.feeds.Deny(status.Failed, refusals)
	s.feeds.End()
	s.clearRows()
	// Also refuse the watch of all namespaces together (""), because it needs at least as much memory.
	refusals[""] = prefix + s.advice("") + "."
	for ns, refusal := range refusals {
		s.estimates[ns] = estimate{refusal: refusal, until: time.Now().Add(estimateDelay)}
	}
	return true
}
