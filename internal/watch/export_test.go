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

// DigestOf is the digest of rows, each a key and a resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) {
	var d digest
	for _, row := range rows {
		d.add(row[0], row[1])
	}
	return d.count, fmt.Sprintf("%08x", d.sum)
}

// Labels is a JSON object of labels, as a selector reads it.
func Labels(text string) labels.Labels { return labelText(text) }

func (c *Cluster) informerOf(ref string) *informer {
	c.catalog.mu.Lock()
	defer c.catalog.mu.Unlock()
	return c.pool.find(wire.Scope{Resource: c.catalog.resources[indexOf(c.catalog.resources, ref)].gvr()})
}

// TakeOut takes all rows of a resource out, as where it may not be seen any more;
// before the readers hear of it, reading is called, while nothing can be read.
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

// Recolumn gives a resource another column, as a list does before its rows come;
// before the readers hear of it, reading is called, while nothing can be read.
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

// ForgetPast drops the changes that are kept of a resource, as where memory is short.
func (c *Cluster) ForgetPast(ref string) { c.informerOf(ref).Forget() }

// BeginAnew has all readers of a resource begin anew.
func (c *Cluster) BeginAnew(ref string) { c.informerOf(ref).beginAnew() }

// Once returns what the first who asks makes, each time the same way.
func Once[T any]() func(make func() (T, error)) (T, error) { return new(once[T]).get }

// Uncover has the pods of a namespace be as they are for a moment after the right
// to them is gone, until it is restored: not watched, and their rows still there.
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

// TakeOutOf takes the pods of a namespace out, as where the right to it is gone; before
// they go, reading is called, while nothing can be read. The namespace is not watched
// until it is restored.
func (c *Cluster) TakeOutOf(namespace string, reading func()) (restore func()) {
	i := c.pool.find(wire.Scope{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}})
	uncover := sync.OnceFunc(func() {
		reading()
		restore = c.Uncover(namespace)
	})
	i.purge(func(ns string) bool { uncover(); return ns == namespace })
	return restore
}

// ForgetOrders drops the orders that nobody holds, and the list that those who
// come together share, without waiting for it.
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

// Put makes an object what there is of it, as a watch would.
func (c *Cluster) Put(ref string, o *Item) {
	for _, i := range c.pool.informers() {
		if i.resource.Ref() == ref {
			i.Set(keyOf(o.Namespace(), o.Name()), o)
		}
	}
}

// panicking is a selector that matches nothing, and does so loudly.
type panicking struct {
	labels.Selector

	first func()
}

func (panicking) String() string { return "panicking" }

func (p panicking) Matches(labels.Labels) bool {
	p.first()
	panic("broken")
}

// DigestOfPanics counts a digest whose counting panics, after first, and returns
// that panic.
func (c *Cluster) DigestOfPanics(ctx context.Context, ref string, first func()) (panicked any) {
	defer func() { panicked = recover() }()
	i := c.informerOf(ref)
	f := &filter{selector: &selector{panicking{labels.Everything(), first}, make(map[unique.Handle[string]]bool)}}
	i.digest(ctx, f, 0)
	return nil
}

// trap is a selector that matches everything, until it panics.
type trap struct {
	labels.Selector

	left int // So many more it matches; below 0 any number.
}

func (p *trap) Matches(labels.Labels) bool {
	if p.left == 0 {
		p.left = -1
		panic("broken")
	}
	p.left--
	return true
}

// LookBehindPanic returns how many rows an order has, and how many it counts, for who
// looks behind somebody who panicked when some of the changes between were applied.
func (c *Cluster) LookBehindPanic(ctx context.Context, ref string, change func()) (rows, total int, panicked any, err error) {
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

// Forbid has a resource refused, as a list is; its rows go a moment later.
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

// WhileStopped has looking be told the state that is told of a resource each time
// that a feed of now is stopped, and its watch opens just then.
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

// PastFrom is how many changes are told of the past after so many of the ring.
func (s *Subscription) PastFrom(n int) int {
	kept, _ := s.reading.informer.Kept()
	now := s.reading.informer.Now()
	events, _, _, err := s.reading.past(now, journal.At(now.Offset-uint64(kept-n)), time.Time{})
	if err != nil {
		panic(err)
	}
	return len(events)
}

// Remembered is how many namespaces it is remembered of whether they exist.
func (c *Cluster) Remembered() int {
	c.existing.mu.Lock()
	defer c.existing.mu.Unlock()
	return len(c.existing.of)
}

// OverdrawnBeside reports whether a resource was about to end although nothing
// but another one did not fit, which ended meanwhile. The other one holds bytes
// more, and less again after about that many steps of a processor.
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

// Recent is how many changes are held as guests see them, as how many bytes all that
// is recent is weighed, and how many the texts of those changes have.
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

// HoldTurn takes the turn of a window's ranking, until release is called.
func (s *Subscription) HoldTurn() (release func()) {
	r := s.reading.window.ranking
	<-r.turn
	return func() { r.turn <- struct{}{} }
}

// HoldDigest begins to count the digest that is told next, and ends with that when
// release is called.
func (s *Subscription) HoldDigest() (release func()) {
	i, f := s.reading.informer, s.reading.filter
	t, _ := i.digests.join(f.id(), i.Now().Offset+1)
	return func() { i.digests.make(f.id(), t, func() *digest { return i.count(f) }) }
}

// Get asks a question of answers that each are good for so long.
func (s *answers[K, A]) Get(ctx context.Context, question K, good time.Duration, ask func(context.Context) A) (A, bool) {
	return s.get(ctx, question, func(_ A, asked time.Time) bool { return time.Since(asked) < good }, ask)
}

// Len is how many answers are kept.
func (s *answers[K, A]) Len() int { return len(s.of) }

// NewAnswers keeps most answers, none of which is good for longer than long.
func NewAnswers(most int, long time.Duration) *answers[int, error] {
	return &answers[int, error]{most: most, long: long}
}

// NewStops is where readers who come from an offset stop, among others.
func NewStops() func(from uint64, now func() uint64) uint64 {
	all := new(bundles)
	return func(from uint64, now func() uint64) uint64 { return all.stop(filterID{}, from, now) }
}

// NewBundles gives the text of a bundle, of the changes after an offset up to
// another, which is written for the first who asks for it.
func NewBundles() func(view View, filter byte, version int, from, to uint64, write func() string) (*[]byte, error) {
	all := new(bundles)
	return func(view View, filter byte, version int, from, to uint64, write func() string) (*[]byte, error) {
		return all.text(bundle{view, filterID{filter}, version, from, to}, func() (*[]byte, error) {
			text := []byte(write())
			return &text, nil
		})
	}
}

// Permitted is what rules allow the program to do with a resource.
func Permitted(rules []authorization.ResourceRule, group, resource string) (list, watch bool) {
	scope := wire.Scope{Resource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}}
	p := permitsOf(rules)
	return p.allow(scope, "list"), p.allow(scope, "watch")
}
