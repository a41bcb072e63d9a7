package watch

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

// A Subscription is one reader of one resource, as far as its viewer may see it:
// that is found out again and again while it lasts. Where it is another, what was
// told is taken back, and it begins anew. It is for one goroutine, and must be
// closed.
type Subscription struct {
	access *Access
	query  Query
	view   view
	of     *Resource // As it was found at first: one that goes is its informer's to tell.

	reading *reading
	release func()    // Lets go of what is read.
	refusal string    // Why nothing may be seen; empty where something may.
	lookAt  time.Time // When it is to be found out again what may be seen; zero for never.
	blind   *Status   // What is told while that cannot be found out; nil while it can.
	said    bool      // It was told.
	torn    bool      // What Next returned last was not told to its end.
}

// Subscribe begins to read what the query asks for. With a cursor of an
// earlier subscription or snapshot to the same query it goes on from there, or
// says why it cannot and begins anew.
func (a *Access) Subscribe(ctx context.Context, q Query, view View, cursor string) (*Subscription, error) {
	told, ok := viewOf(view)
	if !ok {
		return nil, invalid("Unknown view", "%.40q is not a view: use rows, table, window, object with a name, changes, resources, or log.", view)
	}
	if view == Object && q.Name == "" || (view == Rows || view == Table || view == Windowed) && q.Name != "" {
		return nil, invalid("Name and view do not fit", "view object needs a name; views rows, table and window take none.")
	}
	if (view == Windowed) != (q.Window != nil) {
		return nil, invalid("Not a window", "view window needs a window, and no other has one.")
	}
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	s := &Subscription{access: a, query: q, view: told, of: resource}
	filter, refusal, err := s.look(ctx, askedFirst())
	if err != nil {
		return nil, err
	}
	if view == Object && resource.Namespaced != (len(q.Namespaces) == 1) {
		return nil, invalid("Which object?", "view object needs exactly one namespace for a namespaced resource.")
	}
	if err := s.begin(filter, refusal); err != nil { //nolint:contextcheck // An informer outlives who starts it.
		return nil, err
	}
	if cursor != "" && q.Window == nil { // A window is told anew as a whole.
		s.reading.goOn(cursor)
	}
	return s, nil
}

// look finds out what the viewer may see of the query, or why that is nothing.
func (s *Subscription) look(ctx context.Context, old age) (f *filter, refusal string, err error) {
	f, err = s.access.check(ctx, &s.query, s.of, toWatch, old)
	if p, ok := errors.AsType[*Problem](err); ok && p.Cause == Refused && f != nil {
		refusal, err = p.Detail, nil
	}
	if err == nil && s.access.viewer.User != nil {
		s.lookAt = time.Now().Add(lookEvery)
	}
	return f, refusal, err
}

// begin begins to read what the filter lets through; where the viewer may see
// nothing, from an informer that has nothing, and says why.
func (s *Subscription) begin(f *filter, refusal string) error {
	if refusal != "" {
		nothing := s.access.cluster.refusing(s.of, refusal)
		s.hold(&opened{s.of, f, nothing, nothing.Close})
	} else {
		held, err := s.access.open(&s.query, s.of, f)
		if err != nil {
			return err
		}
		s.hold(held)
	}
	s.refusal = refusal
	return nil
}

// hold begins to read what is held.
func (s *Subscription) hold(held *opened) {
	s.reading, s.release = s.access.read(&s.query, s.view, held), held.release
}

// refusing is an informer that watches nothing, as it is forbidden.
func (c *Cluster) refusing(resource *Resource, why string) *informer {
	i := c.newInformer(wire.Scope{Resource: resource.gvr()}, resource)
	i.status = Status{State: Forbidden, Since: time.Now(), Reason: why}
	return i
}

// Next waits for the next message of the wire and returns it without its id and
// braces: `"type":"state","state":"live",...`. It is good until Next is called
// again. Next ends with ctx's error, also where there is more to tell, or with
// ErrClosed, as it does once it is closed; of a Query that is Watched with a Problem in its place.
func (s *Subscription) Next(ctx context.Context) ([]byte, error) {
	if s.reading == nil {
		return nil, ErrClosed
	}
	for {
		if err := s.lookAgain(ctx); err != nil {
			return nil, err
		}
		if s.blind != nil && !s.said {
			s.said = true
			return s.reading.stateMessage(*s.blind)
		}
		if s.blind != nil {
			sleep(ctx, time.Until(s.lookAt))
			return []byte(`"type":"heartbeat","cursor":""`), ctx.Err()
		}
		if s.torn {
			s.torn = false
			s.reading.reset("a message was not told to its end")
		}
		s.reading.until = s.lookAt
		if message, err := s.reading.Next(ctx); message != nil || err != nil {
			return message, err
		}
	}
}

