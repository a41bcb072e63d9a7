package informer

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
)

// overdue evaluates objects again when their progress becomes overdue, because possibly no update follows then.
type overdue struct {
	informer *Informer

	mu     sync.Mutex // Locked while objects are written, so that an old version never replaces a newer one.
	at     map[string]time.Time
	timer  *time.Timer
	next   time.Time
	closed bool
}

// write calls the function change, which writes objects. It remembers when the written objects become overdue.
func (d *overdue) write(change func(), written ...Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	for n := range written {
		d.rememberLocked(&written[n])
	}
}

func (d *overdue) rememberLocked(e *Entry) {
	at := e.Value.Verdict().OverdueAt()
	if at.IsZero() {
		delete(d.at, e.Key)
		return
	}
	if d.at == nil {
		d.at = make(map[string]time.Time)
	}
	d.at[e.Key] = at
	if d.next.IsZero() || at.Before(d.next) {
		d.scheduleLocked(at)
	}
}

func (d *overdue) scheduleLocked(at time.Time) {
	if d.closed {
		return
	}
	d.next = at
	if d.timer == nil {
		d.timer = time.AfterFunc(time.Until(at), d.evaluate)
		return
	}
	d.timer.Reset(time.Until(at))
}

// evaluate replaces the objects that are overdue now by copies with a new verdict.
func (d *overdue) evaluate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, i := time.Now(), d.informer
	d.next = time.Time{}
	var next time.Time
	for key, at := range d.at {
		if at.After(now) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		delete(d.at, key)
		o, ok, _ := i.Get(key)
		if !ok {
			continue
		}
		// An object that cannot be decompressed keeps its verdict.
		if newer, err := i.options.Client.Reevaluate(o, now); err == nil && !newer.Verdict().Same(o.Verdict()) {
			i.Set(key, newer, event.Memo{}, 0)
		}
	}
	if !next.IsZero() {
		d.scheduleLocked(next)
	}
}

func (d *overdue) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.timer != nil {
		d.timer.Stop()
	}
}
