package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"glasshouse/internal/watch/wire"
)

const (
	// stall is how long a streaming list may make no progress.
	stall = 15 * time.Second
	// pollInterval is the time between two lists of a resource that cannot be watched.
	pollInterval = 30 * time.Second
	// columnsTimeout limits the request for the definition of the columns.
	columnsTimeout = 2 * time.Second
	// notWatchable is the first sentence of the reason why a resource is polled although it has a watch.
	notWatchable = "It can be listed, but not watched. "
)

// feed is one list and watch of an informer, of all namespaces or of one. client-go's Reflector reads it into the
// informer's journal. A Status reports how current the data is: it changes first, then the journal's readers are woken.
type feed struct {
	*informer

	namespace string // Empty for all namespaces.
	polled    string // Why the resource is polled; empty if it is watched.
	source    *wire.Source
	stop      context.CancelFunc
	stopped   chan struct{}
	heard     atomic.Int64 // When the last change arrived, in Unix nanoseconds.
	reserved  reservation

	now standing // Guarded by the informer's lock.
}

// prepareFeed initializes a feed without starting it. It returns run, which lists and watches until f.stop is called.
// status is the status of the feed until the API server has responded.
func (i *informer) prepareFeed(ctx context.Context, f *feed, status Status) (run func(), err error) {
	scope := i.scope
	scope.Namespace = f.namespace
	f.stopped, f.now.status = make(chan struct{}), status
	ctx, f.stop = context.WithCancel(ctx)
	source, err := i.client.Source(scope, wire.SourceOptions{
		Stall: stall, Stalled: f.stalled, Panicked: f.panicked, Observe: f.observe, Masks: i.masks,
		Going:  f.goesOn,
		Failed: func(err error) { f.streamFailed(ctx, err) },
	})
	if err != nil {
		f.stop()
		return nil, err
	}
	f.source = source
	return func() {
		defer close(f.stopped)
		f.run(ctx)
	}, nil
}

// exchange replaces ended feeds with prepared ones, and keeps the rows of the ended feeds. It does so in one step,
// under the lock. Otherwise readers could mistake a part of the rows for all of them, or see an error during the
// replacement. The prepared feeds have not started yet: all of them are registered before the first one has listed.
func (i *informer) exchange(ended map[*feed]bool, prepared map[*feed]func()) {
	i.mu.Lock()
	for f := range ended {
		f.now.settled()
		f.now.lastEvent = f.lastHeard()
		delete(i.feeds, f.namespace)
		i.past.add(&f.now.record)
	}
	for f := range prepared {
		i.feeds[f.namespace] = f
		delete(i.denied, f.namespace)
	}
	i.mu.Unlock()
	for f := range ended {
		f.arrived()
	}
}

// arrived releases the memory that the feed has reserved, because its objects are in the journal now, or will not
// arrive.
func (f *feed) arrived() {
	f.expected.Add(f.reserved.masks - f.reserved.bytes)
	f.reserved.bytes, f.reserved.masks = 0, 0
}

// run lists and watches, or polls if that is not possible, until ctx ends.
func (f *feed) run(ctx context.Context) {
	var awaiting sync.WaitGroup
	awaiting.Go(func() { f.await(ctx) })
	defer awaiting.Wait()
	for ctx.Err() == nil {
		if f.polled == "" {
			f.reflect(ctx)
		}
		f.poll(ctx)
	}
}

