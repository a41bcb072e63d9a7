package watch

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
)

// DigestOf returns the number of rows and their digest, as in a digest message. Each row is a key and a
// resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) {
	var d digest
	for _, row := range rows {
		d.add(row[0], row[1])
	}
	return d.count, fmt.Sprintf("%08x", d.sum)
}

func (c *Cluster) informerOf(ref string) *informer {
	resources, _, _ := c.catalog.All()
	return c.pool.find(listwatch.Scope{Resource: resources[resource.Index(resources, ref)].GVR()})
}

// DeleteRows removes all rows of the resource ref, as after a permission was revoked. It calls whileLocked while the
// journal is locked, before the readers are woken.
func (c *Cluster) DeleteRows(ref string, whileLocked func()) {
	i := c.informerOf(ref)
	refuse := sync.OnceFunc(func() {
		whileLocked()
		i.mu.Lock()
		defer i.mu.Unlock()
		for _, f := range i.feeds {
			f.state.synced = false
			f.state.set(status.Forbidden, time.Now(), "It may not be seen any more.")
		}
	})
	i.evict(func(string) bool { refuse(); return true })
}

// SetColumns replaces the columns of the resource ref with a single one, as a list with new columns does before its
// rows are stored. It calls whileLocked while the journal is locked, before the readers are woken.
func (c *Cluster) SetColumns(ref, column string, whileLocked func()) {
	i := c.informerOf(ref)
	i.mu.Lock()
	feed := i.feeds[""]
	i.mu.Unlock()
	setColumns := sync.OnceFunc(func() {
		whileLocked()
		feed.setColumns([]listwatch.Column{{Name: column}})
	})
	i.ReplaceIn(func(string) bool { setColumns(); return false }, nil, nil, event.Memo{})
	i.Wake()
}

// DropHistory drops the history of the resource ref, as when memory is low.
func (c *Cluster) DropHistory(ref string) { c.informerOf(ref).Forget() }

// ResetReaders makes all readers of the resource ref restart from a snapshot, as after a permission was revoked.
func (c *Cluster) ResetReaders(ref string) { c.informerOf(ref).resetReaders() }

// Uncover simulates the moment after the permission for the pods of a namespace was revoked. The namespace has no
// feed (no list and watch) any more, but its rows are still in the journal. restore adds the feed again.
func (c *Cluster) Uncover(namespace string) (restore func()) {
	i := c.pool.find(listwatch.Scope{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}})
	i.mu.Lock()
	defer i.mu.Unlock()
	f := i.feeds[namespace]
	delete(i.feeds, namespace)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.feeds[namespace] = f
	}
}

// DeleteNamespaceRows removes the pods of a namespace, as after a permission was revoked. It calls whileLocked while
// the journal is locked, before the pods are removed. The namespace counts as not watched until restore is called.
func (c *Cluster) DeleteNamespaceRows(namespace string, whileLocked func()) (restore func()) {
	i := c.pool.find(listwatch.Scope{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}})
	uncover := sync.OnceFunc(func() {
		whileLocked()
		restore = c.Uncover(namespace)
	})
	i.evict(func(ns string) bool { uncover(); return ns == namespace })
	return restore
}

// DropUnusedRankings drops all rankings (sorted lists of rows) that no window uses, and the list of rows that
// concurrent readers share. It does not wait until they expire.
func (c *Cluster) DropUnusedRankings() {
	for _, i := range c.pool.informers() {
		i.listings.store(nil)
		i.rankings.mu.Lock()
		for id, h := range i.rankings.entries {
			if len(h.refs) == 0 {
				i.rankings.removeLocked(id, h)
			}
		}
		i.rankings.mu.Unlock()
	}
}

// Put stores an object of the resource ref, as a watch event does.
func (c *Cluster) Put(ref string, o *Item) {
	for _, i := range c.pool.informers() {
		if i.resource.Ref() == ref {
			i.Set(keyOf(o.Namespace(), o.Name()), o)
		}
	}
}

type panickingSelector struct {
	labels.Selector

	first func()
}

func (panickingSelector) String() string { return "panicking" }

func (p panickingSelector) Matches(labels.Labels) bool {
	p.first()
	panic("broken")
}

// DigestPanic computes a digest (a hash of all rows) with a label selector that calls first and then panics. It
// returns the value of the panic.
func (c *Cluster) DigestPanic(ctx context.Context, ref string, first func()) (panicked any) {
	defer func() { panicked = recover() }()
	i := c.informerOf(ref)
	f := &query.Filter{Selector: query.NewSelector(panickingSelector{labels.Everything(), first})}
	i.digest(ctx, f, 0)
	return nil
}

// panicOnceSelector is a label selector that matches everything, and panics once after a number of matches.
type panicOnceSelector struct {
	labels.Selector

	left int // The number of matches before the panic. A negative number means no panic.
}

func (p *panicOnceSelector) Matches(labels.Labels) bool {
	if p.left == 0 {
		p.left = -1
		panic("broken")
	}
	p.left--
	return true
}

