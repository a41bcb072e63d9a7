package informer

import (
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// Faults produces states of an informer that otherwise occur only in rare races. It is for tests of other packages.
type Faults struct{ informer *Informer }

// Faults returns a Faults, with which tests change the state of the informer.
func (i *Informer) Faults() Faults { return Faults{i} }

// DeleteRows removes the rows of a namespace ("" means all). It calls whileLocked while the journal is locked.
func (f Faults) DeleteRows(namespace string, whileLocked func()) {
	call := sync.OnceFunc(whileLocked)
	f.informer.evict(func(ns string) bool { call(); return namespace == "" || ns == namespace })
}

// Forbid simulates that the API server refused a list. The rows stay until the reconciler removes them.
func (f Faults) Forbid() {
	f.Refuse()
	f.informer.notify()
}

// Refuse gives all feeds the state Forbidden, as Forbid does, but does not wake readers.
func (f Faults) Refuse() {
	f.informer.mu.Lock()
	defer f.informer.mu.Unlock()
	for _, feed := range f.informer.feeds {
		feed.state.synced = false
		feed.state.set(status.Forbidden, time.Now(), "The permission was revoked.")
	}
}

// SetColumns simulates a list whose only column is the given one. It calls whileLocked while the journal is locked.
func (f Faults) SetColumns(column string, whileLocked func()) {
	f.informer.mu.Lock()
	feed := f.informer.feeds[""]
	f.informer.mu.Unlock()
	setColumns := sync.OnceFunc(func() {
		whileLocked()
		feed.setColumns([]printer.Column{{Name: column}})
	})
	f.informer.Replace(func(string) bool { setColumns(); return false }, nil, nil, event.Memo{})
	f.informer.Wake()
}

// ResetReaders makes all readers restart from a snapshot, as after a revoked permission.
func (f Faults) ResetReaders() { f.informer.resetReaders() }

// Uncover removes the feed of a namespace but not its rows, as after a revoked permission. restore adds the feed again.
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

// OnFeedStop simulates that the watch of a feed opens while the feed stops. It then calls observer with the new state.
func (f Faults) OnFeedStop(observer func(status.State)) {
	f.informer.mu.Lock()
	defer f.informer.mu.Unlock()
	for _, feed := range f.informer.feeds {
		stop := feed.stop
		feed.stop = func() {
			stop()
			feed.recordOpened(false)
			observer(f.informer.CurrentState(nil).Status.State)
		}
	}
}
