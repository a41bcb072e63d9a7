package rates

import (
	"context"
	"maps"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// counter counts restarts and warnings by object and bucket.
type counter struct {
	sources  *sources
	list     *follower
	pods     *follower // The same follower as list, if the listed objects are Pods; nil if no pods are counted.
	events   *follower // The same follower as in the field list, if the listed objects are Events.
	restarts counts
	warnings counts
}

// counts contains the counts of one series (restarts or warnings).
type counts struct {
	byKey map[countKey]*count
	from  time.Time // Counts before this time were dropped, because there were too many.
}

type countKey struct {
	bucket int64 // Unix time divided by Step
	object target
}

// target is the object to which a count belongs.
type target struct{ group, kind, namespace, name string }

type count struct {
	n int
	// isShown means that the object has been in the list. Each result checks this again until it is true, because the
	// object can enter the list after its restart or warning was counted.
	isShown bool
}

func newCounter(s *sources) *counter {
	c := &counter{sources: s, list: &follower{source: &s.List}}
	c.events, c.pods = &follower{source: &s.Events}, &follower{source: &s.Pods, keepsLeft: true}
	c.list.keepsLeft = c.list.isRead() && (!s.List.Filter.MatchesNamespaces() || s.HasPods && !s.isOfPods())
	if s.isOfEvents() {
		c.events = c.list
	}
	switch {
	case s.isOfPods():
		c.pods = c.list
	case !s.HasPods:
		c.pods = nil
	}
	c.restarts.reset()
	c.warnings.reset()
	return c
}

func (s *sources) isOfEvents() bool { return s.Kind == "Event" }

func (s *sources) isOfPods() bool { return s.Group == "" && s.Kind == "Pod" }

// followers returns each follower once. The follower of the list is first, because the others need its objects.
func (c *counter) followers() []*follower {
	all := []*follower{c.list}
	for _, f := range []*follower{c.pods, c.events} {
		if f != nil && f != c.list {
			all = append(all, f)
		}
	}
	return all
}

// read counts the changes since the last call.
func (c *counter) read(ctx context.Context, now time.Time) error {
	for _, f := range c.followers() {
		if !f.isRead() {
			continue
		}
		before := f.from
		changes, err := f.read(ctx, now)
		if err != nil {
			return err
		}
		if f.from.After(before) || !f.started {
			c.drop(f)
		}
		for _, change := range changes {
			if change.Time.After(f.from) && change.Op != journal.Delete {
				c.add(f, change)
			}
		}
	}
	c.restarts.settle(now, c.isShown)
	c.warnings.settle(now, c.isShown)
	return nil
}

// drop drops the counts before f.from, because some changes before f.from are unknown. If f has no complete data yet,
// drop drops all counts.
func (c *counter) drop(f *follower) {
	if f == c.pods {
		c.restarts.drop(f)
	}
	if f == c.events {
		c.warnings.drop(f)
	}
}

func (c *counts) drop(f *follower) {
	maps.DeleteFunc(c.byKey, func(key countKey, _ *count) bool {
		return !f.started || key.bucket <= bucketOf(f.from)
	})
}

func (c *counter) add(f *follower, change *event.Change) {
	if f == c.pods {
		pod := target{"", "Pod", change.New.Namespace(), change.New.Name()}
		c.restarts.add(change.Time, pod, restartsIn(change))
	}
	if f == c.events {
		n, regarded := warningsIn(change)
		if f == c.list {
			regarded = target{c.sources.Group, c.sources.Kind, change.New.Namespace(), change.New.Name()}
		}
		c.warnings.add(change.Time, regarded, n)
	}
}

func (c *counts) reset() { *c = counts{byKey: make(map[countKey]*count)} }

func (c *counts) add(at time.Time, object target, n int) {
	if n == 0 {
		return
	}
	if len(c.byKey) >= maxCounts {
		c.reset()
		c.from = at
	}
	key := countKey{bucketOf(at), object}
	if c.byKey[key] == nil {
		c.byKey[key] = &count{}
	}
	c.byKey[key].n += n
}

// settle drops counts that are too old. In each other count, it records whether the list has ever shown the object.
func (c *counts) settle(now time.Time, isShown func(target) bool) {
	for key, one := range c.byKey {
		switch {
		case key.bucket <= bucketOf(now)-Buckets:
			delete(c.byKey, key)
		case !one.isShown:
			one.isShown = isShown(key.object)
		}
	}
}

// isShown reports whether the list shows an object. A list of controllers (Deployments) also shows the pods that its
// objects own.
func (c *counter) isShown(object target) bool {
	if !c.list.isRead() {
		return false
	}
	if object.group == c.sources.Group && object.kind == c.sources.Kind {
		f := c.sources.List.Filter
		return f.MatchesNamespaces() && f.IncludesNamespace(object.namespace) ||
			c.list.find(object.namespace, object.name) != nil
	}
	if c.pods == nil || object.group != "" || object.kind != "Pod" {
		return false
	}
	pod := c.pods.find(object.namespace, object.name)
	return pod != nil && c.owns(pod)
}

// Result contains the counts of restarts and warnings in the last 5 minutes.
type Result struct {
	Start    time.Time `json:"start"` // Start of the first bucket.
	Step     int       `json:"step"`  // Duration of a bucket in seconds.
	Restarts *Series   `json:"restarts,omitempty"`
	Warnings *Series   `json:"warnings"`
}

// Series is one count per bucket, oldest first.
type Series struct {
	State  status.State `json:"state"`
	Reason string       `json:"reason,omitempty"`
	// Since is the start of the data. It is nil if no bucket or every bucket has data.
	Since  *time.Time `json:"since,omitempty"`
	Counts []*int     `json:"counts"` // An element is nil if its bucket has no data.
}

func bucketOf(at time.Time) int64 { return at.Unix() / int64(Step/time.Second) }

func (c *counter) result(now time.Time) *Result {
	r := &Result{
		Start: time.Unix((bucketOf(now)-Buckets+1)*int64(Step/time.Second), 0).UTC(), Step: int(Step / time.Second),
	}
	sources := []*follower{c.events, c.list}
	if c.pods != nil {
		r.Restarts = c.series(now, &c.restarts, r.Start, c.pods, c.list)
		if c.pods.isRead() {
			sources = append(sources, c.pods)
		}
	}
	r.Warnings = c.series(now, &c.warnings, r.Start, sources...)
	return r
}

// series returns the counts as a Series that begins at start. It has no data for times for which a resource in sources
// has no data.
func (c *counter) series(now time.Time, counted *counts, start time.Time, sources ...*follower) *Series {
	s := &Series{State: status.Live, Counts: make([]*int, Buckets)}
	from, until := c.known(s, now, sources)
	if from = later(from, counted.from); from.After(now) {
		return s
	}
	if from.After(start) {
		at := from.UTC().Truncate(time.Millisecond)
		s.Since = &at
	}
	for n := range s.Counts {
		at := start.Add(time.Duration(n) * Step)
		if at.Add(Step).After(from) && at.Before(until) {
			s.Counts[n] = new(0)
		}
	}
	for key, one := range counted.byKey {
		at := int(key.bucket - bucketOf(start))
		if one.isShown && at >= 0 && at < Buckets && s.Counts[at] != nil {
			*s.Counts[at] += one.n
		}
	}
	return s
}

// known returns the start and end of the time for which all sources have data. It also sets the state of the series s.
func (c *counter) known(s *Series, now time.Time, sources []*follower) (from, until time.Time) {
	until = now.Add(Step)
	for n, f := range sources {
		// The state of the list does not matter if isShown checks only the namespace of an object. In this case, the
		// list shows all objects of its namespaces, and no owner of a counted pod is needed. So skip the list's
		// follower.
		if n > 0 && f == c.list && f.isRead() && !f.keepsLeft {
			continue
		}
		state := f.source.state()
		if s.State == status.Live && state.State != status.Live {
			s.State, s.Reason = state.State, state.Reason
		}
		// The data of a stale resource ends at Since. Without Since, the resource is stale only because it is polled,
		// and has data up to the present.
		if state.State == status.Stale && !state.Since.IsZero() && state.Since.Before(until) {
			until = state.Since
		}
		from = later(from, f.from)
		if !f.isRead() || !f.started {
			from = now.Add(Step)
		}
	}
	return from, until
}