// Stands reports whether what Next returned last may be told on: not where it is time
// to find out again what may be seen, and that is another, or cannot be found out, nor
// where readers are to begin anew. The next Next tells of it, and the reader begins anew:
// it lacks the rest of a message, and what comes behind that would not fit.
func (s *Subscription) Stands(ctx context.Context) bool {
	s.torn = !s.stands(ctx)
	return !s.torn
}

func (s *Subscription) stands(ctx context.Context) bool {
	if !s.lookAt.IsZero() && !time.Now().Before(s.lookAt) {
		if f, refusal, err := s.look(ctx, askedAgain()); err != nil || s.differs(f, refusal) {
			s.lookAt = time.Now()
			return false
		}
	}
	return s.reading.filter.present(s.reading.informer).version == s.reading.version
}

// differs reports whether what may be seen is another than what is read.
func (s *Subscription) differs(f *filter, refusal string) bool {
	before := s.reading.filter
	return refusal != s.refusal || before.hides != f.hides || !slices.Equal(before.namespaces, f.namespaces)
}

// lookAgain finds out, when it is time, what may be seen, and begins anew where that
// is another. While it cannot be found out nothing is told but that.
func (s *Subscription) lookAgain(ctx context.Context) error {
	if s.lookAt.IsZero() || time.Now().Before(s.lookAt) {
		return nil
	}
	f, refusal, err := s.look(ctx, askedAgain())
	p, ok := errors.AsType[*Problem](err)
	switch {
	case ok && p.Cause == Unavailable:
		s.lookAt = time.Now().Add(lookEvery)
		if s.blind == nil {
			s.blind, s.said = &Status{State: Stale, Since: time.Now(), Reason: s.access.Words(p)}, false
		}
		return nil
	case err != nil:
		return err
	}
	if s.blind != nil {
		s.blind, s.reading.told = nil, Status{}
	}
	if !s.differs(f, refusal) {
		return nil
	}
	s.end()
	if err := s.begin(f, refusal); err != nil { //nolint:contextcheck // An informer outlives who starts it.
		return err
	}
	s.torn = false
	s.reading.started = true // There is something to take back.
	s.reading.reset("what you may see here is not what it was")
	return nil
}

// end lets go of what is read. The window may be read again.
func (s *Subscription) end() {
	s.reading.close()
	s.release()
	s.reading = nil
}

// Close lets go of the resource. Closing again does nothing.
func (s *Subscription) Close() {
	if s.reading != nil {
		s.end()
	}
}

// read begins to read what is held.
func (a *Access) read(q *Query, told view, held *opened) *reading {
	held.informer.readers.Add(1)
	s := &reading{
		informer: held.informer, filter: held.filter, view: told, behind: true, veil: a.veil(held.resource),
		ended: ErrClosed, silence: time.NewTimer(Heartbeat), writing: paper{pool: &a.cluster.paper, slots: a.slots, reserve: a.reserve}, recent: &a.cluster.recent, inTurn: a.inTurn,
		pace:  pace{every: q.Every, crowd: a.crowd, cohort: rand.N(cohorts)}, //nolint:gosec // No secret.
		check: func(ctx context.Context) error { return a.checkNamespaces(ctx, held.filter.named) },
	}
	if q.Watched {
		s.ended = notWatched(held.resource)
	}
	s.rings = s.silence.C
	if q.Window != nil {
		s.window = &windowed{Window: q.Window, viewer: a.viewer.holder()}
		s.silence.Stop()
		s.silence, s.rings = time.AfterFunc(Heartbeat, q.Window.ring), q.Window.rings
	}
	s.seal = func() seal { return a.seal(q, held.filter, held.informer) }
	if q.Name != "" && held.resource.Namespaced == (len(q.Namespaces) == 1) {
		s.key = keyOf(strings.Join(q.Namespaces, ""), q.Name)
	}
	return s
}

// goOn resumes from a cursor, or begins anew and gives the reason.
func (s *reading) goOn(cursor string) {
	now := s.filter.present(s.informer)
	s.filter.columns = now.columns
	offset, err := s.resumeOffset(cursor, s.informer.epochOf(now.version))
	if err != nil {
		s.started = true // There is something to begin anew.
		s.reset(err.Error())
		return
	}
	s.begun(now.version)
	s.cursor, s.sent = journal.At(offset), offset
}

// resumeOffset returns the offset of a cursor, or why it cannot be resumed from.
func (s *reading) resumeOffset(cursor string, epoch uint64) (uint64, error) {
	if s.filter.hides {
		return s.restrictedOffset(cursor, epoch)
	}
	sealed := s.seal()
	offset, err := sealed.decode(cursor, epoch)
	if err == nil && s.hasGap(offset) {
		err = errors.New("one of the namespaces was not watched for a while; what happened there is not known")
	}
	return offset, err
}

// hasGap reports whether the view needs each change after an offset, and some are unknown.
func (s *reading) hasGap(offset uint64) bool {
	return s.view.each && s.informer.missed(s.filter.namespaces, offset)
}
