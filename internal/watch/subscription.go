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

// A Subscription is one reader of one resource. It reads what its viewer may see, and rechecks the permissions while it
// lasts. After they change, it sends a reset and a new snapshot. It is for one goroutine, and must be closed.
type Subscription struct {
	access *Access
	query  Query
	view   view
	of     *Resource // The resource as discovery found it at first. If it disappears, the informer reports that.

	reading *reading
	release func()    // Releases the informer.
	refusal string    // Why the viewer may see nothing; empty if it may see something.
	lookAt  time.Time // When the next permission recheck is due; zero for never.
	blind   *Status   // The state while permissions cannot be checked; nil while they can.
	said    bool      // The status blind was sent.
	torn    bool      // The last message of Next was not sent completely.
}

// Subscribe starts to read the result of the query. With a cursor of an earlier subscription or snapshot of the same
// query, it resumes after that cursor. If it cannot resume, the subscription sends a reset with the reason, and a new
// snapshot.
func (a *Access) Subscribe(ctx context.Context, q Query, view View, cursor string) (*Subscription, error) {
	told, ok := viewOf(view)
	if !ok {
		return nil, invalid("Unknown view",
			"%.40q is not a view: use rows, table, window, object with a name, changes, resources, or log.", view)
	}
	if view == Object && q.Name == "" || (view == Rows || view == Table || view == Windowed) && q.Name != "" {
		return nil, invalid("Name and view do not match",
			"view object needs a name; views rows, table and window do not allow one.")
	}
	if (view == Windowed) != (q.Window != nil) {
		return nil, invalid("Invalid window", "view window needs a window; other views do not allow one.")
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
		return nil, invalid("Invalid object reference",
			"view object needs exactly one namespace for a namespaced resource.")
	}
	if err := s.begin(filter, refusal); err != nil { //nolint:contextcheck // Informers outlive subscriptions.
		return nil, err
	}
	if cursor != "" && q.Window == nil { // A window is always sent completely.
		s.reading.goOn(cursor)
	}
	return s, nil
}

// look checks which part of the query the viewer may see. refusal is the reason if the viewer may see nothing.
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

// begin starts to read what the filter matches. If the viewer may see nothing, it reads an informer without objects,
// whose status has the reason.
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

// hold starts to read from the informer in held.
func (s *Subscription) hold(held *opened) {
	s.reading, s.release = s.access.read(&s.query, s.view, held), held.release
}

// refusing returns an informer that watches nothing. Its state is Forbidden, with the reason why.
func (c *Cluster) refusing(resource *Resource, why string) *informer {
	i := c.newInformer(wire.Scope{Resource: resource.gvr()}, resource)
	i.status = Status{State: Forbidden, Since: time.Now(), Reason: why}
	return i
}

// Next waits for the next message and returns it without its id and braces: `"type":"state","state":"live",...`. The
// message is valid until the next call of Next.
//
// Next returns the error of ctx after ctx has ended, even if messages are pending. It returns ErrClosed after the
// informer or the Subscription is closed. For a query with Watched, it returns a Problem if the informer is closed.
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
			s.reading.reset("a message was not sent completely")
		}
		s.reading.until = s.lookAt
		if message, err := s.reading.Next(ctx); message != nil || err != nil {
			return message, err
		}
	}
}

// Stands reports whether the last message of Next may still be sent. It may not if readers are being reset, or if
// permissions are due for a recheck and have changed or are unknown. The next call of Next then sends the reason and
// resets the reader. The reset is needed because the client lacks the rest of the message, so that later messages would
// not fit.
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

// differs reports whether the permissions f and refusal differ from those with which the reader began.
func (s *Subscription) differs(f *filter, refusal string) bool {
	before := s.reading.filter
	return refusal != s.refusal || before.hides != f.hides || !slices.Equal(before.namespaces, f.namespaces)
}

// lookAgain rechecks the permissions when a recheck is due. It resets the reader if they have changed. While they
// cannot be checked, only that state is sent.
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
	if err := s.begin(f, refusal); err != nil { //nolint:contextcheck // Informers outlive subscriptions.
		return err
	}
	s.torn = false
	s.reading.started = true // The client has data to discard.
	s.reading.reset("your permissions have changed")
	return nil
}

// end closes the reader and releases its informer. A window can be used for a new reader.
func (s *Subscription) end() {
	s.reading.close()
	s.release()
	s.reading = nil
}

// Close ends the subscription and releases its informer. Further calls do nothing.
func (s *Subscription) Close() {
	if s.reading != nil {
		s.end()
	}
}

// read creates a reader of the informer in held.
func (a *Access) read(q *Query, told view, held *opened) *reading {
	held.informer.readers.Add(1)
	s := &reading{
		informer: held.informer, filter: held.filter, view: told, behind: true, veil: a.veil(held.resource),
		ended: ErrClosed, silence: time.NewTimer(Heartbeat),
		writing: paper{pool: &a.cluster.paper, slots: a.slots, reserve: a.reserve},
		recent:  &a.cluster.recent, inTurn: a.inTurn,
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

// goOn lets the reader resume after a cursor. If that is impossible, it resets the reader with the reason.
func (s *reading) goOn(cursor string) {
	now := s.filter.present(s.informer)
	s.filter.columns = now.columns
	offset, err := s.resumeOffset(cursor, s.informer.epochOf(now.version))
	if err != nil {
		s.started = true // The client has data to discard.
		s.reset(err.Error())
		return
	}
	s.begun(now.version)
	s.cursor, s.sent = journal.At(offset), offset
}

// resumeOffset returns the offset of a cursor, or an error with the reason why the cursor cannot be resumed.
func (s *reading) resumeOffset(cursor string, epoch uint64) (uint64, error) {
	if s.filter.hides {
		return s.restrictedOffset(cursor, epoch)
	}
	sealed := s.seal()
	offset, err := sealed.decode(cursor, epoch)
	if err == nil && s.hasGap(offset) {
		err = errors.New("one of the namespaces was not watched for a while, so its changes in that time are not known")
	}
	return offset, err
}

// hasGap reports whether changes after an offset are unknown, although the view needs each of them.
func (s *reading) hasGap(offset uint64) bool {
	return s.view.each && s.informer.missed(s.filter.namespaces, offset)
}
