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

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/event"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/status"
)

type (
	resourceJournal = journal.Journal[string, *listwatch.Object, event.Memo]
	objectEntry     = journal.Entry[string, *listwatch.Object]
)

// definition is what discovery currently reports about a resource.
type definition struct {
	known    bool               // False if discovery failed, so that the other fields are unknown.
	resource *resource.Resource // The resource; nil if the cluster does not serve it.
	identity string             // UID of the CRD, or empty; it differs after the CRD is recreated.
}

// printerColumns describes the columns in the CustomResourceDefinition of a resource, by column name. Its maps are
// nil if the resource has no definition, or if the program is not permitted to read it.
type printerColumns struct {
	// dates contains the paths (see listwatch.SimplePath) to the times that columns of type date show. The API server
	// sends their cells as an age ("33h"), which becomes outdated. If no path is known, the time is computed from the
	// age.
	dates map[string]string
	// paths contains the JSONPaths of all columns. They show which cells can contain a masked value, so that these
	// cells are masked, too.
	paths map[string]string
}

// options are the settings of an informer, and what it needs of the cluster.
type options struct {
	client  *listwatch.Client
	reviews *authz.Reviewer
	pool    *pool
	ring    Ring
	// printerColumns reads what the CRD specifies about the resource's columns. It is called before each list, and also
	// before each watch if values of the resource are masked.
	printerColumns func(context.Context) printerColumns
	masked         bool
	served         func(context.Context) definition
	// refreshSoon requests a discovery, because the served resources have possibly changed. It must return at once.
	refreshSoon func()
	// namespaces returns the namespaces of the cluster as they were last known. They are watched until release is
	// called.
	namespaces func(ctx context.Context) (names []string, release func())
	// defaultNamespace is the namespace of the kubeconfig's context, or empty.
	defaultNamespace string
	// stateChanged is called when the informer's state has changed, and objectChanged is called when an object has
	// changed. Both must return at once.
	stateChanged, objectChanged func()
	log                         *slog.Logger
}

// An extension is data that readers derive from the journal of an informer and share. It lives as long as the informer.
type extension interface {
	// weight returns the memory of the extension in bytes. It counts towards the memory budget.
	weight() int64
}

// informer lists and watches one resource, or a part of it, and keeps the objects and their changes in one journal.
// It has one feed (a list and watch) for all namespaces if that is permitted, and otherwise one for each permitted
// namespace.
type informer struct {
	*resourceJournal

	options           options
	scope             listwatch.Scope    // What the informer watches; its namespace is empty.
	resource          *resource.Resource // As last reported by discovery. Used only by the goroutine of run.
	epoch             uint64             // Random number that identifies this informer in cursors; see epochOf.
	reconcileRequests chan struct{}
	reservedBytes     atomic.Int64 // Bytes that feeds have reserved for running lists.
	extension         extension
	masks             *redact.Memory // Data about masked values, which all feeds share; it stays when a feed ends.
	began             time.Time
	readers           atomic.Int64
	resets            atomic.Int64 // Number of readers that had to restart from a snapshot.

	mu     sync.Mutex
	status status.Status            // Status of a namespace that is not in feeds and not in denied.
	feeds  map[string]*feed         // The list and watch of each namespace; "" means all.
	denied map[string]status.Status // Why a namespace is not listed and watched; "" means all.
	// unreconciled is true until all namespaces that can be watched are known, and were checked against the memory
	// budget.
	unreconciled bool
	leases       map[string]*namespaceLease // Namespaces that readers requested by name.
	columns      []listwatch.Column
	// version increases when columns change, and when the history must not be sent any more. Readers then start from a
	// new snapshot.
	version    int
	epochStart epochStart
	coverage   coverage
	endedStats feedStats
}

// newInformer returns an informer. The caller must start run, which lists and watches.
func newInformer(scope listwatch.Scope, resource *resource.Resource, deps options) *informer {
	deps.log = deps.log.With("resource", scope.Resource.GroupResource().String())
	i := &informer{
		options: deps, scope: scope, epoch: newEpoch(), resource: resource,
		masks: redact.NewMemory(), began: time.Now(), reconcileRequests: make(chan struct{}, 1),
		status: status.Status{State: status.Syncing, Since: time.Now()},
		feeds:  make(map[string]*feed), denied: make(map[string]status.Status), leases: make(map[string]*namespaceLease),
		coverage: newCoverage(), unreconciled: true,
	}
	i.resourceJournal = journal.New[string, *listwatch.Object, event.Memo](journal.Options[string, *listwatch.Object]{
		Same:      unchanged,
		Continues: sameUID,
		Size:      (*listwatch.Object).Size,
		// Each object can have two encoded row texts: one for the rows view and one for the table view.
		Derived:  func(o *listwatch.Object) int { return 2 * o.RowSize() },
		MaxBytes: deps.ring.Bytes,
		MaxAge:   deps.ring.Age,
	})
	return i
}

func newEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand never returns an error.
	return binary.BigEndian.Uint64(b[:])
}

// epochOf returns the number that identifies a version of the informer's data in cursors. A cursor of another version
// is invalid.
func (i *informer) epochOf(version int) uint64 {
	return i.epoch + uint64(version) //nolint:gosec // A version is never negative.
}

func (i *informer) requestReconcile() {
	select {
	case i.reconcileRequests <- struct{}{}:
	default: // It is requested already.
	}
}

// informerState is the state of an informer at one time, for the namespaces that a reader requests.
type informerState struct {
	status    status.Status
	synced    bool // The journal contains all objects of the listed namespaces.
	columns   []listwatch.Column
	version   int
	hasNoRows bool // There are no rows to show; the status contains the reason.
}

// isUnchanged reports whether rows that were read between the states p and later can be sent. If the states differ,
// the cells can belong to other columns, or some rows were being removed.
func (p *informerState) isUnchanged(later informerState) bool {
	return p.version == later.version && p.hasNoRows == later.hasNoRows && p.synced == later.synced &&
		slices.Equal(p.status.Namespaces, later.status.Namespaces)
}

// currentState returns the state of the informer for the given namespaces; no namespaces means all.
func (i *informer) currentState(namespaces []string) informerState {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := informerState{columns: i.columns, version: i.version}
	now.status, now.synced = i.statusLocked(namespaces)
	now.hasNoRows = !now.synced && (now.status.State.IsRefused() || now.status.State == status.Failed)
	if now.columns == nil {
		for _, f := range i.feeds {
			now.columns = f.source.Columns() // The columns are known before the first list is complete.
		}
	}
	return now
}

// statusLocked merges the statuses of the given namespaces into one; no namespaces means all. It leaves out
// namespaces that cannot be listed, so that the rows of the others are still shown. synced reports whether the lists
// of all remaining namespaces are complete.
func (i *informer) statusLocked(namespaces []string) (current status.Status, synced bool) {
	if f := i.feeds[""]; f != nil {
		return f.state.status, f.state.synced
	}
	all := len(namespaces) == 0
	if all {
		if i.denied[""].State == status.Failed { // All namespaces together would not fit into the memory budget.
			return i.denied[""], false
		}
		namespaces = i.listableLocked()
	}
	var known, failed status.Merged
	var covered []string
	synced = true
	for _, ns := range namespaces {
		now := i.denied[ns]
		f := i.feeds[ns]
		if f != nil {
			now = f.state.status
		}
		switch now.State {
		case "":
			return i.status, false // The reconciler has not handled this namespace yet.
		case status.Forbidden, status.Absent, status.Failed:
			if now.State == status.Failed && len(namespaces) > 1 {
				now.Reason = ns + ": " + now.Reason
			}
			failed.Add(now)
		case status.Syncing, status.Live, status.Stale:
			known.Add(now)
			synced = synced && f.state.synced
			covered = append(covered, ns)
		}
	}
	switch {
	case len(covered) > 0:
		current = known.Result()
	case len(namespaces) > 0:
		return failed.Result(), false
	case i.denied[""].State != "" && !i.unreconciled:
		return i.denied[""], false
	default:
		return i.status, false
	}
	if all || len(covered) < len(namespaces) {
		current.Namespaces = covered
	}
	if failed.State == status.Failed && current.Reason == "" {
		current.Reason = "not available: " + failed.Result().Reason
	}
	return current, synced
}

// listableLocked returns the namespaces that the program is permitted to list: those that have a feed (a list and
// watch), and those that do not fit into memory.
func (i *informer) listableLocked() []string {
	namespaces := slices.Collect(maps.Keys(i.feeds))
	for ns, current := range i.denied {
		if current.State == status.Failed { // The namespace does not fit into memory.
			namespaces = append(namespaces, ns)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// wait blocks until the function until returns true, ctx ends, or timeout is over. It calls until at once, and after
// each change of the journal.
func (i *informer) wait(ctx context.Context, timeout time.Duration, until func() bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
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
