package watch

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"sync"
	"time"
)

// digestEvery is the interval at which a reader of rows is sent a digest, so that the client can verify its copy.
const digestEvery = time.Minute

// digest summarizes the rows that a filter matches at an offset of the journal: their number, and the sum modulo 2^32
// of their hashes. The hash of a row is the 32-bit FNV-1a of "namespace/name/resourceVersion", changed by mix. A sum
// does not depend on the order of the rows.
type digest struct {
	offset uint64
	count  int
	sum    uint32
}

func (d *digest) add(key, version string) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, key) // A hash never returns an error.
	_, _ = io.WriteString(h, "/")
	_, _ = io.WriteString(h, version)
	d.sum += mix(h.Sum32())
	d.count++
}

// mix is the finalizer of MurmurHash3 (github.com/aappleby/smhasher, fmix32). Without mix, the FNV-1a hashes of
// versions that differ only in the last digit differ by little. In a sum, such small differences cancel out.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// digests caches the newest digest of each filter for a short time, so that readers that are woken at the same time
// share it.
type digests struct {
	mu     sync.Mutex
	newest map[filterID]*digestEntry
}

// digestEntry is a cache entry: a digest that is being computed, or has been computed.
type digestEntry struct {
	*digest

	startedAt time.Time
	ended     chan struct{} // Closed when the computation has ended.
}

// done reports whether the computation of the digest has ended.
func (t *digestEntry) done() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// join returns the digestEntry of a filter. isLeader is true if the entry is new, and the caller must compute its
// digest. An existing entry is reused if it is still being computed, or if its digest is not older than offset.
func (d *digests) join(id filterID, offset uint64) (t *digestEntry, isLeader bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t = d.newest[id]; t != nil && (!t.done() || t.offset >= offset) {
		return t, false
	}
	maps.DeleteFunc(
		d.newest, func(_ filterID, t *digestEntry) bool { return t.done() && time.Since(t.startedAt) > maxSharedAge },
	)
	if d.newest == nil {
		d.newest = make(map[filterID]*digestEntry)
	}
	t = &digestEntry{startedAt: time.Now(), ended: make(chan struct{})}
	d.newest[id] = t
	return t, true
}

// compute computes the digest of t by calling count, and wakes the readers that wait for it. If count panics, the entry
// stays without a digest and is removed. Otherwise these readers would wait forever.
func (d *digests) compute(id filterID, t *digestEntry, count func() *digest) {
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

// digest returns the digest of what a filter matches, at the given offset or a later one. It returns nil if ctx ends
// first, or if the computation failed. The first of several readers with the same filter computes it, and the others
// wait for that. Readers with other filters do not wait.
func (i *informer) digest(ctx context.Context, f *filter, offset uint64) *digest {
	for {
		t, isLeader := i.digests.join(f.id(), offset)
		if isLeader {
			i.digests.compute(f.id(), t, func() *digest { return i.computeDigest(f) })
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

func (i *informer) computeDigest(f *filter) *digest {
	entries, cursor := i.Snapshot()
	d := &digest{offset: cursor.Offset}
	for n := range entries {
		if f.match(entries[n].Value) {
			d.add(entries[n].Key, entries[n].Value.ResourceVersion())
		}
	}
	return d
}

// nextDigest returns the time at which the readers of a filter are sent the next digest. All readers of a filter have
// the same time. It differs between filters, because each filter needs a scan of all rows.
func (i *informer) nextDigest(f *filter) time.Time {
	id := f.id()
	phase := time.Duration(binary.BigEndian.Uint16(id[:])) * digestEvery >> 16
	return i.began.Add(phase + (time.Since(i.began) - phase + digestEvery).Truncate(digestEvery))
}

// digestDue reports whether the reader must compute a digest now. The digest is sent once all changes up to its offset
// have been sent.
func (s *reader) digestDue() bool {
	return s.view.digests && s.dueDigest == nil && !s.needsSnapshot && !time.Now().Before(s.digestAt)
}

func (s *reader) digestMessage() []byte {
	d := s.dueDigest
	s.dueDigest, s.digestAt = nil, s.informer.nextDigest(s.filter)
	return fmt.Appendf(s.message("digest"), `,"count":%d,"digest":"%08x"`, d.count, d.sum)
}
