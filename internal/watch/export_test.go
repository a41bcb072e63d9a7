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

// DeleteRows removes all rows, as after a revoked permission. It calls whileLocked while no reader can read them.
func (c *Cluster) DeleteRows(ref string, whileLocked func()) { c.faultsOf(ref).DeleteRows(whileLocked) }

// SetColumns replaces the columns by a single one, and keeps the rows. It calls whileLocked before readers are
// woken.
func (c *Cluster) SetColumns(ref, column string, whileLocked func()) {
	c.faultsOf(ref).SetColumns(column, whileLocked)
}

func (c *Cluster) DropHistory(ref string) { c.informerOf(ref).Forget() }

// ResetReaders makes all readers restart from a snapshot, as after a revoked permission.
func (c *Cluster) ResetReaders(ref string) { c.faultsOf(ref).ResetReaders() }

// Uncover makes a namespace of the pods count as not watched, but keeps its rows, until restore is called.
func (c *Cluster) Uncover(namespace string) (restore func()) {
	return c.faultsOf("core/v1/pods").Uncover(namespace)
}

// DeleteNamespaceRows removes the pods of a namespace, as after a revoked permission. It calls whileLocked before
// the removal. The namespace counts as not watched until restore is called.
func (c *Cluster) DeleteNamespaceRows(namespace string, whileLocked func()) (restore func()) {
	return c.faultsOf("core/v1/pods").DeleteNamespaceRows(namespace, whileLocked)
}

// DropUnusedRankings drops the rankings (sorted lists of rows) that no window uses, and the list of rows that
// readers share.
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

// DigestPanic computes a digest (a hash of all rows) that calls the function first, and then panics.
func (c *Cluster) DigestPanic(ctx context.Context, ref string, first func()) (panicked any) {
	return c.informerOf(ref).FaultyDigest(ctx, first)
}

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
// during the update. The results rows and total are those of the second read.
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

// Forbid makes the state forbidden, as after the API server has refused a list.
func (c *Cluster) Forbid(ref string) { c.faultsOf(ref).Forbid() }

// OnFeedStop calls observe with the state of the resource when one of its feeds (list and watch) is stopped.
func (c *Cluster) OnFeedStop(ref string, observe func(status.State)) {
	c.faultsOf(ref).OnFeedStop(observe)
}

// HistoryAfter returns the number of changes that the reader would send after the first n changes of the history.
func (s *Subscription) HistoryAfter(n int) int { return s.reader.HistoryAfter(n) }

func (c *Cluster) CachedNamespaces() int {
	return c.namespaceExistence.Len()
}

// ExceedsBudgetWith reports whether the informer of ref would stop for lack of memory. Meanwhile, other reserves
// bytes, and frees them after the given number of loop steps.
func (c *Cluster) ExceedsBudgetWith(ref, other string, bytes int64, steps int) bool {
	return c.faultsOf(ref).ExceedsBudgetWith(c.informerOf(other).Informer, bytes, steps)
}

// CachedMaskedChanges counts cached changes that are masked for guests (viewers of share links), and the bytes of
// their objects. The result accounted is the cache's own count of its bytes.
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

// LockRanking locks the ranking (a sorted list of rows) that the subscription reads, until release is called.
func (s *Subscription) LockRanking() (release func()) { return s.reader.LockRanking() }

// BlockDigest starts the subscription's next digest (a hash of all rows), which ends when release is called.
func (s *Subscription) BlockDigest() (release func()) { return s.reader.BlockDigest() }

// DigestOf returns the number of rows and their hash. Each row is a key and a resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) { return stream.DigestOf(rows) }
