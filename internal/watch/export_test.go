package watch

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	authorization "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

// DigestOf returns the digest of rows. Each row is a key and a resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) {
	var d digest
	for _, row := range rows {
		d.add(row[0], row[1])
	}
	return d.count, fmt.Sprintf("%08x", d.sum)
}

// Labels parses text, a JSON object of labels, into the form that selectors are matched with.
func Labels(text string) labels.Labels { return labelText(text) }

func (c *Cluster) informerOf(ref string) *informer {
	c.catalog.mu.Lock()
	defer c.catalog.mu.Unlock()
	return c.pool.find(wire.Scope{Resource: c.catalog.resources[indexOf(c.catalog.resources, ref)].gvr()})
}

// TakeOut removes all rows of the resource ref, as after a lost permission. It calls reading while the journal is
// locked, before the readers are woken.
func (c *Cluster) TakeOut(ref string, reading func()) {
	i := c.informerOf(ref)
	refuse := sync.OnceFunc(func() {
		reading()
		i.mu.Lock()
		defer i.mu.Unlock()
		for _, f := range i.feeds {
			f.now.synced = false
			f.now.set(Forbidden, time.Now(), "It may not be seen any more.")
		}
	})
	i.purge(func(string) bool { refuse(); return true })
}

// Recolumn gives the resource ref another column, as a list with new columns does before its rows arrive. It calls
// reading while the journal is locked, before the readers are woken.
func (c *Cluster) Recolumn(ref, column string, reading func()) {
	i := c.informerOf(ref)
	i.mu.Lock()
	feed := i.feeds[""]
	i.mu.Unlock()
	recolumn := sync.OnceFunc(func() {
		reading()
		feed.recolumn([]wire.Column{{Name: column}})
	})
	i.ReplaceIn(func(string) bool { recolumn(); return false }, nil, nil, memo{})
	i.Nudge()
}

// ForgetPast drops the history of a resource, as when memory is low.
func (c *Cluster) ForgetPast(ref string) { c.informerOf(ref).Forget() }

// BeginAnew resets all readers of the resource ref, as when its journal cannot be continued.
func (c *Cluster) BeginAnew(ref string) { c.informerOf(ref).beginAnew() }

// Once returns the get method of a new once value. In the first call, get calls make. All other calls return the same
// result.
func Once[T any]() func(make func() (T, error)) (T, error) { return new(once[T]).get }

// Uncover puts the pods of a namespace into the state just after their permission is lost. The namespace is not watched
// any more, but its rows are still in the journal. The returned function restores the watch.
func (c *Cluster) Uncover(namespace string) (restore func()) {
	i := c.pool.find(wire.Scope{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}})
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

// TakeOutOf removes the pods of a namespace, as after a lost permission. It calls reading while the journal is locked,
// before they are removed. The namespace counts as not watched until restore is called.
func (c *Cluster) TakeOutOf(namespace string, reading func()) (restore func()) {
	i := c.pool.find(wire.Scope{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}})
	uncover := sync.OnceFunc(func() {
		reading()
		restore = c.Uncover(namespace)
	})
	i.purge(func(ns string) bool { uncover(); return ns == namespace })
	return restore
}

// ForgetOrders drops all rankings that no window uses, and the list of rows that concurrent readers share. It does so
// at once, without waiting for their expiry.
func (c *Cluster) ForgetOrders() {
	for _, i := range c.pool.informers() {
		i.listings.keep(nil)
		i.rankings.mu.Lock()
		for id, h := range i.rankings.held {
			if len(h.holders) == 0 {
				i.rankings.removeLocked(id, h)
			}
		}
		i.rankings.mu.Unlock()
	}
}

// Put stores an object, as a watch event would.
func (c *Cluster) Put(ref string, o *Item) {
	for _, i := range c.pool.informers() {
		if i.resource.Ref() == ref {
			i.Set(keyOf(o.Namespace(), o.Name()), o)
		}
	}
}

// panicking is a label selector that panics when it is matched.
type panicking struct {
	labels.Selector

	first func()
}

func (panicking) String() string { return "panicking" }

func (p panicking) Matches(labels.Labels) bool {
	p.first()
	panic("broken")
}

// DigestOfPanics computes a digest with a filter whose selector calls first and then panics. It returns the value of
// the panic.
func (c *Cluster) DigestOfPanics(ctx context.Context, ref string, first func()) (panicked any) {
	defer func() { panicked = recover() }()
	i := c.informerOf(ref)
	f := &filter{selector: &selector{panicking{labels.Everything(), first}, make(map[unique.Handle[string]]bool)}}
	i.digest(ctx, f, 0)
	return nil
}

// trap is a label selector that matches everything, and panics once after a number of matches.
type trap struct {
	labels.Selector

	left int // The number of matches before the panic. A negative number means no panic.
}

func (p *trap) Matches(labels.Labels) bool {
	if p.left == 0 {
		p.left = -1
		panic("broken")
	}
	p.left--
	return true
}

// LookBehindPanic updates a ranking twice after change: the first update panics after some of the changes, the second
// is that of the next reader. It returns the rows and the total of the second one, and the value of the panic.
func (c *Cluster) LookBehindPanic(
	ctx context.Context, ref string, change func(),
) (rows, total int, panicked any, err error) {
	i := c.informerOf(ref)
	broken := &trap{labels.Everything(), -1}
	f := &filter{selector: &selector{broken, make(map[unique.Handle[string]]bool)}}
	r := newRanking(i, f, i.present(nil).columns, sorting{column: -1})
	at := &wish{place: place{0, maxWindow}}
	if _, err := r.look(ctx, at); err != nil {
		return 0, 0, nil, err
	}
	change()
	broken.left = 1
	func() {
		defer func() { panicked = recover() }()
		_, err = r.look(ctx, at)
	}()
	found, err := r.look(ctx, at)
	if err != nil {
		return 0, 0, panicked, err
	}
	return len(found.rows), found.counts.total, panicked, nil
}

