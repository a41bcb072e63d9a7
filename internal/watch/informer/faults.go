package informer

import (
	"sync"
	"time"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/status"
)

// Faults brings an informer into states that otherwise only rare races produce. It is for tests of packages that use
// informers.
type Faults struct{ informer *Informer }

// Faults returns the Faults of the informer.
func (i *Informer) Faults() Faults { return Faults{i} }

// DeleteRows removes the rows of a namespace, or of all namespaces (""), as the informer does when a permission was
// revoked. It calls whileLocked while the journal is locked, before the rows are removed.
func (f Faults) DeleteRows(namespace string, whileLocked func()) {
	call := sync.OnceFunc(whileLocked)
	f.informer.evict(func(ns string) bool { call(); return namespace == "" || ns == namespace })
}

// Forbid sets the state Forbidden, as the informer does when the API server has refused a list. It does not remove
// the rows; the reconciler does this later.
func (f Faults) Forbid() {
	f.Refuse()
	f.informer.notify()
}

// Refuse is like Forbid, but does not wake readers.
func (f Faults) Refuse() {
	f.informer.mu.Lock()
	defer f.informer.mu.Unlock()
	for _, feed := range f.informer.feeds {
		feed.state.synced = false
		feed.state.set(status.Forbidden, time.Now(), "It may not be seen any more.")
	}
}

// SetColumns replaces the columns with a single one, as a list with new columns does before its rows are stored. It
// calls whileLocked while the journal is locked, before the readers are woken.
func (f Faults) SetColumns(column string, whileLocked func()) {
	f.informer.mu.Lock()
	feed := f.informer.feeds[""]
	f.informer.mu.Unlock()
	setColumns := sync.OnceFunc(func() {
		whileLocked()
		feed.setColumns([]listwatch.Column{{Name: column}})
	})
	f.informer.ReplaceIn(func(string) bool { setColumns(); return false }, nil, nil, event.Memo{})
	f.informer.Wake()
}

// ResetReaders makes all readers restart from a snapshot, as the informer does when a permission was revoked.
func (f Faults) ResetReaders() { f.informer.resetReaders() }

// Uncover simulates the moment after the permission for a namespace was revoked: its feed (list and watch) has ended,
// but its rows are still in the journal. restore adds the feed again.
func (f Faults) Uncover(namespace string) (restore func()) {
	f.informer.mu.Lock()
	defer f.informer.mu.Unlock()
	feed := f.informer.feeds[namespace]
	delete(f.informer.feeds, namespace)
	return func() {
		f.informer.mu.Lock()
		defer f.informer.mu.Unlock()
		f.informer.feeds[namespace] = feed
	}
}

// OnFeedStop simulates that a watch opens at the moment when its feed (list and watch) is being stopped. For each
// stopped feed, it then calls observe with the state of the informer.
func (f Faults) OnFeedStop(observe func(status.State)) {
	f.informer.mu.Lock()
	defer f.informer.mu.Unlock()
	for _, feed := range f.informer.feeds {
		stop := feed.stop
		feed.stop = func() {
			stop()
			feed.recordOpened(false)
			observe(f.informer.CurrentState(nil).Status.State)
		}
	}
}
