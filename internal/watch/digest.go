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

// digestEvery is the interval at which a reader of rows is sent a digest, by which it verifies its copy.
const digestEvery = time.Minute

// digest is the number of rows at an offset, and the sum modulo 2^32 of their hashes: the mixed 32-bit FNV-1a of
// "namespace/name/resourceVersion". A sum does not depend on the order of the rows.
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

// mix is the finalizer of MurmurHash3 (github.com/aappleby/smhasher, fmix32). The FNV-1a hashes of two versions that
// differ only in the last digit differ by little, and in a sum such small differences cancel out.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// digests keeps the newest digest of each filter for a short time, so that readers that wake together share it.
type digests struct {
	mu     sync.Mutex
	newest map[filterID]*tally
}

// tally is a digest that is being counted, or was counted.
type tally struct {
	*digest

	began time.Time
	made  chan struct{} // Closed after the count.
}

// done reports whether the count has ended.
func (t *tally) done() bool {
	select {
	case <-t.made:
		return true
	default:
		return false
	}
}

// join returns the tally of a filter, and whether the caller must count it.
func (d *digests) join(id filterID, offset uint64) (t *tally, mine bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t = d.newest[id]; t != nil && (!t.done() || t.offset >= offset) {
		return t, false
	}
	maps.DeleteFunc(d.newest, func(_ filterID, t *tally) bool { return t.done() && time.Since(t.began) > togetherness })
	if d.newest == nil {
		d.newest = make(map[filterID]*tally)
	}
	t = &tally{began: time.Now(), made: make(chan struct{})}
	d.newest[id] = t
	return t, true
}

// make counts a digest for all readers that wait for it. If the count panics, the tally stays without a digest and is
// removed. Otherwise the other readers would wait forever.
func (d *digests) make(id filterID, t *tally, count func() *digest) {
	defer close(t.made)
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if t.digest == nil && d.newest[id] == t {
			delete(d.newest, id)
		}
	}()
	t.digest = count()
}

// digest returns the digest of what a filter matches, at the reader's offset or a later one. It returns nil if ctx ends
// first, or if the count failed. Readers with the same filter wait for the first of them. Other readers do not wait.
func (i *informer) digest(ctx context.Context, f *filter, offset uint64) *digest {
	for {
		t, mine := i.digests.join(f.id(), offset)
		if mine {
			i.digests.make(f.id(), t, func() *digest { return i.count(f) })
		}
		select {
		case <-t.made:
		case <-ctx.Done():
			return nil
		}
		if t.digest == nil || t.offset >= offset {
			return t.digest
		}
	}
}

func (i *informer) count(f *filter) *digest {
	entries, cursor := i.Snapshot()
	d := &digest{offset: cursor.Offset}
	for n := range entries {
		if f.match(entries[n].Value) {
			d.add(entries[n].Key, entries[n].Value.ResourceVersion())
		}
	}
	return d
}

// nextDigest returns when readers of a filter are sent the next digest. The time is the same for all readers of a
// filter, and differs between filters, because each filter needs a scan of all rows.
func (i *informer) nextDigest(f *filter) time.Time {
	id := f.id()
	phase := time.Duration(binary.BigEndian.Uint16(id[:])) * digestEvery >> 16
	return i.began.Add(phase + (time.Since(i.began) - phase + digestEvery).Truncate(digestEvery))
}

// digestDue reports whether it is time to count a digest. It can be sent after all changes up to its offset were sent.
func (s *reading) digestDue() bool {
	return s.view.digests && s.due == nil && !s.behind && !time.Now().Before(s.digestAt)
}

func (s *reading) digestMessage() []byte {
	d := s.due
	s.due, s.digestAt = nil, s.informer.nextDigest(s.filter)
	return fmt.Appendf(s.message("digest"), `,"count":%d,"digest":"%08x"`, d.count, d.sum)
}
