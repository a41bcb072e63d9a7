package stream

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// digestEvery is the interval of digests, which are hashes by which clients verify their rows.
const digestEvery = time.Minute

// digest contains the number of rows, and the sum of mix(32-bit FNV-1a of "namespace/name/resourceVersion") modulo
// 2^32.
type digest struct {
	offset uint64
	count  int
	sum    uint32
}

func (d *digest) add(key, version string) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, key)
	_, _ = io.WriteString(h, "/")
	_, _ = io.WriteString(h, version)
	d.sum += mix(h.Sum32())
	d.count++
}

func (d *digest) text() string { return fmt.Sprintf("%08x", d.sum) }

// mix is fmix32 of MurmurHash3 (github.com/aappleby/smhasher). Without mix, similar FNV-1a hashes can cancel out in a
// sum.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// digests caches the newest digest of each filter, so that readers with the same filter compute it only once.
type digests struct {
	mu     sync.Mutex
	newest map[query.FilterID]*digestEntry
}

type digestEntry struct {
	*digest

	startedAt time.Time
	ended     chan struct{}
}

func (t *digestEntry) done() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// join returns a recent entry, or a new one with isLeader true. A leader must compute the digest.
func (d *digests) join(id query.FilterID, offset uint64) (t *digestEntry, isLeader bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t = d.newest[id]; t != nil && (!t.done() || t.offset >= offset) {
		return t, false
	}
	maps.DeleteFunc(
		d.newest, func(_ query.FilterID, t *digestEntry) bool { return t.done() && time.Since(t.startedAt) > maxSharedAge },
	)
	if d.newest == nil {
		d.newest = make(map[query.FilterID]*digestEntry)
	}
	t = &digestEntry{startedAt: time.Now(), ended: make(chan struct{})}
	d.newest[id] = t
	return t, true
}

// compute calls count, and wakes the readers that wait for the digest. After a panic, it removes the entry.
func (d *digests) compute(id query.FilterID, t *digestEntry, count func() *digest) {
	defer close(t.ended)
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if t.digest == nil && d.newest[id] == t {
			delete(d.newest, id)
		}
	}()
	t.digest = count()
}

// digest returns the digest of the filter's rows, at the offset or later. It returns nil after a failure.
func (i *SharedInformer) digest(ctx context.Context, f *query.Filter, offset uint64) *digest {
	for {
		t, isLeader := i.digests.join(f.ID(), offset)
		if isLeader {
			i.digests.compute(f.ID(), t, func() *digest { return i.computeDigest(f) })
		}
		select {
		case <-t.ended:
		case <-ctx.Done():
			return nil
		}
		if t.digest == nil || t.offset >= offset {
			return t.digest
		}
	}
}

func (i *SharedInformer) computeDigest(f *query.Filter) *digest {
	entries, cursor := i.Snapshot()
	d := &digest{offset: cursor.Offset}
	for n := range entries {
		if f.Match(entries[n].Value) {
			d.add(entries[n].Key, entries[n].Value.ResourceVersion())
		}
	}
	return d
}

// nextDigest returns when the next digest is due. Times differ between filters, because each digest scans all rows.
func (i *SharedInformer) nextDigest(id query.FilterID) time.Time {
	phase := time.Duration(binary.BigEndian.Uint16(id[:])) * digestEvery >> 16
	return i.Began.Add(phase + (time.Since(i.Began) - phase + digestEvery).Truncate(digestEvery))
}
