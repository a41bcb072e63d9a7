package watch

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"glasshouse/internal/watch/journal"
	"glasshouse/internal/watch/wire"
)

const (
	// stall is how long a streaming list may make no progress.
	stall = 30 * time.Second
	// grace is how long a watch may be away before the resource is called
	// stale: API servers end each watch after some minutes, and the next one
	// opens within milliseconds.
	grace = time.Second
	// pollInterval is between two lists of a resource that has no watch.
	pollInterval = 30 * time.Second
	// countInterval is between two tellings of how far a list has come.
	countInterval = 100 * time.Millisecond
	// ringBytes and ringAge bound the past that a resource keeps.
	ringBytes = 64 << 20
	ringAge   = 5 * time.Minute
)

type (
	resourceJournal = journal.Journal[string, *wire.Object, memo]
	objectEntry     = journal.Entry[string, *wire.Object]
	change          = journal.Change[string, *wire.Object, memo]
)

// informer keeps one scope of one resource: client-go's Reflector lists and
// watches it into a journal, and a Status says how well that goes. The Status
// changes first, then the journal's readers are nudged.
type informer struct {
	*resourceJournal

	client *wire.Client
	source *wire.Source // Made by run.
	scope  wire.Scope
	epoch  uint64 // Of this informer's offsets.
	polled bool
	dates  func(context.Context) map[string]string
	log    *slog.Logger

	mu        sync.Mutex
	status    Status
	columns   []wire.Column
	version   int // Of columns.
	synced    bool
	streaming bool // A watch is open.
	noStreams bool // A streaming list stalled: list the plain way from now on.
	listed    int
	told      time.Time // When listed was told last.
	pending   *time.Timer
}

// keyOf is the journal's key of an object.
func keyOf(namespace, name string) string { return namespace + "/" + name }

func sameThing(before, after *wire.Object) bool { return before.UID() == after.UID() }

// newInformer makes an informer that run starts; dates are asked for then.
func newInformer(client *wire.Client, scope wire.Scope, dates func(context.Context) map[string]string, polled bool, log *slog.Logger) *informer {
	i := &informer{
		client: client, scope: scope, epoch: newEpoch(), polled: polled, dates: dates,
		log:    log.With("resource", scope.Resource.GroupResource().String(), "namespace", scope.Namespace),
		status: Status{State: Syncing, Since: time.Now()},
	}
	i.resourceJournal = journal.New[string, *wire.Object, memo](journal.Options[string, *wire.Object]{
		Same: func(before, after *wire.Object) bool {
			return before.ResourceVersion() == after.ResourceVersion() && after.ResourceVersion() != ""
		},
		Continues: sameThing,
		Size:      (*wire.Object).Size,
		MaxBytes:  ringBytes,
		MaxAge:    ringAge,
	})
	return i
}

func newEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // Never fails (crypto/rand).
	return binary.BigEndian.Uint64(b[:])
}

// run lists and watches until ctx ends, then closes the journal.
func (i *informer) run(ctx context.Context) {
	defer i.Close()
	source, err := i.client.Source(i.scope, wire.SourceOptions{
		Dates: i.dates(ctx), Stall: stall, Stalled: i.stalled, Observe: i.observe,
	})
	if err != nil {
		i.fail(ctx, err)
		return
	}
	i.mu.Lock()
	i.source = source
	i.mu.Unlock()
	if i.polled {
		i.poll(ctx)
		return
	}
	logger := klog.Logger{}
	lister := &cache.ListWatch{ListWithContextFunc: i.list, WatchFuncWithContext: i.watch}
	reflector := cache.NewReflectorWithOptions(lister, nil, (*store)(i), cache.ReflectorOptions{
		Name: i.scope.Resource.String(), TypeDescription: i.scope.Resource.String(), Logger: &logger,
	})
	reflector.RunWithContext(klog.NewContext(ctx, logger))
}

