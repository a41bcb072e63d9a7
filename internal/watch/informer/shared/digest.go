package shared

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// digestEvery is the interval between the digests of a subscription. With a digest, which is a hash of rows, a client
// verifies its rows.
const digestEvery = time.Minute

// Digest is a hash of rows. For each row, it adds mix(32-bit FNV-1a of "namespace/name/resourceVersion"), modulo 2^32.
type Digest struct {
	Offset uint64 // The journal offset for which the hash is valid.
	Count  int    // The number of rows.
	sum    uint32
}

// Add adds a row to the hash. key is "namespace/name", and version is the resourceVersion. The order of the calls does
// not matter.
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

// mix is fmix32 of MurmurHash3 (github.com/aappleby/smhasher). It is needed because FNV-1a hashes of similar texts are
// similar: without it, changes of several rows could cancel out in the sum.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// maxDigests is the maximum number of digests in the cache of one informer.
const maxDigests = 64

func newDigests() *flight.Cache[query.FilterID, *Digest] {
	return flight.New[query.FilterID, *Digest](maxDigests, digestEvery)
}

// Digest returns the digest of the rows that the filter f matches, at the given journal offset or later. id is the ID
// of f. Concurrent callers with the same ID share one scan of the rows. If ctx ends first, Digest returns nil.
func (i *Informer) Digest(ctx context.Context, f *query.Filter, id query.FilterID, offset uint64) *Digest {
	isFresh := func(d *Digest, _ time.Time) bool { return d.Offset >= offset }
	for {
		d, ok := i.digests.Get(ctx, id, isFresh, func(context.Context) *Digest { return i.computeDigest(f) })
		// If another caller started this scan before the journal reached the offset, d.Offset is too low. Then try
		// again.
		if !ok || d.Offset >= offset {
			return d
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

// NextDigest returns when the next digest for a filter is due. The times of different filters differ, because each
// digest scans all rows, and many scans at the same time would be slow.
func (i *Informer) NextDigest(id query.FilterID) time.Time {
	phase := time.Duration(binary.BigEndian.Uint16(id[:])) * digestEvery >> 16
	return i.Began.Add(phase + (time.Since(i.Began) - phase + digestEvery).Truncate(digestEvery))
}
