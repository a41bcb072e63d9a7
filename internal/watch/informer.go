package watch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
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
	version   int    // Rises with other columns, and after a purge: readers begin anew.
	origin    origin // Of the version.
	synced    bool
	purged    bool   // The rows went because they may not be seen, or are no more.
	open      bool   // A watch is open,
	listing   bool   // but has not sent all of its list yet.
	refused   string // Why the watch was refused, where the list was not.
	noStreams bool   // A streaming list stalled: list the plain way from now on.
	listed    int
	told      time.Time // When listed was told last.
	pending   *time.Timer
}

// newInformer makes an informer that run starts; dates are asked for before each
// list.
func newInformer(client *wire.Client, scope wire.Scope, dates func(context.Context) map[string]string, polled bool, log *slog.Logger) *informer {
	i := &informer{
		client: client, scope: scope, epoch: newEpoch(), polled: polled, dates: dates,
		log:    log.With("resource", scope.Resource.GroupResource().String(), "namespace", scope.Namespace),
		status: Status{State: Syncing, Since: time.Now()},
	}
	i.resourceJournal = journal.New[string, *wire.Object, memo](journal.Options[string, *wire.Object]{
		Same: func(before, after *wire.Object) bool {
			return before.ResourceVersion() == after.ResourceVersion() && after.ResourceVersion() != "" &&
				bytes.Equal(before.Cells(), after.Cells()) // A CRD may print other cells of the same object.
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
		Stall: stall, Stalled: i.stalled, Panicked: i.panicked, Observe: i.observe,
	})
	if err != nil {
		i.fail(ctx, err)
		return
	}
	i.mu.Lock()
	i.source = source
	i.mu.Unlock()
	for ctx.Err() == nil {
		if !i.polled {
			i.reflect(ctx)
		}
		i.poll(ctx)
	}
}

// reflect lists and watches until ctx ends, or the API server refuses to let
// the resource be watched.
func (i *informer) reflect(ctx context.Context) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	logger := klog.Logger{}
	lister := &cache.ListWatch{
		ListWithContextFunc: i.list,
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			w, err := i.watch(ctx, options)
			if i.refusedToWatch() != "" {
				giveUp()
			}
			return w, err
		},
	}
	reflector := cache.NewReflectorWithOptions(lister, nil, (*store)(i), cache.ReflectorOptions{
		Name: i.scope.Resource.String(), TypeDescription: i.scope.Resource.String(), Logger: &logger,
	})
	reflector.RunWithContext(klog.NewContext(ctx, logger))
}

// poll lists a resource that cannot be watched now, and waits; such a one is
// never Live.
func (i *informer) poll(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	reason := fmt.Sprintf("This API cannot be watched: it is listed every %s.", pollInterval)
	if refused := i.refusedToWatch(); refused != "" {
		reason = fmt.Sprintf("It may be listed, but not watched: it is listed every %s. %s", pollInterval, refused)
	}
	if list, err := i.list(ctx, metav1.ListOptions{}); err == nil {
		i.replace(list.(*wire.List).Items) //nolint:errcheck // What list returns.
		i.setStatus(Stale, time.Now(), reason)
	}
	i.refuse("")
	select {
	case <-ctx.Done():
	case <-time.After(pollInterval):
	}
}

func (i *informer) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.Continue == "" {
		i.restart(ctx)
	}
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
		i.restart(ctx)
	}
	stream, err := i.source.Watch(ctx, options)
	if !initial && (apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)) {
		i.refuse(reasonOf(err)) // The list was not: it goes on with lists.
		return nil, err
	}
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
