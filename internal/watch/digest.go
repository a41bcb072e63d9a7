package watch

import (
	"fmt"
	"hash/fnv"
	"io"
	"sync"
	"time"
)

// digestEvery is how often a reader of rows is told a digest of them, against
// which it checks what it holds.
const digestEvery = time.Minute

// digest is how many rows there are at an offset, and the sum modulo 2^32 of the
// 32-bit FNV-1a of "namespace/name/resourceVersion" of each. A sum does not
// depend on their order.
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
	d.sum += h.Sum32()
	d.count++
}

// digests keeps the newest digest of each filter: readers that wake together
// share it.
type digests struct {
	mu     sync.Mutex
	newest map[string]*digest
}

// manyDigests is how many filters' digests are kept.
const manyDigests = 64

// digest returns the digest of what a filter lets through, at the reader's
// offset or a later one.
func (i *informer) digest(f *filter, offset uint64) *digest {
	i.digests.mu.Lock()
	defer i.digests.mu.Unlock()
	key := fmt.Sprintf("%q %q %q %q", f.namespaces, f.name, f.words, f.selector)
	if d := i.digests.newest[key]; d != nil && d.offset >= offset {
		return d
	}
	if len(i.digests.newest) >= manyDigests || i.digests.newest == nil {
		i.digests.newest = make(map[string]*digest)
	}
	entries, cursor := i.Snapshot()
	d := &digest{offset: cursor.Offset}
	for n := range entries {
		if f.match(entries[n].Value) {
			d.add(entries[n].Key, entries[n].Value.ResourceVersion())
		}
	}
	i.digests.newest[key] = d
	return d
}

// nextDigest is when readers are told the next digest: all at the same time.
func (i *informer) nextDigest() time.Time {
	return i.began.Add(time.Since(i.began).Truncate(digestEvery) + digestEvery)
}

// digestDue reports whether it is time to begin with one. It can be told as soon
// as all changes up to its offset have been.
func (s *Subscription) digestDue(synced bool) bool {
	return s.view.digests && s.due == nil && synced && !s.behind && !time.Now().Before(s.digestAt)
}

func (s *Subscription) digestMessage() []byte {
	d := s.due
	s.due, s.digestAt = nil, s.informer.nextDigest()
	return fmt.Appendf(s.message("digest"), `,"count":%d,"digest":"%08x"`, d.count, d.sum)
}
