// Package informer keeps the objects of resources in memory, and up to date. An Informer lists and watches one
// resource, or a part of it, in all namespaces together or in each permitted namespace. It stores objects and changes
// in a journal.
//
// All functions are safe for concurrent use, except those of Feeds, which only a reconciler calls. All goroutines have
// ended when Feeds.Wait returns.
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

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/lease"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/overdue"
	"github.com/glasshouse-project/glasshouse/internal/watch/journal"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type (
	resourceJournal = journal.Journal[string, *compact.Object, event.Memo]
	// Entry is an object in the journal, with its key (see the function Key).
	Entry = journal.Entry[string, *compact.Object]
)

// Options are the settings of an informer, and the functions with which it reads other data of the cluster.
type Options struct {
	Client *listwatch.Client
	Budget *budget.Budget
	Ring   Ring
	// PrinterColumns reads the columns from the CRD of the resource. It is called before each list. If the field Masked
	// is set, it is also called before each watch.
	PrinterColumns func(context.Context) printer.CRDColumns
	Masked         bool
	// Inherited returns the verdict that the object with a journal key inherits from other objects, or nil.
	Inherited func(key string) *verdict.Verdict
	// StateChanged is called after the state has changed. ObjectChanged is called after an object has changed. Neither
	// may block.
	StateChanged, ObjectChanged func()
	Log                         *slog.Logger
}

// An Extension is data that readers compute from the journal, and share until the informer ends.
type Extension interface {
	// Weight returns the memory of the extension in bytes. The memory counts toward the budget.
	Weight() int64
}

// Owner is the user or share link whose quota is charged for informers and rankings. The zero Owner has no quota.
type Owner struct {
	// Hash is zero for the program itself, and for a caller without a login.
	Hash    authz.UserHash
	IsGuest bool
}

// Informer lists and watches one resource, or a part of it, and stores objects and changes in a journal.
type Informer struct {
	*resourceJournal

	options           Options
	Scope             listwatch.Scope // What the informer watches. Its Namespace is empty, because each feed has its own.
	epoch             uint64
	reconcileRequests chan struct{}
	Account           *budget.Account // The memory of the informer.
	Extension         Extension
	masks             *redact.Memory // Data about masked values, shared by all feeds.
	overdue           *overdue.Tracker
	Began             time.Time
	Readers           atomic.Int64
	Resets            atomic.Int64 // Number of times that a reader had to restart from a snapshot.

	mu     sync.Mutex
	Status status.Status // The status of each namespace that is in neither of the maps feeds and denied.
	// feeds contains either one feed for all namespaces, with the key "", or one feed for each permitted namespace.
	feeds  map[string]*feed
	denied map[string]status.Status
	// unreconciled is true until all namespaces that can be watched are known, and their memory has been estimated.
	unreconciled bool
	leases       lease.Set
	columns      []printer.Column
	// If columns change, or the history must not be sent any more, version increases, and all readers restart.
	version    int
	epochStart EpochStart
	coverage   coverage
	endedStats feedStats
}

// Close ends the informer. Readers that wait for changes get journal.ErrClosed.
func (i *Informer) Close() {
	i.overdue.Close()
	i.resourceJournal.Close()
}

