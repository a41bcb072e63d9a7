// Package informer keeps resources live in memory. An Informer lists and watches one resource, or a part of it, and
// stores the objects and their changes in a journal.
//
// An Informer watches only what the program is permitted to watch: all namespaces, or each permitted namespace. Its
// State describes how current the data is. All functions are safe for concurrent use, except those of Feeds, with
// which a reconciler starts and stops the lists and watches. All goroutines have ended when Feeds.Wait returns.
package informer

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
	"glasshouse/internal/watch/informer/budget"
	"glasshouse/internal/watch/informer/lease"
	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/redact"
	"glasshouse/internal/watch/status"
)

type (
	resourceJournal = journal.Journal[string, *listwatch.Object, event.Memo]
	// Entry is an object in the journal, with its Key.
	Entry = journal.Entry[string, *listwatch.Object]
)

// Options are the settings of an informer, and the functions with which it reads other data of the cluster.
type Options struct {
	Client *listwatch.Client
	Budget *budget.Budget
	Ring   Ring
	// PrinterColumns reads what the CRD specifies about the resource's columns. It is called before each list. If
	// values of the resource are masked, it is also called before each watch.
	PrinterColumns func(context.Context) listwatch.PrinterColumns
	Masked         bool
	// StateChanged is called when the informer's state has changed, and ObjectChanged is called when an object has
	// changed. Both must not block.
	StateChanged, ObjectChanged func()
	Log                         *slog.Logger
}

// An Extension is data that readers derive from the journal of an informer and share. It lives as long as the informer.
type Extension interface {
	// Weight returns the memory of the extension in bytes. It counts towards the memory budget.
	Weight() int64
}

// Owner is the user or the share link whose quota includes an informer or a ranking (a sorted list of rows). Hash
// identifies the user or the link. The zero Owner is the program itself, or a caller without a login. It has no
// quota.
type Owner struct {
	Hash    authz.UserHash
	IsGuest bool
}

// Informer lists and watches one resource, or a part of it, and keeps the objects and their changes in one journal.
// It has one feed (a list and watch) for all namespaces if that is permitted, and otherwise one for each permitted
// namespace.
type Informer struct {
	*resourceJournal

	options           Options
	Scope             listwatch.Scope // What the informer watches; its namespace is empty.
	epoch             uint64
	reconcileRequests chan struct{}
	Account           *budget.Account // The memory of the informer.
	Extension         Extension
	masks             *redact.Memory // Data about masked values, shared by all lists and watches, and kept when one ends.
	Began             time.Time
	Readers           atomic.Int64
	Resets            atomic.Int64 // Number of times that a reader had to restart from a snapshot.

	mu     sync.Mutex
	Status status.Status // Status of each namespace that is neither in feeds nor in denied.
	feeds  map[string]*feed
	denied map[string]status.Status
	// unreconciled is true until all namespaces that can be watched are known, and were checked against the memory
	// budget.
	unreconciled bool
	leases       lease.Set
	columns      []listwatch.Column
	// version increases when the columns change, and when the history must not be sent any more. Readers then restart
	// from a new snapshot.
	version    int
	epochStart EpochStart
	coverage   coverage
	endedStats feedStats
}

// New returns an informer that does not list or watch anything yet. A reconciler starts its feeds.
func New(scope listwatch.Scope, deps Options) *Informer {
	deps.Log = deps.Log.With("resource", scope.Resource.GroupResource().String())
	i := &Informer{
		options: deps, Scope: scope, epoch: newEpoch(),
		masks: redact.NewMemory(), Began: time.Now(), reconcileRequests: make(chan struct{}, 1),
		Status: status.Status{State: status.Syncing, Since: time.Now()},
		feeds:  make(map[string]*feed), denied: make(map[string]status.Status), leases: make(lease.Set),
		coverage: newCoverage(), unreconciled: true,
	}
	i.resourceJournal = journal.New[string, *listwatch.Object, event.Memo](journal.Options[string, *listwatch.Object]{
		Same:      unchanged,
		Continues: (*listwatch.Object).SameUID,
		Size:      (*listwatch.Object).Size,
		// Each object can have two encoded row texts: one for the rows view and one for the table view.
		Derived:  func(o *listwatch.Object) int { return 2 * o.RowSize() },
		MaxBytes: deps.Ring.Bytes,
		MaxAge:   deps.Ring.Age,
	})
	i.Account = deps.Budget.NewAccount(budget.Usage{
		Objects: func() int64 {
			state, _ := i.Weight()
			return int64(state) + i.masks.Weight() + i.Extension.Weight()
		},
		History: func() int64 {
			_, ring := i.Weight()
			return int64(ring)
		},
		DropHistory: i.Forget,
		Log:         deps.Log,
	})
	return i
}

func newEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

// EpochOf returns the number that identifies an epoch (a part of the changes that can be sent) in cursors. The
// parameter version increases when earlier changes must not be sent any more. A cursor of another epoch is invalid.
func (i *Informer) EpochOf(version int) uint64 {
	return i.epoch + uint64(version) //nolint:gosec // A version is never negative.
}

// RequestReconcile makes the informer review its permissions soon.
func (i *Informer) RequestReconcile() {
	select {
	case i.reconcileRequests <- struct{}{}:
	default: // It is requested already.
	}
}

// State is the state of an informer at one time, for the namespaces that a reader requests.
type State struct {
	Status    status.Status
	Synced    bool // All objects of the listed namespaces are in the journal.
	Columns   []listwatch.Column
	Version   int
	HasNoRows bool // No rows can be shown. The status contains the reason.
}

// IsUnchanged reports whether rows can be sent: it compares the state before they were read, which is p, with the
// state after that, which is later. If the states differ, the cells can belong to other columns, or some rows were
// being removed.
func (p *State) IsUnchanged(later State) bool {
	return p.Version == later.Version && p.HasNoRows == later.HasNoRows && p.Synced == later.Synced &&
		slices.Equal(p.Status.Namespaces, later.Status.Namespaces)
}

// CurrentState returns the state of the informer for the given namespaces. An empty list means all namespaces.
func (i *Informer) CurrentState(namespaces []string) State {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := State{Columns: i.columns, Version: i.version}
	now.Status, now.Synced = i.statusLocked(namespaces)
	now.HasNoRows = !now.Synced && (now.Status.State.IsRefused() || now.Status.State == status.Failed)
	if now.Columns == nil {
		for _, f := range i.feeds {
			now.Columns = f.source.Columns()
		}
	}
	return now
}

// statusLocked merges the statuses of the given namespaces into one. An empty list means all namespaces. It leaves
// out namespaces that cannot be listed, so that the rows of the others are still shown. synced reports whether the
// lists of all these others are complete. The caller must have locked i.mu.
func (i *Informer) statusLocked(namespaces []string) (current status.Status, synced bool) {
	if f := i.feeds[""]; f != nil {
		return f.state.status, f.state.synced
	}
	all := len(namespaces) == 0
	if all {
		if i.denied[""].State == status.Failed { // The watch of all namespaces together does not fit into the memory budget.
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
			return i.Status, false
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
		return i.Status, false
	}
	if all || len(covered) < len(namespaces) {
		current.Namespaces = covered
	}
	if failed.State == status.Failed && current.Reason == "" {
		current.Reason = "not available: " + failed.Result().Reason
	}
	return current, synced
}

// listableLocked returns the namespaces that the program is permitted to list. Each has a feed (a list and watch), or
// does not fit into memory.
func (i *Informer) listableLocked() []string {
	namespaces := slices.Collect(maps.Keys(i.feeds))
	for ns, current := range i.denied {
		if current.State == status.Failed { // The namespace does not fit into memory.
			namespaces = append(namespaces, ns)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// AcquireLeases requests that the given namespaces are watched: one by one if all namespaces cannot be watched
// together. The caller must call release exactly once. After that, the namespaces stay watched for the linger time.
//
// isNamed means that the client named the namespaces. Otherwise, they are the known namespaces of the cluster. If
// watching all namespaces together is forbidden, known namespaces are watched anyway and need no lease.
func (i *Informer) AcquireLeases(namespaces []string, isNamed bool) (release func(), err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	isNew := i.leases.Missing(namespaces) > 0
	if current, isDenied := i.denied[""]; isDenied && isNew && !i.leases.MakeRoom(namespaces) {
		if !isNamed && current.State == status.Forbidden {
			return func() {}, nil
		}
		return nil, status.Invalidf("Too many namespaces",
			"%d namespaces of %s are in use, and no more can be watched one by one; "+
				"request fewer of them with ns.", lease.Max, i.Scope.Resource.GroupResource())
	}
	i.leases.Acquire(namespaces)
	if isNew {
		i.RequestReconcile()
	}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if len(i.leases) > lease.Max {
			i.RequestReconcile()
		}
		i.leases.Release(namespaces, i.feeds[""] == nil)
	}, nil
}

// Wait blocks until one of three things happens: the function until returns true, ctx ends, or the time in timeout
// has passed. It calls the function at the start, and after each change of the journal.
func (i *Informer) Wait(ctx context.Context, timeout time.Duration, until func() bool) {
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