// ReadRankingAfterPanic calls change, and then reads a ranking (a sorted list of rows) twice. The first read panics
// after some of the changes; panicked is the value of the panic. rows and total are from the second read, which is
// that of the next reader: the number of returned rows, and of all rows.
func (c *Cluster) ReadRankingAfterPanic(
	ctx context.Context, ref string, change func(),
) (rows, total int, panicked any, err error) {
	i := c.informerOf(ref)
	broken := &panicOnceSelector{labels.Everything(), -1}
	f := &query.Filter{Selector: query.NewSelector(broken)}
	r := newRanking(i, f, i.currentState(nil).columns, sorting{column: -1})
	at := &query.RangeRequest{Range: query.Range{Count: query.MaxWindow}}
	if _, err := r.view(ctx, at); err != nil {
		return 0, 0, nil, err
	}
	change()
	broken.left = 1
	func() {
		defer func() { panicked = recover() }()
		_, err = r.view(ctx, at)
	}()
	found, err := r.view(ctx, at)
	if err != nil {
		return 0, 0, panicked, err
	}
	return len(found.rows), found.counts.total, panicked, nil
}

// Forbid sets the state of the resource ref to Forbidden, as after the API server has refused a list. The reconciler
// removes the rows later.
func (c *Cluster) Forbid(ref string) {
	i := c.informerOf(ref)
	i.mu.Lock()
	for _, f := range i.feeds {
		f.state.synced = false
		f.state.set(status.Forbidden, time.Now(), "It may not be seen any more.")
	}
	i.mu.Unlock()
	i.notify()
}

// OnFeedStop simulates that the watch of each feed (list and watch) of the resource ref opens just when the feed is
// stopped. It then calls observe with the state of the resource.
func (c *Cluster) OnFeedStop(ref string, observe func(status.State)) {
	i := c.informerOf(ref)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range i.feeds {
		stop := f.stop
		f.stop = func() {
			stop()
			f.recordOpened(false)
			observe(i.currentState(nil).status.State)
		}
	}
}

// HistoryAfter returns the number of changes that the subscription would send if it resumed after the first n changes
// of the history.
func (s *Subscription) HistoryAfter(n int) int {
	retained, _ := s.reader.informer.Retained()
	now := s.reader.informer.Now()
	events, _, _, err := s.reader.readHistory(now, journal.At(now.Offset-uint64(retained-n)), time.Time{})
	if err != nil {
		panic(err)
	}
	return len(events)
}

// CachedNamespaces returns for how many namespaces the Cluster has cached whether they exist.
func (c *Cluster) CachedNamespaces() int {
	return c.namespaceExistence.Len()
}

// ExceedsBudgetWith reports whether the informer of ref would stop for lack of memory while only the informer of
// other exceeds the budget. other reserves the given number of bytes. Another goroutine frees them after a loop with
// the given number of steps.
func (c *Cluster) ExceedsBudgetWith(ref, other string, bytes int64, steps int) bool {
	bystander, large := c.informerOf(ref), c.informerOf(other)
	large.reservedBytes.Add(bytes)
	var started atomic.Bool
	var ending sync.WaitGroup
	ending.Go(func() {
		for started.Store(true); steps > 0; steps-- {
			started.Load()
		}
		large.reservedBytes.Add(-bytes)
	})
	for !started.Load() {
		runtime.Gosched()
	}
	exceeds := c.pool.exceedsBudget(bystander)
	ending.Wait()
	return exceeds
}

// CachedMaskedChanges returns figures about the cache of encoded values. changes is the number of cached changes that
// are masked for guests. accounted is the size of the cache as the cache counts it. objectBytes is the size of the
// objects in these changes. Both sizes are in bytes.
func (c *Cluster) CachedMaskedChanges() (changes, accounted, objectBytes int) {
	values, accounted := c.encodedCache.Values()
	for _, value := range values {
		if masked, ok := value.(*event.Change); ok {
			changes++
			for _, o := range []*listwatch.Object{masked.Old, masked.New} {
				if o != nil {
					objectBytes += o.Size()
				}
			}
		}
	}
	return changes, accounted, objectBytes
}

// LockRanking locks the ranking (the sorted list of rows) that the window of s shows. release unlocks it.
func (s *Subscription) LockRanking() (release func()) {
	r := s.reader.window.ranking
	<-r.lock
	return func() { r.lock <- struct{}{} }
}

// BlockDigest starts the computation of the next digest for s. The computation ends when release is called.
func (s *Subscription) BlockDigest() (release func()) {
	i, f := s.reader.informer, s.reader.filter
	t, _ := i.digests.join(f.ID(), i.Now().Offset+1)
	return func() { i.digests.compute(f.ID(), t, func() *digest { return i.computeDigest(f) }) }
}

// NewBoundaries returns the function boundary of new sharedBatches. For a reader at the offset from, it returns the
// offset at which the reader's batch ends.
func NewBoundaries() func(from uint64, newestOffset func() uint64) uint64 {
	all := new(sharedBatches)
	return func(from uint64, newestOffset func() uint64) uint64 {
		return all.boundary(query.FilterID{}, from, newestOffset)
	}
}

// NewSharedBatches returns a function that returns the encoded text of the changes between two offsets. It calls
// encode only if no earlier text for the same changes is in use.
func NewSharedBatches() func(
	view View, filter byte, version int, from, to uint64, encode func() string,
) (*[]byte, error) {
	all := new(sharedBatches)
	return func(view View, filter byte, version int, from, to uint64, encode func() string) (*[]byte, error) {
		return all.text(sharedBatchKey{view, query.FilterID{filter}, version, from, to}, func() (*[]byte, error) {
			text := []byte(encode())
			return &text, nil
		})
	}
}