// New returns an informer that does not list or watch anything yet. A reconciler starts its feeds (lists and watches).
func New(scope listwatch.Scope, deps Options) *Informer {
	deps.Log = deps.Log.With("resource", scope.Resource.GroupResource().String())
	i := &Informer{
		options: deps, Scope: scope, epoch: newEpoch(),
		masks: redact.NewMemory(), Began: time.Now(), reconcileRequests: make(chan struct{}, 1),
		Status: status.Status{State: status.Syncing, Since: time.Now()},
		feeds:  make(map[string]*feed), denied: make(map[string]status.Status), leases: make(lease.Set),
		coverage: newCoverage(), unreconciled: true,
	}
	i.overdue = overdue.New(func(key string, now time.Time) { reevaluate(i, key, now) })
	i.resourceJournal = journal.New[string, *compact.Object, event.Memo](journal.Options[string, *compact.Object]{
		Same:      unchanged,
		Continues: (*compact.Object).SameUID,
		Size:      (*compact.Object).Size,
		// Readers can store two events per change, each about as large as a row: one for each of the views rows and table.
		Derived:  func(o *compact.Object) int { return 2 * o.RowSize() },
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

// EpochOf returns the epoch that cursors contain for a version of the state of the informer. Each version has its own
// epoch. A cursor is invalid in any other epoch.
func (i *Informer) EpochOf(version int) uint64 {
	return i.epoch + uint64(version) //nolint:gosec // A version is never negative.
}

// RequestReconcile makes the reconciler of the informer check permissions, memory and feeds soon.
func (i *Informer) RequestReconcile() {
	select {
	case i.reconcileRequests <- struct{}{}:
	default: // It is requested already.
	}
}

// State is the state of an informer at one moment, for the namespaces that a reader requests.
type State struct {
	Status    status.Status
	Synced    bool // The journal contains all objects of the namespaces that can be listed.
	Columns   []printer.Column
	Version   int
	HasNoRows bool // No rows can be shown. The field Status contains the reason.
}

// IsUnchanged reports whether rows that were read between two states can be sent. s is the state before the read, and
// laterState is the state after it.
func (s *State) IsUnchanged(laterState State) bool {
	// If one of these fields has changed, cells can belong to previous columns, or rows were removed during the read.
	return s.Version == laterState.Version && s.HasNoRows == laterState.HasNoRows && s.Synced == laterState.Synced &&
		slices.Equal(s.Status.Namespaces, laterState.Status.Namespaces)
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

// statusLocked returns State.Status and State.Synced for namespaces, or for all if empty. The caller must lock i.mu.
func (i *Informer) statusLocked(namespaces []string) (current status.Status, synced bool) {
	if f := i.feeds[""]; f != nil {
		return f.state.status, f.state.synced
	}
	all := len(namespaces) == 0
	if all {
		if i.denied[""].State == status.Failed { // All namespaces together do not fit into the memory budget.
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
			// Do not return here, so that the rows of other namespaces are still shown. Name the namespace in the reason
			// if its objects do not fit into the memory budget.
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

// listableLocked returns the namespaces that the program may list, even if they do not fit into the budget.
func (i *Informer) listableLocked() []string {
	namespaces := slices.Collect(maps.Keys(i.feeds))
	for ns, current := range i.denied {
		if current.State == status.Failed { // The namespace does not fit into the memory budget.
			namespaces = append(namespaces, ns)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// AcquireLeases requests that the given namespaces are watched. The caller must call release exactly once. After
// release, the request stays in effect for the linger time. isNamed reports whether the client named the namespaces.
func (i *Informer) AcquireLeases(namespaces []string, isNamed bool) (release func(), err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	isNew := i.leases.Missing(namespaces) > 0
	if current, isDenied := i.denied[""]; isDenied && isNew && !i.leases.MakeRoom(namespaces) {
		// A list across all namespaces is forbidden, so the informer already watches each known namespace. Therefore, a
		// client that named no namespaces needs no lease.
		if !isNamed && current.State == status.Forbidden {
			return func() {}, nil
		}
		return nil, status.Invalidf("Too many namespaces",
			"%d namespaces of this resource are watched one by one, which is the maximum; "+
				"request fewer namespaces with ns.", lease.Max)
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

// Wait blocks until condition returns true, ctx ends, or timeout has passed. It checks condition after each change.
func (i *Informer) Wait(ctx context.Context, timeout time.Duration, condition func() bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for cursor := i.Now(); !condition(); {
		_, next, err := i.Next(ctx, cursor, 1)
		if errors.Is(err, journal.ErrGone) {
			next = i.Now()
		} else if err != nil {
			return
		}
		cursor = next
	}
}
