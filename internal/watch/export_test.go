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

// DeleteRows is informer.Faults.DeleteRows for the resource ref.
func (c *Cluster) DeleteRows(ref string, whileLocked func()) { c.faultsOf(ref).DeleteRows(whileLocked) }

// SetColumns is informer.Faults.SetColumns for the resource ref.
func (c *Cluster) SetColumns(ref, column string, whileLocked func()) {
	c.faultsOf(ref).SetColumns(column, whileLocked)
}

// DropHistory drops the history of the resource ref, as when memory is low.
func (c *Cluster) DropHistory(ref string) { c.informerOf(ref).Forget() }

// ResetReaders makes all readers of the resource ref restart from a snapshot, as after a permission was revoked.
func (c *Cluster) ResetReaders(ref string) { c.faultsOf(ref).ResetReaders() }

// Uncover is informer.Faults.Uncover for the pods of a namespace.
func (c *Cluster) Uncover(namespace string) (restore func()) {
	return c.faultsOf("core/v1/pods").Uncover(namespace)
}

// DeleteNamespaceRows is informer.Faults.DeleteNamespaceRows for the pods of a namespace.
func (c *Cluster) DeleteNamespaceRows(namespace string, whileLocked func()) (restore func()) {
	return c.faultsOf("core/v1/pods").DeleteNamespaceRows(namespace, whileLocked)
}

// DropUnusedRankings drops all rankings (sorted lists of rows) that no window uses, and the list of rows that
// concurrent readers share. It does not wait until they expire.
func (c *Cluster) DropUnusedRankings() {
	for _, i := range c.sharedInformers() {
		i.DropUnused()
	}
}

// Put stores an object of the resource ref, as a watch event does.
func (c *Cluster) Put(ref string, o *Item) {
	for _, i := range c.sharedInformers() {
		if stream.ResourceOf(i).Ref() == ref {
			i.Set(informer.Key(o.Namespace(), o.Name()), o)
		}
	}
}

// DigestPanic is SharedInformer.FaultyDigest for the resource ref.
func (c *Cluster) DigestPanic(ctx context.Context, ref string, first func()) (panicked any) {
	return c.informerOf(ref).FaultyDigest(ctx, first)
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

// Forbid is informer.Faults.Forbid for the resource ref.
func (c *Cluster) Forbid(ref string) { c.faultsOf(ref).Forbid() }

// OnFeedStop is informer.Faults.OnFeedStop for the resource ref.
func (c *Cluster) OnFeedStop(ref string, observe func(status.State)) {
	c.faultsOf(ref).OnFeedStop(observe)
}

// HistoryAfter is reader.HistoryAfter for the subscription.
func (s *Subscription) HistoryAfter(n int) int { return s.reader.HistoryAfter(n) }

// CachedNamespaces returns for how many namespaces the Cluster has cached whether they exist.
func (c *Cluster) CachedNamespaces() int {
	return c.namespaceExistence.Len()
}

// ExceedsBudgetWith is informer.Faults.ExceedsBudgetWith for the resources ref and other.
func (c *Cluster) ExceedsBudgetWith(ref, other string, bytes int64, steps int) bool {
	return c.faultsOf(ref).ExceedsBudgetWith(c.informerOf(other).Informer, bytes, steps)
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

// LockRanking is reader.LockRanking for the subscription.
func (s *Subscription) LockRanking() (release func()) { return s.reader.LockRanking() }

// BlockDigest is reader.BlockDigest for the subscription.
func (s *Subscription) BlockDigest() (release func()) { return s.reader.BlockDigest() }

// DigestOf is DigestOf.
func DigestOf(rows [][2]string) (count int, text string) { return stream.DigestOf(rows) }