// Forbid sets the state of the resource ref as a refused list does. The rows are removed a moment later.
func (c *Cluster) Forbid(ref string) {
	i := c.informerOf(ref)
	i.mu.Lock()
	for _, f := range i.feeds {
		f.now.synced = false
		f.now.set(Forbidden, time.Now(), "It may not be seen any more.")
	}
	i.mu.Unlock()
	i.tell()
}

// WhileStopped changes the feeds of the resource ref so that the watch of each one opens just when the feed is stopped.
// It calls looking with the state of the resource at that time.
func (c *Cluster) WhileStopped(ref string, looking func(State)) {
	i := c.informerOf(ref)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range i.feeds {
		stop := f.stop
		f.stop = func() {
			stop()
			f.opened(false)
			looking(i.present(nil).status.State)
		}
	}
}

// PastFrom returns how many changes the subscription would send from the history, if it resumed after the first n
// changes.
func (s *Subscription) PastFrom(n int) int {
	kept, _ := s.reading.informer.Kept()
	now := s.reading.informer.Now()
	events, _, _, err := s.reading.past(now, journal.At(now.Offset-uint64(kept-n)), time.Time{})
	if err != nil {
		panic(err)
	}
	return len(events)
}

// Remembered returns the number of namespaces for which the Cluster has cached whether they exist.
func (c *Cluster) Remembered() int {
	c.existing.mu.Lock()
	defer c.existing.mu.Unlock()
	return len(c.existing.of)
}

// OverdrawnBeside reports whether the resource ref would be stopped for lack of memory while only the resource other
// does not fit. other needs additional memory of the given bytes, and returns it after about the given number of
// processor steps.
func (c *Cluster) OverdrawnBeside(ref, other string, bytes int64, steps int) bool {
	bystander, large := c.informerOf(ref), c.informerOf(other)
	large.expected.Add(bytes)
	var begun atomic.Bool
	var ending sync.WaitGroup
	ending.Go(func() {
		for begun.Store(true); steps > 0; steps-- {
			begun.Load()
		}
		large.expected.Add(-bytes)
	})
	for !begun.Load() {
		runtime.Gosched()
	}
	overdrawn := c.pool.overdrawn(bystander)
	ending.Wait()
	return overdrawn
}

// Recent returns figures about the cache of encoded values. changes is the number of cached changes in the form for
// guests. weighed is the accounted size of the cache, and held the size of the objects in these changes, both in bytes.
func (c *Cluster) Recent() (changes, weighed, held int) {
	c.recent.mu.Lock()
	defer c.recent.mu.Unlock()
	for _, k := range c.recent.held {
		if seen, ok := k.value.(*change); ok {
			changes++
			for _, o := range []*wire.Object{seen.Old, seen.New} {
				if o != nil {
					held += o.Size()
				}
			}
		}
	}
	return changes, c.recent.bytes, held
}

// HoldTurn acquires the lock of the ranking that the window of s uses. release releases it.
func (s *Subscription) HoldTurn() (release func()) {
	r := s.reading.window.ranking
	<-r.turn
	return func() { r.turn <- struct{}{} }
}

// HoldDigest starts the computation of the digest that is due next. The computation finishes when release is called.
func (s *Subscription) HoldDigest() (release func()) {
	i, f := s.reading.informer, s.reading.filter
	t, _ := i.digests.join(f.id(), i.Now().Offset+1)
	return func() { i.digests.make(f.id(), t, func() *digest { return i.count(f) }) }
}

// Get calls get with the condition that a cached result may be used for the duration good after its request.
func (s *answers[K, A]) Get(
	ctx context.Context, question K, good time.Duration, ask func(context.Context) A,
) (A, bool) {
	return s.get(ctx, question, func(_ A, asked time.Time) bool { return time.Since(asked) < good }, ask)
}

// Len returns the number of cached answers.
func (s *answers[K, A]) Len() int { return len(s.of) }

// NewAnswers returns a cache of at most most answers. Each of them is valid for at most long.
func NewAnswers(most int, long time.Duration) *answers[int, error] {
	return &answers[int, error]{most: most, long: long}
}

// NewStops returns the function stop of new bundles. For a reader at offset from, stop returns the offset at which its
// batch ends.
func NewStops() func(from uint64, now func() uint64) uint64 {
	all := new(bundles)
	return func(from uint64, now func() uint64) uint64 { return all.stop(filterID{}, from, now) }
}

// NewBundles returns a function that returns the encoded batch between two offsets. The first call for a batch encodes
// it with write.
func NewBundles() func(view View, filter byte, version int, from, to uint64, write func() string) (*[]byte, error) {
	all := new(bundles)
	return func(view View, filter byte, version int, from, to uint64, write func() string) (*[]byte, error) {
		return all.text(bundle{view, filterID{filter}, version, from, to}, func() (*[]byte, error) {
			text := []byte(write())
			return &text, nil
		})
	}
}

// Permitted reports whether rules allow the program to list, and to watch, a resource.
func Permitted(rules []authorization.ResourceRule, group, resource string) (list, watch bool) {
	scope := wire.Scope{Resource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}}
	p := permitsOf(rules)
	return p.allow(scope, "list"), p.allow(scope, "watch")
}