// poll keeps a resource that cannot be watched; it is never Live.
func (i *informer) poll(ctx context.Context) {
	for {
		if list, err := i.list(ctx, metav1.ListOptions{}); err == nil {
			i.replace(list.(*wire.List).Items) //nolint:errcheck // What list returns.
			i.setStatus(Stale, time.Now(), fmt.Sprintf("This API cannot be watched: it is listed every %s.", pollInterval))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}

func (i *informer) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	i.restart()
	list, err := i.source.List(ctx, options)
	if err != nil {
		i.fail(ctx, err)
		return nil, err
	}
	return list, nil
}

func (i *informer) watch(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	if initial {
		if i.streamsStall() {
			return nil, errors.New("streaming lists stall here")
		}
		i.restart()
	}
	stream, err := i.source.Watch(ctx, options)
	if err != nil {
		// A streaming list that is refused is followed by a plain one, which
		// tells more; unless client-go tries the same again.
		if !initial || utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err) {
			i.fail(ctx, err)
		}
		return nil, err
	}
	i.opened(initial)
	return &tracked{Interface: stream, ended: func() { i.ended(ctx) }}, nil
}

// tracked tells when a watch has ended; the Reflector stops each one once it
// has read it to its end.
type tracked struct {
	apiwatch.Interface

	once  sync.Once
	ended func()
}

func (t *tracked) Stop() {
	t.Interface.Stop()
	t.once.Do(t.ended)
}

// observe takes note of the progress of a list.
func (i *informer) observe(objects int) {
	i.mu.Lock()
	i.listed = objects
	tell := time.Since(i.told) >= countInterval && i.status.State == Syncing
	if tell {
		i.told = time.Now()
		i.status.Count = &objects
	}
	i.mu.Unlock()
	if tell {
		i.Nudge()
	}
}

func (i *informer) restart() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.listed = 0
}

// stalled takes note that a streaming list came to nothing.
func (i *informer) stalled() {
	i.mu.Lock()
	i.noStreams = true
	i.mu.Unlock()
	i.log.Warn("the streaming list made no progress; from now on the resource is listed in one answer", "after", stall)
}

func (i *informer) streamsStall() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.noStreams
}

// opened says that a watch is open. One that begins with a list is live only
// when that has been read.
func (i *informer) opened(initial bool) {
	i.mu.Lock()
	i.streaming = true
	live := i.synced && !initial
	i.mu.Unlock()
	if live {
		i.setStatus(Live, time.Now(), "")
		return
	}
	i.Nudge()
}

// ended says that the watch is closed: live no more, unless the next one opens
// within grace.
func (i *informer) ended(ctx context.Context) {
	at := time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.streaming = false
	if i.status.State != Live || ctx.Err() != nil {
		return
	}
	i.pending = time.AfterFunc(grace, func() {
		i.mu.Lock()
		stale := !i.streaming && i.status.State == Live
		i.mu.Unlock()
		if stale {
			i.setStatus(Stale, at, "The watch ended and has not been opened again yet.")
		}
	})
}

// fail says that a list or the opening of a watch failed; it is tried again.
// Rows that may not be seen any more, or are no more, go.
func (i *informer) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	i.mu.Lock()
	state := stateOf(err, i.synced)
	since := i.status.Since
	if state != i.status.State {
		since = time.Now()
	}
	purge := i.synced && (state == Forbidden || state == Absent)
	i.mu.Unlock()
	i.setStatus(state, since, reasonOf(err)) // First: rows that may not be seen must not look like rows that were deleted.
	if purge {
		i.Replace(nil)
	}
}

func (i *informer) setStatus(state State, since time.Time, reason string) {
	i.mu.Lock()
	if i.status.State == state {
		since = i.status.Since
	}
	changed := i.status.State != state || i.status.Reason != reason
	i.status = Status{State: state, Since: since, Reason: reason}
	if i.pending != nil {
		i.pending.Stop()
		i.pending = nil
	}
	i.mu.Unlock()
	if changed {
		i.log.Info("resource state", "state", state, "reason", reason)
		i.Nudge()
	}
}

