package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"glasshouse/internal/watch/informer/budget"
	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"glasshouse/internal/watch/listwatch"
)

const (
	stallTimeout = 15 * time.Second
	// pollInterval is the time between two lists of a resource that cannot be watched.
	pollInterval = 30 * time.Second
	// columnsTimeout limits the request for the CRD that defines the columns.
	columnsTimeout = 2 * time.Second
	// NotWatchable is the first sentence of the reason why a resource is polled (listed repeatedly), although its API
	// supports watches.
	NotWatchable = "It can be listed, but not watched. "
)

// feed is one list and watch of an informer, for all namespaces or for one. client-go's Reflector stores the results
// in the informer's journal. The field state contains how current the data is. It is changed before readers are
// woken.
type feed struct {
	*Informer

	namespace    string
	pollReason   string
	source       *listwatch.Source
	stop         context.CancelFunc
	stopped      chan struct{}
	lastChangeAt atomic.Int64
	reserved     *budget.Reservation

	state feedState
}

// prepareFeed initializes a feed without starting it. The returned function run lists and watches until f.stop is
// called. status is the status of the feed until the API server has responded.
func (i *Informer) prepareFeed(ctx context.Context, f *feed, status status.Status) (run func(), err error) {
	scope := i.Scope
	scope.Namespace = f.namespace
	f.stopped, f.state.status = make(chan struct{}), status
	ctx, f.stop = context.WithCancel(ctx)
	source, err := i.options.Client.Source(scope, listwatch.SourceOptions{
		Stall: stallTimeout, Stalled: f.recordStall, Panicked: f.logPanic, Observe: f.observe, Masks: i.masks,
		Established: f.recordContinued,
		Failed:      func(err error) { f.recordStreamFailure(ctx, err) },
	})
	if err != nil {
		f.stop()
		return nil, err
	}
	f.source = source
	f.reserved.Masks, f.reserved.Replaceable = source.DigestBytes, f.replaceableBytes
	return func() {
		defer close(f.stopped)
		f.run(ctx)
	}, nil
}

func (f *feed) run(ctx context.Context) {
	var counting sync.WaitGroup
	counting.Go(func() { f.requestTotal(ctx) })
	defer counting.Wait()
	for ctx.Err() == nil {
		if f.pollReason == "" {
			f.reflect(ctx)
		}
		f.poll(ctx)
	}
}

// reflect runs client-go's Reflector, which lists and watches, until the context ends or the API server refuses the
// watch.
func (f *feed) reflect(feedCtx context.Context) {
	ctx, stopReflector := context.WithCancel(feedCtx)
	defer stopReflector()
	logger := klog.Logger{}
	var listing sync.Mutex // Locked during a list, because the Reflector can return before its list has ended.
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			listing.Lock()
			defer listing.Unlock()
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return f.list(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			w, err := f.watch(ctx, options)
			if err == nil {
				return &trackedWatch{Interface: w, ended: func() { f.recordEnded(feedCtx) }}, nil
			}
			if f.watchRefusal() != "" {
				stopReflector()
			}
			return nil, err
		},
	}
	reflector := cache.NewReflectorWithOptions(lister, nil, (*store)(f), cache.ReflectorOptions{
		Name: f.Scope.Resource.String(), TypeDescription: f.Scope.Resource.String(),
		Logger: &logger, Clock: contextClock{ctx: ctx},
		// Wait at most 15 s between two attempts (10 s plus jitter). client-go would wait for up to a minute, in which
		// users see stale data.
		Backoff: &wait.Backoff{
			Duration: 800 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 10 * time.Second,
		},
	})
	reflector.RunWithContext(klog.NewContext(ctx, logger))
	listing.Lock() // Wait for the end of the last list: it must not change the reservation later.
	defer listing.Unlock()
}

