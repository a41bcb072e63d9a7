package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/opened"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// A Subscription is one reader of one resource. It rechecks permissions. Only one goroutine can use and close a
// Subscription.
type Subscription struct {
	access *Access
	query  query.Query
	view   stream.View
	// resource is what discovery returned at the start. If the resource disappears, the informer's status reports
	// that.
	resource *resource.Resource

	reader          *stream.Reader
	release         func()
	refusal         string // Why the viewer is not allowed to see anything; empty if some objects are visible.
	recheckAt       time.Time
	uncheckedStatus *status.Status // The status to send while permissions cannot be checked; nil at other times.
	uncheckedSent   bool
	isIncomplete    bool
}

// Subscribe starts to read the result of a query: after the cursor of an earlier subscription or snapshot, or with a
// snapshot if cursor is empty or too old.
func (a *Access) Subscribe(ctx context.Context, q query.Query, view stream.View, cursor string) (*Subscription, error) {
	if !view.IsValid() {
		return nil, status.Invalidf("Unknown view",
			"%.40q is not a view: use rows, table, window, object, changes, resources, overview, explanation, "+
				"rates or log; object also needs a name.", view)
	}
	isOfRows := view == stream.Rows || view == stream.Table || view == stream.Windowed
	if view == stream.Object && q.Name == "" || isOfRows && q.Name != "" {
		return nil, status.Invalidf("Name and view do not match",
			"The view object needs a name; the views rows, table and window do not allow one.")
	}
	if (view == stream.Windowed) != (q.Window != nil) {
		return nil, status.Invalidf("Invalid window",
			"The view window needs a range of rows (offset and count); other views do not allow one.")
	}
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	s := &Subscription{access: a, query: q, view: view, resource: resource}
	filter, refusal, err := s.checkPermissions(ctx, authz.TTLOpen())
	if err != nil {
		return nil, err
	}
	if view == stream.Object && resource.Namespaced != (len(q.Namespaces) == 1) {
		return nil, status.Invalidf("Invalid object reference",
			"The view object needs exactly one namespace for a namespaced resource.")
	}
	if err := s.openReader(filter, refusal); err != nil { //nolint:contextcheck // Informers outlive subscriptions.
		return nil, err
	}
	if cursor != "" && q.Window == nil { // A window never resumes: all of its rows are sent again.
		s.reader.ResumeFrom(cursor)
	}
	return s, nil
}

// checkPermissions returns a filter for what the viewer may see. If the viewer may see nothing, refusal is the reason.
func (s *Subscription) checkPermissions(
	ctx context.Context, ttl authz.DecisionTTL,
) (f *query.Filter, refusal string, err error) {
	f, err = s.access.checker.Filter(ctx, &s.query, s.resource, authz.VerbWatch, ttl)
	if p, ok := errors.AsType[*status.Problem](err); ok && p.Cause == status.Refused && f != nil {
		refusal, err = p.Detail, nil
	}
	if err == nil && s.access.checker.Viewer.User != nil {
		s.recheckAt = time.Now().Add(authz.RecheckEvery)
	}
	return f, refusal, err
}

// openReader opens a reader for the filter. If refusal is not empty, the reader only reports it as the status.
func (s *Subscription) openReader(f *query.Filter, refusal string) error {
	if refusal != "" {
		forbidden := s.access.cluster.newForbiddenInformer(s.resource, refusal)
		s.attachReader(s.access.opener().With(forbidden, &s.query, s.resource, f, forbidden.Close))
	} else {
		found, err := s.access.opener().Acquire(&s.query, s.resource, f)
		if err != nil {
			return err
		}
		s.attachReader(found)
	}
	s.refusal = refusal
	return nil
}

func (s *Subscription) attachReader(found *opened.Query) {
	s.reader, s.release = found.NewReader(s.view), found.Release
}

// newForbiddenInformer returns an informer that watches nothing and reports the state Forbidden. Guests may read the
// reason, because it is not from the API server.
func (c *Cluster) newForbiddenInformer(resource *resource.Resource, reason string) *shared.Informer {
	i, _ := c.newInformer(listwatch.Scope{Resource: resource.GVR()}, resource)
	i.Status = status.Status{State: status.Forbidden, Since: time.Now(), Reason: reason, PublicReason: reason}
	return shared.Of(i)
}