// replace makes the listed objects the state.
func (i *informer) replace(objects []*wire.Object) {
	entries := make([]objectEntry, len(objects))
	for n, o := range objects {
		entries[n] = objectEntry{Key: keyOf(o.Namespace(), o.Name()), Value: o}
	}
	slices.SortFunc(entries, func(a, b objectEntry) int { return compareKeys(a.Key, b.Key) })
	columns := i.source.Columns()
	i.mu.Lock()
	if len(columns) > 0 && (len(i.columns) == 0 || &columns[0] != &i.columns[0]) {
		// Cells of the old columns are still held: nobody may take them for the
		// new ones'.
		i.columns, i.synced = columns, false
		i.version++
	}
	i.mu.Unlock()
	i.Replace(entries)
	i.mu.Lock()
	i.synced = true
	live := i.streaming
	i.mu.Unlock()
	if live {
		i.setStatus(Live, time.Now(), "")
	}
	i.Nudge()
}

// present is what a reader must know beside the journal.
type present struct {
	status  Status
	synced  bool
	columns []wire.Column
	version int

	answered bool // The API server has let the first list begin, or refused it.
}

func (i *informer) present() present {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := present{
		status: i.status, synced: i.synced, columns: i.columns, version: i.version,
		answered: i.streaming || i.listed > 0 || i.status.State != Syncing,
	}
	if now.columns == nil && i.source != nil {
		now.columns = i.source.Columns() // Known before the first list is whole.
	}
	return now
}

// objects returns what the filter lets through, by namespace and name, with the
// cursor it belongs to, and what is present with it.
func (i *informer) objects(f *filter) ([]*wire.Object, journal.Cursor, present) {
	for {
		now := i.present()
		f.columns = now.columns
		entries, cursor := i.Snapshot()
		if now.status.State == Forbidden || now.status.State == Absent {
			entries = nil // They are about to go.
		}
		if now.version != i.present().version {
			continue // Cells and columns may not fit.
		}
		entries = slices.DeleteFunc(entries, func(e objectEntry) bool { return !f.match(e.Value) })
		slices.SortFunc(entries, func(a, b objectEntry) int { return compareKeys(a.Key, b.Key) })
		objects := make([]*wire.Object, len(entries))
		for n := range entries {
			objects[n] = entries[n].Value
		}
		return objects, cursor, now
	}
}

// wait returns when until holds, at the end of ctx, or after long enough.
func (i *informer) wait(ctx context.Context, long time.Duration, until func(present) bool) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	for cursor := i.Now(); !until(i.present()); {
		_, next, err := i.Next(ctx, cursor, 1)
		if errors.Is(err, journal.ErrGone) {
			next = i.Now()
		} else if err != nil {
			return
		}
		cursor = next
	}
}

// store is the informer as the Reflector's store: it takes notes, and nothing
// else.
type store informer

func (s *store) Add(obj any) error {
	o, ok := obj.(*wire.Object)
	if !ok {
		return fmt.Errorf("a %T where an Object should be", obj)
	}
	(*informer)(s).Set(keyOf(o.Namespace(), o.Name()), o)
	return nil
}

func (s *store) Update(obj any) error { return s.Add(obj) }

func (s *store) Delete(obj any) error {
	o, ok := obj.(*wire.Object)
	if !ok {
		return fmt.Errorf("a %T where an Object should be", obj)
	}
	(*informer)(s).Delete(keyOf(o.Namespace(), o.Name()))
	return nil
}

func (s *store) Replace(list []any, _ string) error {
	objects := make([]*wire.Object, len(list))
	for n, obj := range list {
		o, ok := obj.(*wire.Object)
		if !ok {
			return fmt.Errorf("a %T where an Object should be", obj)
		}
		objects[n] = o
	}
	(*informer)(s).replace(objects)
	return nil
}

func (s *store) Resync() error { return nil }
