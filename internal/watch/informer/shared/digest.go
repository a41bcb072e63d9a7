package shared

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

// Digest is a hash of rows: the sum of mix(32-bit FNV-1a of "namespace/name/resourceVersion") modulo 2^32.
type Digest struct {
	Offset uint64 // The journal offset at which the rows were read.
	Count  int    // The number of rows.
	sum    uint32
}

// Add adds a row with the key "namespace/name" and the resourceVersion. The order of rows does not matter.
func (d *Digest) Add(key, version string) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, key)
	_, _ = io.WriteString(h, "/")
	_, _ = io.WriteString(h, version)
	d.sum += mix(h.Sum32())
	d.Count++
}

// Text returns the hash as 8 hex digits.
func (d *Digest) Text() string { return fmt.Sprintf("%08x", d.sum) }

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
	*Digest

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
	if t = d.newest[id]; t != nil && (!t.done() || t.Offset >= offset) {
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
func (d *digests) compute(id query.FilterID, t *digestEntry, count func() *Digest) {
	defer close(t.ended)
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if t.Digest == nil && d.newest[id] == t {
			delete(d.newest, id)
		}
	}()
	t.Digest = count()
}

// Digest returns the digest of the filter's rows, at the journal offset or later. id is the ID of the filter. Digest
// returns nil if ctx ends, or if the computation by another caller panics.
func (i *Informer) Digest(ctx context.Context, f *query.Filter, id query.FilterID, offset uint64) *Digest {
	for {
		t, isLeader := i.digests.join(id, offset)
		if isLeader {
			i.digests.compute(id, t, func() *Digest { return i.computeDigest(f) })
		}
		select {
		case <-t.ended:
		case <-ctx.Done():
			return nil
		}
		if t.Digest == nil || t.Offset >= offset {
			return t.Digest
		}
	}
}

func (i *Informer) computeDigest(f *query.Filter) *Digest {
	entries, cursor := i.Snapshot()
	d := &Digest{Offset: cursor.Offset}
	for n := range entries {
		if f.Match(entries[n].Value) {
			d.Add(entries[n].Key, entries[n].Value.ResourceVersion())
		}
	}
	return d
}

// NextDigest returns when the next digest is due. Times differ between filters, because each digest scans all rows.
func (i *Informer) NextDigest(id query.FilterID) time.Time {
	phase := time.Duration(binary.BigEndian.Uint16(id[:])) * digestEvery >> 16
	return i.Began.Add(phase + (time.Since(i.Began) - phase + digestEvery).Truncate(digestEvery))
}