// poll lists the resource once, because it cannot be watched now, and then waits for pollInterval. The status of a
// polled resource is never Live.
func (f *feed) poll(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	reason := f.pollReason
	if refusal := f.watchRefusal(); refusal != "" {
		reason = NotWatchable + refusal
	}
	if objects, err := f.listAll(ctx); err == nil {
		f.replace(objects, fmt.Sprintf("%s The resource is listed every %s.", reason, pollInterval))
	}
	f.recordRefusal("")
	signal.Sleep(ctx, pollInterval)
}

// listAll reads all pages of a list. Some API servers send pages even if no limit was requested.
func (f *feed) listAll(ctx context.Context) (objects []*listwatch.Object, err error) {
	for options := (metav1.ListOptions{}); ; {
		list, err := f.list(ctx, options)
		if err != nil {
			return nil, err
		}
		objects = append(objects, list.Items...)
		if options.Continue = list.Continue; options.Continue == "" {
			return objects, nil
		}
	}
}

func (f *feed) list(ctx context.Context, options metav1.ListOptions) (*listwatch.List, error) {
	if options.Continue == "" {
		f.prepareList(ctx)
	}
	if options.ResourceVersion == "0" && f.hasListed() {
		// Request the newest version, because the cache of an API server can be older than the objects in memory.
		options.ResourceVersion = ""
	}
	list, err := f.source.List(ctx, options)
	if err != nil {
		f.recordFailure(ctx, err)
		return nil, err
	}
	return list, nil
}

// hasListed reports whether the informer has listed the feed's namespace before, so that its objects can be in
// memory. If the feed is for all namespaces, one listed namespace is enough.
func (f *feed) hasListed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.coverage.covered[""] || f.coverage.covered[f.namespace] || f.namespace == "" && len(f.coverage.covered) > 0
}

func (f *feed) watch(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	if initial {
		if f.usesPlainLists() {
			return nil, errors.New("streaming lists have failed before")
		}
		f.prepareList(ctx)
	} else if f.options.Masked {
		// Read the columns before a watch, too: they determine which values are masked, and the CRD can have changed.
		f.readColumns(ctx)
	}
	f.recordOpening()
	stream, err := f.source.Watch(ctx, options)
	if !initial && (apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)) {
		f.recordRefusal(status.ReasonOf(err))
		return nil, err
	}
	if err != nil {
		// Always report the error of a watch. If a streaming list fails, client-go usually requests a plain list,
		// whose error is more precise. Report the error of the streaming list only if client-go will retry the
		// streaming list instead.
		if !initial || utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err) {
			f.recordFailure(ctx, err)
		}
		return nil, err
	}
	f.recordOpened(initial)
	return stream, nil
}

func (f *feed) prepareList(ctx context.Context) {
	f.reserved.Begin()
	f.mu.Lock()
	f.state.listedCount = 0
	f.mu.Unlock()
	f.readColumns(ctx)
}

func (f *feed) readColumns(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, columnsTimeout)
	defer cancel()
	columns := f.options.PrinterColumns(ctx)
	f.source.SetDates(columns.Dates)
	f.source.SetPaths(columns.Paths)
}

func (f *feed) replaceableBytes() int64 {
	if f.namespace == "" {
		state, _ := f.Weight()
		return int64(state)
	}
	return int64(f.WeightIn(f.covers))
}

// measure counts a part of a list that has arrived. It cancels the list if it does not fit into memory.
func (f *feed) measure(objects int, bytes int64) {
	refusal := f.reserved.Measure(objects, bytes)
	if refusal == "" {
		return
	}
	f.mu.Lock()
	f.state.markStopping(time.Now())
	f.state.oversizedReason = refusal
	f.mu.Unlock()
	f.stop()
	f.RequestReconcile()
}

// trackedWatch is a watch that calls the function ended when it is stopped. The Reflector stops every watch after its
// last event.
type trackedWatch struct {
	apiwatch.Interface

	once  sync.Once
	ended func()
}

func (t *trackedWatch) Stop() {
	t.Interface.Stop()
	t.once.Do(t.ended)
}
