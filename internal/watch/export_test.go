package watch

import (
	"context"

	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/informer"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/ranking"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
	"glasshouse/internal/watch/stream"

	"k8s.io/apimachinery/pkg/labels"

	"glasshouse/internal/watch/listwatch"
)

func (c *Cluster) faultsOf(ref string) informer.Faults {
	return c.informerOf(ref).Faults()
}

func (c *Cluster) informerOf(ref string) *stream.SharedInformer {
	resources, _, _ := c.catalog.All()
	return c.find(listwatch.Scope{Resource: resources[resource.Index(resources, ref)].GVR()})
}

// DeleteRows removes all rows of the resource ref, as after a permission was revoked. It calls whileLocked before the
// removal, while the lock of the informer's journal prevents reads. See informer.Faults.DeleteRows.
func (c *Cluster) DeleteRows(ref string, whileLocked func()) { c.faultsOf(ref).DeleteRows(whileLocked) }

// SetColumns replaces the columns of the resource ref with a single one, and keeps the rows. It calls whileLocked
// before the replacement, while the lock of the informer's journal prevents reads. See informer.Faults.SetColumns.
func (c *Cluster) SetColumns(ref, column string, whileLocked func()) {
	c.faultsOf(ref).SetColumns(column, whileLocked)
}

func (c *Cluster) DropHistory(ref string) { c.informerOf(ref).Forget() }

// ResetReaders makes all readers of the resource ref restart from a snapshot, as after a permission was revoked.
func (c *Cluster) ResetReaders(ref string) { c.faultsOf(ref).ResetReaders() }

// Uncover makes the pods of a namespace count as not watched, but keeps their rows, until restore is called. See
// informer.Faults.Uncover.
func (c *Cluster) Uncover(namespace string) (restore func()) {
	return c.faultsOf("core/v1/pods").Uncover(namespace)
}

// DeleteNamespaceRows removes the rows of the pods in a namespace, as after a permission was revoked. It calls
// whileLocked before the removal, while the lock of the informer's journal prevents reads. The namespace counts as
// not watched until restore is called.
func (c *Cluster) DeleteNamespaceRows(namespace string, whileLocked func()) (restore func()) {
	return c.faultsOf("core/v1/pods").DeleteNamespaceRows(namespace, whileLocked)
}

// DropUnusedRankings drops all rankings (sorted lists of rows) that no window uses, without waiting until they
// expire. It also drops the list of rows that concurrent readers share.
func (c *Cluster) DropUnusedRankings() {
	for _, i := range c.sharedInformers() {
		i.DropUnused()
	}
}

func (c *Cluster) Put(ref string, o *Item) {
	for _, i := range c.sharedInformers() {
		if stream.ResourceOf(i).Ref() == ref {
			i.Set(informer.Key(o.Namespace(), o.Name()), o)
		}
	}
}

// DigestPanic computes a digest (a hash of all rows) of the resource ref. The computation calls first, and then
// panics. DigestPanic returns the value of the panic.
func (c *Cluster) DigestPanic(ctx context.Context, ref string, first func()) (panicked any) {
	return c.informerOf(ref).FaultyDigest(ctx, first)
}

// panicOnceSelector is a label selector that matches everything, and panics once after a number of matches.
type panicOnceSelector struct {
	labels.Selector

	left int // The number of matches until the panic; negative for no panic.
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
// in the middle of the update; panicked is the value of the panic. The second read is that of another reader. The
// result rows is the number of rows that it gets, and total is the number of all rows.
func (c *Cluster) ReadRankingAfterPanic(
	ctx context.Context, ref string, change func(),
) (rows, total int, panicked any, err error) {
	i := c.informerOf(ref)
	broken := &panicOnceSelector{labels.Everything(), -1}
	f := &query.Filter{Selector: query.NewSelector(broken)}
	r := ranking.New(i.Informer, f, i.CurrentState(nil).Columns, ranking.Sort{Column: -1})
	at := &query.RangeRequest{Range: query.Range{Count: query.MaxWindow}}
	if _, err := r.View(ctx, at); err != nil {
		return 0, 0, nil, err
	}
	change()
	broken.left = 1
	func() {
		defer func() { panicked = recover() }()
		_, err = r.View(ctx, at)
	}()
	found, err := r.View(ctx, at)
	if err != nil {
		return 0, 0, panicked, err
	}
	return len(found.Rows), found.Counts.Total, panicked, nil
}

// Forbid sets the state of the resource ref to forbidden, as after the API server has refused a list.
func (c *Cluster) Forbid(ref string) { c.faultsOf(ref).Forbid() }

// OnFeedStop calls observe when a feed (list and watch) of the resource ref is stopped, with the state of the
// resource at that moment. See informer.Faults.OnFeedStop.
func (c *Cluster) OnFeedStop(ref string, observe func(status.State)) {
	c.faultsOf(ref).OnFeedStop(observe)
}

// HistoryAfter returns the number of changes that the reader would send if it resumed after the first n changes of
// the history.
func (s *Subscription) HistoryAfter(n int) int { return s.reader.HistoryAfter(n) }

func (c *Cluster) CachedNamespaces() int {
	return c.namespaceExistence.Len()
}

// ExceedsBudgetWith reports whether the informer of the resource ref would stop for lack of memory. Meanwhile, the
// resource other reserves the given number of bytes, and frees them after a loop of the given number of steps. See
// informer.Faults.ExceedsBudgetWith.
func (c *Cluster) ExceedsBudgetWith(ref, other string, bytes int64, steps int) bool {
	return c.faultsOf(ref).ExceedsBudgetWith(c.informerOf(other).Informer, bytes, steps)
}

// CachedMaskedChanges measures the cache of encoded values. The result changes is the number of cached changes that
// are masked for guests (viewers of share links). The result objectBytes is the size of their objects. The result
// accounted is the size of the whole cache as the cache itself counts it. Sizes are in bytes.
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

// LockRanking locks the ranking (the sorted list of rows) that the subscription's window reads. release unlocks it.
func (s *Subscription) LockRanking() (release func()) { return s.reader.LockRanking() }

// BlockDigest starts the computation of the subscription's next digest (a hash of all rows), which ends when release
// is called.
func (s *Subscription) BlockDigest() (release func()) { return s.reader.BlockDigest() }

// DigestOf returns the number of rows and their digest (hash), as in a digest message. Each row is a key and a
// resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) { return stream.DigestOf(rows) }
