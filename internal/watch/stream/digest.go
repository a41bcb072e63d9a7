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

	"glasshouse/internal/watch/query"
)

// digestEvery is the interval of digests. A digest is a hash of all rows of a reader, by which the client verifies
// its copy of the rows.
const digestEvery = time.Minute

// digest summarizes the rows that a filter matches at an offset of the journal: the number of rows, and the sum of
// their hashes modulo 2^32. The hash of a row is mix(h), where h is the 32-bit FNV-1a hash of
// "namespace/name/resourceVersion". A sum does not depend on the order of the rows.
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

// mix is the finalizer of MurmurHash3 (github.com/aappleby/smhasher, fmix32). Without mix, FNV-1a hashes differ by
// little if the versions differ only in the last digit. In a sum, such small differences can cancel out.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// digests caches the newest digest (a hash of all matching rows) of each filter, so that readers with the same filter
// compute it only once.
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

// join returns the entry for the digest (hash of all rows) of a filter. If there is an entry whose digest is still
// being computed, or includes all changes up to the given journal offset, join returns this entry. Otherwise, it
// returns a new entry and isLeader true. The caller must then compute the digest.
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

// compute calls count to compute the digest (hash of all rows) of the entry t, and wakes the readers that wait for
// the digest. If count panics, compute also wakes these readers. It then removes the entry, so that the next reader
// computes the digest again.
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

// digest returns the digest (a hash) of the rows that a filter matches, at the given journal offset or a later one.
// If several readers with the same filter call digest, the first one computes the result, and the others wait for it.
// digest returns nil if ctx ends first, or if the computation failed.
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

// nextDigest returns when the next digest (a hash of all matching rows) is due for the readers of a filter. The time
// is the same for all readers of the filter, so that they share the digest. Each digest needs a scan of all rows.
// Therefore, the times of different filters differ.
func (i *SharedInformer) nextDigest(id query.FilterID) time.Time {
	phase := time.Duration(binary.BigEndian.Uint16(id[:])) * digestEvery >> 16
	return i.Began.Add(phase + (time.Since(i.Began) - phase + digestEvery).Truncate(digestEvery))
}
