package watch

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/wire"
)

type (
	resourceJournal = journal.Journal[string, *wire.Object, memo]
	objectEntry     = journal.Entry[string, *wire.Object]
	change          = journal.Change[string, *wire.Object, memo]
)

// surroundings are what an informer must know of the rest of the cluster.
type surroundings struct {
	client  *wire.Client
	reviews *reviewer
	pool    *pool
	ring    Ring
	// printed finds what the resource's columns show; asked before each list, and
	// where rules mask some of it before each watch.
	printed func(context.Context) printed
	masked  bool
	// served returns what discovery tells of the resource.
	served func(context.Context) definition
	// stir has discovery asked: it may have changed. It must return at once.
	stir func()
	// namespaces returns those of the cluster, as they were known last. They are
	// watched until release.
	namespaces func(ctx context.Context) (names []string, release func())
	// home is the namespace of the kubeconfig's context; it may be empty.
	home string
	// changed is called when the informer's state is another, noted when an
	// object is. They must return at once.
	changed, noted func()
	log            *slog.Logger
}

// informer keeps one scope of one resource: its feeds list and watch it into
// one journal. There is one feed for all namespaces where that is allowed, and
// else one for each namespace that is.
type informer struct {
	*resourceJournal
	surroundings

	scope    wire.Scope    // Its namespace is empty.
	resource *Resource     // As discovery told of it last; it belongs to run.
	epoch    uint64        // Of this informer's offsets.
	kicked   chan struct{} // A sign that settle has something to do.
	expected atomic.Int64  // What feeds have reserved, in bytes.
	listings listings
	digests  digests
	bundles  bundles
	rankings rankings
	masks    *redact.Memory // Outlasts the feeds.
	began    time.Time
	readers  atomic.Int64
	resets   atomic.Int64 // Readers that had to begin anew.

	mu     sync.Mutex
	status Status            // Where no feed has one.
	feeds  map[string]*feed  // By namespace; "" is all.
	denied map[string]Status // Why what has no feed has none; "" is all.
	// unsettled says that some namespaces may be watched, for all that is known yet.
	unsettled bool
	asked     map[string]*asked // Namespaces that readers named.
	columns   []wire.Column
	version   int    // Rises with other columns, and where the past is not to be told any more: readers begin anew.
	origin    origin // Of the version.
	sight     sight
	past      record
}

// newInformer makes an informer that run starts.
func newInformer(scope wire.Scope, resource *Resource, around surroundings) *informer {
	around.log = around.log.With("resource", scope.Resource.GroupResource().String())
	i := &informer{
		surroundings: around, scope: scope, epoch: newEpoch(), resource: resource,
		masks: redact.NewMemory(), began: time.Now(), kicked: make(chan struct{}, 1), status: Status{State: Syncing, Since: time.Now()},
		feeds: make(map[string]*feed), denied: make(map[string]Status), asked: make(map[string]*asked),
		sight: newSight(), unsettled: true,
	}
	i.resourceJournal = journal.New[string, *wire.Object, memo](journal.Options[string, *wire.Object]{
		Same:      unchanged,
		Continues: sameThing,
		Size:      (*wire.Object).Size,
		Derived:   func(o *wire.Object) int { return 2 * o.RowSize() }, // In the view rows, and in the view table.
		MaxBytes:  around.ring.Bytes,
		MaxAge:    around.ring.Age,
	})
	return i
}

func newEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // Never fails (crypto/rand).
	return binary.BigEndian.Uint64(b[:])
}

// epochOf is the epoch of cursors that were issued at a version: other columns
// begin another.
func (i *informer) epochOf(version int) uint64 { return i.epoch + uint64(version) } //nolint:gosec // It never falls.

// kick has the informer settle soon.
func (i *informer) kick() {
	select {
	case i.kicked <- struct{}{}:
	default: // It has been kicked already.
	}
}

// present is what a reader must know beside the journal.
type present struct {
	status  Status
	synced  bool // What the journal holds of it is all there is.
	columns []wire.Column
	version int
	none    bool // There is nothing to be seen, and the status says why.
}

// stays reports whether what was read between the two may be told: otherwise its
// cells may be of other columns, or some of it was being taken out.
func (p *present) stays(later present) bool {
	return p.version == later.version && p.none == later.none && p.synced == later.synced && slices.Equal(p.status.Namespaces, later.status.Namespaces)
}

// present tells how well the namespaces are known; none are all.
func (i *informer) present(namespaces []string) present {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := present{columns: i.columns, version: i.version}
	now.status, now.synced = i.statusLocked(namespaces)
	now.none = !now.synced && (now.status.State.refused() || now.status.State == Failed)
	if now.columns == nil {
		for _, f := range i.feeds {
			now.columns = f.source.Columns() // Known before the first list is whole.
		}
	}
	return now
}

// statusLocked is what the feeds of the namespaces tell together. Namespaces that
// may not be listed, or never could be, are not covered, and no reason to hide
// the others.
func (i *informer) statusLocked(namespaces []string) (status Status, synced bool) {
	if f := i.feeds[""]; f != nil {
		return f.now.status, f.now.synced
	}
	all := len(namespaces) == 0
	if all {
		if i.denied[""].State == Failed { // All together would not fit.
			return i.denied[""], false
		}
		namespaces = i.triedLocked()
	}
	var known, failed sum
	var covered []string
	synced = true
	for _, ns := range namespaces {
		now := i.denied[ns]
		f := i.feeds[ns]
		if f != nil {
			now = f.now.status
		}
		switch now.State {
		case "":
			return i.status, false // Not yet settled.
		case Forbidden, Absent, Failed:
			if now.State == Failed && len(namespaces) > 1 {
				now.Reason = ns + ": " + now.Reason
			}
			failed.add(now)
		case Syncing, Live, Stale:
			known.add(now)
			synced = synced && f.now.synced
			covered = append(covered, ns)
		}
	}
	switch {
	case len(covered) > 0:
		status = known.status()
	case len(namespaces) > 0:
		return failed.status(), false
	case i.denied[""].State != "" && !i.unsettled:
		return i.denied[""], false
	default:
		return i.status, false
	}
	if all || len(covered) < len(namespaces) {
		status.Namespaces = covered
	}
	if failed.State == Failed && status.Reason == "" {
		status.Reason = "not known: " + failed.status().Reason
	}
	return status, synced
}

// triedLocked are the namespaces that may be listed, whether they fit or not.
func (i *informer) triedLocked() []string {
	namespaces := slices.Collect(maps.Keys(i.feeds))
	for ns, why := range i.denied {
		if why.State == Failed { // It would not fit.
			namespaces = append(namespaces, ns)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// wait returns when until holds, at the end of ctx, or after long enough.
func (i *informer) wait(ctx context.Context, long time.Duration, until func() bool) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	for cursor := i.Now(); !until(); {
		_, next, err := i.Next(ctx, cursor, 1)
		if errors.Is(err, journal.ErrGone) {
			next = i.Now()
		} else if err != nil {
			return
		}
		cursor = next
	}
}