// Next returns the next message as JSON members, without braces and id. The message is valid until the next call. After
// the informer is closed, Next returns stream.ErrClosed, or a Problem if Query.Watched is set.
func (s *Subscription) Next(ctx context.Context) ([]byte, error) {
	if s.reader == nil {
		return nil, stream.ErrClosed
	}
	for {
		if err := s.recheck(ctx); err != nil {
			return nil, err
		}
		if s.uncheckedStatus != nil && !s.uncheckedSent {
			s.uncheckedSent = true
			return s.reader.StateMessage(*s.uncheckedStatus)
		}
		if s.uncheckedStatus != nil {
			signal.Sleep(ctx, time.Until(s.recheckAt))
			return []byte(`"type":"heartbeat","cursor":""`), ctx.Err()
		}
		if s.isIncomplete {
			s.isIncomplete = false
			s.reader.Reset("a message was not sent completely")
		}
		if message, err := s.reader.Next(ctx, s.recheckAt); message != nil || err != nil {
			return message, err
		}
	}
}

// StillValid reports whether the rest of a long message may still be sent. The result is false if permissions have
// changed or are unknown, or if the informer resets its readers. The following call of Next reports the reason.
func (s *Subscription) StillValid(ctx context.Context) bool {
	s.isIncomplete = !s.isStillValid(ctx)
	return !s.isIncomplete
}

func (s *Subscription) isStillValid(ctx context.Context) bool {
	if !s.recheckAt.IsZero() && !time.Now().Before(s.recheckAt) {
		if f, refusal, err := s.checkPermissions(ctx, authz.TTLRecheck()); err != nil || s.permissionsDiffer(f, refusal) {
			s.recheckAt = time.Now()
			return false
		}
	}
	return s.reader.IsCurrent()
}

// permissionsDiffer reports whether the permissions have changed since the reader was opened. The parameters are the
// new result of checkPermissions.
func (s *Subscription) permissionsDiffer(f *query.Filter, refusal string) bool {
	before := s.reader.Filter
	return refusal != s.refusal || before.IsRestricted != f.IsRestricted ||
		!slices.Equal(before.Namespaces, f.Namespaces) || before.HidesCauses != f.HidesCauses ||
		!slices.Equal(before.CauseSources, f.CauseSources)
}

// recheck checks the permissions again when this is due. If they have changed, it opens a new reader. If the check
// fails, it sets uncheckedStatus.
func (s *Subscription) recheck(ctx context.Context) error {
	if s.recheckAt.IsZero() || time.Now().Before(s.recheckAt) {
		return nil
	}
	f, refusal, err := s.checkPermissions(ctx, authz.TTLRecheck())
	p, ok := errors.AsType[*status.Problem](err)
	switch {
	case ok && p.Cause == status.Unavailable:
		s.recheckAt = time.Now().Add(authz.RecheckEvery)
		if s.uncheckedStatus == nil {
			s.uncheckedStatus, s.uncheckedSent = &status.Status{
				State:  status.Stale,
				Since:  time.Now(),
				Reason: s.access.PublicDetail(p),
			}, false
		}
		return nil
	case err != nil:
		return err
	}
	if s.uncheckedStatus != nil {
		s.uncheckedStatus = nil
		s.reader.RepeatStatus()
	}
	if !s.permissionsDiffer(f, refusal) {
		return nil
	}
	s.closeReader()
	if err := s.openReader(f, refusal); err != nil { //nolint:contextcheck // Informers outlive subscriptions.
		return err
	}
	s.isIncomplete = false
	s.reader.Restart("your permissions have changed")
	return nil
}

// closeReader closes the reader and releases its informer. The Window of the query stays usable for a new reader.
func (s *Subscription) closeReader() {
	s.reader.Close()
	s.release()
	s.reader = nil
}

// Close ends the subscription and releases its informer. Further calls do nothing.
func (s *Subscription) Close() {
	if s.reader != nil {
		s.closeReader()
	}
}