// reflect lists and watches by client-go's Reflector, until ctx ends or the API server refuses the watch.
func (f *feed) reflect(lasting context.Context) {
	ctx, giveUp := context.WithCancel(lasting)
	defer giveUp()
	logger := klog.Logger{}
	var listing sync.Mutex // Locked during a list: the Reflector may return before its list has ended.
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
				return &tracked{Interface: w, ended: func() { f.ended(lasting) }}, nil
			}
			if f.refusedToWatch() != "" {
				giveUp()
			}
			return nil, err
		},
	}
	reflector := cache.NewReflectorWithOptions(lister, nil, (*store)(f), cache.ReflectorOptions{
		Name: f.scope.Resource.String(), TypeDescription: f.scope.Resource.String(),
		Logger: &logger, Clock: endingClock{ctx: ctx},
		// Wait at most 15 s between two attempts (10 s plus jitter), instead of up to a minute as client-go does. Users
		// wait in front of stale data.
		Backoff: &wait.Backoff{
			Duration: 800 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 10 * time.Second,
		},
	})
	reflector.RunWithContext(klog.NewContext(ctx, logger))
	listing.Lock() // Wait for the last list. It would otherwise change the reservation of a feed that has ended.
	defer listing.Unlock()
}

// poll lists once a resource that cannot be watched now, and then waits for pollInterval. The status of such a resource
// is never Live.
func (f *feed) poll(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	reason := f.polled
	if refused := f.refusedToWatch(); refused != "" {
		reason = notWatchable + refused
	}
	if objects, err := f.listAll(ctx); err == nil {
		f.replace(objects, fmt.Sprintf("%s It is listed every %s.", reason, pollInterval))
	}
	f.refuse("")
	sleep(ctx, pollInterval)
}

// listAll reads all pages of a list, because some API servers send pages even if no limit was requested.
func (f *feed) listAll(ctx context.Context) (objects []*wire.Object, err error) {
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

func (f *feed) list(ctx context.Context, options metav1.ListOptions) (*wire.List, error) {
	if options.Continue == "" {
		f.restart(ctx)
	}
	if options.ResourceVersion == "0" && f.hasSeen() {
		// Require the newest version: an API server that lags behind may have older objects than those in memory.
		options.ResourceVersion = ""
	}
	list, err := f.source.List(ctx, options)
	if err != nil {
		f.fail(ctx, err)
		return nil, err
	}
	return list, nil
}

// hasSeen reports whether the informer has listed the feed's namespace before. If so, objects of the new list are, or
// were, in memory. For all namespaces, one listed namespace is enough.
func (f *feed) hasSeen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sight.seen[""] || f.sight.seen[f.namespace] || f.namespace == "" && len(f.sight.seen) > 0
}

func (f *feed) watch(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	if initial {
		if f.noStreams() {
			return nil, errors.New("streaming lists have failed before")
		}
		f.restart(ctx)
	} else if f.masked {
		// Read the columns before the watch, too: what they show determines what is masked, and the definition may have
		// changed.
		f.readColumns(ctx)
	}
	f.opens()
	stream, err := f.source.Watch(ctx, options)
	if !initial && (apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)) {
		f.refuse(reasonOf(err)) // The API server allowed the list, so continue with polling.
		return nil, err
	}
	if err != nil {
		// After a refused streaming list, client-go requests a plain list, whose error is more precise. Report this
		// error only if client-go will repeat the same request instead, or if this was no list.
		if !initial || utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err) {
			f.fail(ctx, err)
		}
		return nil, err
	}
	f.opened(initial)
	return stream, nil
}

// restart prepares the feed for a new list: it resets the progress and reads the columns.
func (f *feed) restart(ctx context.Context) {
	f.reserved.held = unweighed
	f.mu.Lock()
	f.now.listed = 0
	f.mu.Unlock()
	f.readColumns(ctx)
}

// readColumns reads the definition of the columns that the next list or watch sends.
func (f *feed) readColumns(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, columnsTimeout)
	defer cancel()
	columns := f.printed(ctx)
	f.source.SetDates(columns.dates)
	f.source.SetPaths(columns.paths)
}

// tracked is a watch that calls ended when it is stopped. The Reflector stops each watch once it has read it to its
// end.
type tracked struct {
	apiwatch.Interface

	once  sync.Once
	ended func()
}

func (t *tracked) Stop() {
	t.Interface.Stop()
	t.once.Do(t.ended)
}
