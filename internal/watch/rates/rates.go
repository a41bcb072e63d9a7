// Package rates counts the container restarts and the Warning events of the objects that a list shows.
//
// A Reader counts for one viewer. It reads the changes in the journals of pods and events. Times for which a journal
// has no data have no count. Hidden objects do not affect the counts.
package rates

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// Step is the duration of one bucket.
	Step = 10 * time.Second
	// Buckets is the number of counts in a series.
	Buckets = 30

	// Interval is the minimum time between two results of a Reader.
	Interval = time.Second

	// maxChanges limits the visible changes that one result reads from each journal.
	maxChanges = 20_000
	// maxCounts limits the stored counts of a series. There is one count for each object and bucket.
	maxCounts = 10_000
	// maxLeft is the maximum number of objects that a follower keeps after they were deleted or no longer match.
	maxLeft = 1_000
)

// source is a resource whose visible changes are counted.
type source struct {
	Informer *shared.Informer
	Filter   *query.Filter // Only one goroutine can use a Filter, so sources must not share it.
	Refusal  error         // Why the viewer may not read the resource; nil if the viewer may.
}

// sources are the resources of one Reader.
type sources struct {
	Group, Kind string // API group and kind of the objects in the list.
	List        source
	// Events is the source of the Warning events. It is the zero source if the list itself contains events.
	Events source
	// Pods is the source for the pods of the listed objects. It is the zero source if the list itself contains pods, or
	// if the listed objects have no pods.
	Pods source
	// HasPods means that the list contains pods, or controllers of pods.
	HasPods bool

	Release   func()
	RecheckAt time.Time // When permissions must be checked again; zero for never.
}

// A Reader repeatedly returns the counts of restarts and warnings in the last 5 minutes. Only one goroutine can use it.
type Reader struct {
	opener   *opened.Opener
	query    query.Query
	resource *resource.Resource
	sources  *sources
	counter  *counter
	last     *Result
	readAt   time.Time
}

// New returns a Reader for the objects that a query selects.
func New(ctx context.Context, opener *opened.Opener, q query.Query) (*Reader, error) {
	found, err := opener.Checker.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	r := &Reader{opener: opener, query: q, resource: found}
	return r, r.recheck(ctx)
}

// Next waits until the Result differs from that of the last call. A new bucket starts after each interval Step, so Next
// returns a Result at least once per interval.
func (r *Reader) Next(ctx context.Context) (*Result, error) {
	for {
		signal.Sleep(ctx, time.Until(r.readAt.Add(Interval)))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.recheck(ctx); err != nil {
			return nil, err
		}
		r.readAt = time.Now()
		result, err := r.read(ctx)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(result, r.last) {
			r.last = result
			return result, nil
		}
	}
}

func (r *Reader) read(ctx context.Context) (*Result, error) {
	release, err := r.opener.Options.AcquireProcessor(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	now := time.Now()
	if err := r.counter.read(ctx, now); err != nil {
		return nil, err
	}
	return r.counter.result(now), nil
}

// recheck checks the permissions when RecheckAt has passed. If they have changed, the counter starts again.
func (r *Reader) recheck(ctx context.Context) error {
	if r.sources != nil && (r.sources.RecheckAt.IsZero() || time.Now().Before(r.sources.RecheckAt)) {
		return nil
	}
	sources, err := openSources(ctx, r.opener, &r.query, r.resource)
	if err != nil {
		return err
	}
	if r.sources != nil && !r.sources.differ(sources) {
		sources.Release()
		r.sources.RecheckAt = sources.RecheckAt
		return nil
	}
	r.Close()
	r.sources, r.counter = sources, newCounter(sources)
	return nil
}

func (s *sources) differ(other *sources) bool {
	return s.List.differs(&other.List) || s.Events.differs(&other.Events) || s.Pods.differs(&other.Pods)
}

func (s *source) differs(other *source) bool {
	if s.Informer != other.Informer || (s.Refusal == nil) != (other.Refusal == nil) {
		return true
	}
	return s.Informer != nil &&
		(s.Filter.ID() != other.Filter.ID() || s.Filter.IsRestricted != other.Filter.IsRestricted)
}

// Close releases the sources.
func (r *Reader) Close() {
	if r.sources != nil {
		r.sources.Release()
	}
}

// state returns the status of a source as the viewer may see it.
func (s *source) state() status.Status {
	switch problem, ok := errors.AsType[*status.Problem](s.Refusal); {
	case ok && problem.Cause == status.Refused:
		return status.Status{State: status.Forbidden, Reason: problem.Detail}
	case s.Refusal != nil:
		return status.Status{State: status.Absent, Reason: s.Refusal.Error()}
	case s.Informer == nil:
		return status.Status{State: status.Live}
	}
	now := s.Informer.VisibleState(s.Filter)
	if !now.Synced && now.Status.State == status.Live {
		now.Status.State = status.Syncing
	}
	return now.Status
}
