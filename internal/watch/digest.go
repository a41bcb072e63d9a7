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

// digestEvery is how often a reader of rows is told a digest of them, against
// which it checks what it holds.
const digestEvery = time.Minute

// digest is how many rows there are at an offset, and the sum modulo 2^32 of the
// hash of each: the 32-bit FNV-1a of "namespace/name/resourceVersion", mixed. A
// sum does not depend on their order.
type digest struct {
	offset uint64
	count  int
	sum    uint32
}

func (d *digest) add(key, version string) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, key) // A hash takes every write.
	_, _ = io.WriteString(h, "/")
	_, _ = io.WriteString(h, version)
	d.sum += mix(h.Sum32())
	d.count++
}

// mix is how MurmurHash3 finishes (github.com/aappleby/smhasher, fmix32): of two
// versions that differ in the last digit alone FNV-1a differs by little, and in a
// sum little differences make up for each other.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// digests keeps the newest digest of each filter that was counted within the
// last moment: readers that wake together share it.
type digests struct {
	mu     sync.Mutex
	newest map[filterID]*tally
}

// tally is a digest that is counted, or has been.
type tally struct {
	*digest

	began time.Time
	made  chan struct{} // Closed when it has been.
}

// done reports whether it has been counted.
func (t *tally) done() bool {
	select {
	case <-t.made:
		return true
	default:
		return false
	}
}

// join returns the tally of a filter, and whether it is the caller's to count.
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

// make counts a digest for all who wait for it. One whose counting panics is none,
// and is forgotten: the others must not wait for it for ever.
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

// digest returns the digest of what a filter lets through, at the reader's
// offset or a later one; nil where ctx ends before, or it could not be counted.
// Whoever has the same filter waits for the first, and nobody else does.
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

// nextDigest is when readers of a filter are told the next digest: all of them
// at the same time, which is another for each filter, as all rows are gone
// through for each.
func (i *informer) nextDigest(f *filter) time.Time {
	id := f.id()
	phase := time.Duration(binary.BigEndian.Uint16(id[:])) * digestEvery >> 16
	return i.began.Add(phase + (time.Since(i.began) - phase + digestEvery).Truncate(digestEvery))
}

// digestDue reports whether it is time to begin with one. It can be told as soon
// as all changes up to its offset have been.
func (s *reading) digestDue() bool {
	return s.view.digests && s.due == nil && !s.behind && !time.Now().Before(s.digestAt)
}

func (s *reading) digestMessage() []byte {
	d := s.due
	s.due, s.digestAt = nil, s.informer.nextDigest(s.filter)
	return fmt.Appendf(s.message("digest"), `,"count":%d,"digest":"%08x"`, d.count, d.sum)
}
