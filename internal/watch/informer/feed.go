package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/budget"
	"github.com/glasshouse-project/glasshouse/internal/watch/informer/reflector"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

const (
	stallTimeout = 15 * time.Second
	// pollInterval is the time between two lists of a resource that is listed repeatedly, because it cannot be watched.
	pollInterval = 30 * time.Second
	// columnsTimeout is the maximum duration of the request for the CRD, which defines the columns of a custom resource.
	columnsTimeout = 2 * time.Second
	// NotWatchable is the first sentence of the reason why a resource is polled (listed repeatedly). It is used if the
	// API supports watches, but the program is not permitted to watch.
	NotWatchable = "The resource can be listed, but not watched. "
)

// feed lists and watches the objects in one namespace, or in all (""), and stores them in the informer's journal.
type feed struct {
	informer     *Informer
	namespace    string
	pollReason   string
	source       *listwatch.Source
	stop         context.CancelFunc
	stopped      chan struct{}
	lastChangeAt atomic.Int64
	reserved     *budget.Reservation

	// Change the state before waking readers, so that they read the new state.
	state feedState
}

// prepare initializes a feed without starting it. run lists and watches until f.stop is called.
func (f *feed) prepare(ctx context.Context) (run func(), err error) {
	scope := f.informer.Scope
	scope.Namespace = f.namespace
	ctx, f.stop = context.WithCancel(ctx)
	f.source, err = f.informer.options.Client.Source(scope, listwatch.SourceOptions{
		Stall: stallTimeout, Stalled: f.recordStall, Observe: f.observe, Masks: f.informer.masks,
		Panicked: func(v any, stack []byte) {
			f.informer.options.Log.Error("panic while decoding a response of the API server", "panic", v, "stack", string(stack))
		},
		Established: func() { f.update((*feedState).continued) },
		Failed:      func(err error) { f.recordStreamFailure(ctx, err) },
	})
	if err != nil {
		f.stop()
		return nil, err
	}
	f.reserved.Masks, f.reserved.Replaceable = f.source.DigestBytes, f.replaceableBytes
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
			(&reflector.Reflector{
				Name: f.informer.Scope.Resource.String(), Store: f, List: f.list, Watch: f.watch,
				IsRefused: func() bool { return f.current().watchRefusal != "" },
				Ended:     func() { f.recordEnded(ctx) },
			}).Run(ctx)
		}
		f.poll(ctx)
	}
}

// poll lists a resource that cannot be watched, and then waits for pollInterval. The status of the feed is never Live.
func (f *feed) poll(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	reason := f.pollReason
	if refusal := f.current().watchRefusal; refusal != "" {
		reason = NotWatchable + refusal
	}
	if objects, err := f.listAll(ctx); err == nil {
		f.replace(objects, fmt.Sprintf("%s The resource is listed every %s.", reason, pollInterval))
	}
	f.update(func(s *feedState) bool { s.watchRefusal = ""; return false })
	signal.Sleep(ctx, pollInterval)
}

// listAll requests all pages of a list. Some API servers return pages even if the request has no limit.
func (f *feed) listAll(ctx context.Context) (objects []*compact.Object, err error) {
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
		f.reserved.Begin()
		f.readColumns(ctx)
	}
	f.informer.mu.Lock()
	hasListed := f.informer.coverage.hasListed(f.namespace)
	f.informer.mu.Unlock()
	if options.ResourceVersion == "0" && hasListed {
		// Request the newest version. For the version "0", the API server could return objects from its cache that are
		// older than those in memory.
		options.ResourceVersion = ""
	}
	list, err := f.source.List(ctx, options)
	if err != nil {
		f.recordFailure(ctx, err)
		return nil, err
	}
	return list, nil
}

func (f *feed) watch(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	startsWithList := options.SendInitialEvents != nil && *options.SendInitialEvents
	if startsWithList {
		if now := f.current(); now.stalled || now.usePlainOnce {
			return nil, errors.New("streaming lists have failed before")
		}
		f.reserved.Begin()
	}
	if startsWithList || f.informer.options.Masked {
		// The columns determine which cells are masked. Read them before each list. If the resource can have masked values,
		// also read them before each watch, because the CRD can have changed.
		f.readColumns(ctx)
	}
	f.update(func(s *feedState) bool { s.continues = false; return false })
	stream, err := f.source.Watch(ctx, options)
	if !startsWithList && (apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)) {
		f.update(func(s *feedState) bool { s.watchRefusal = status.ReasonOf(err); return false })
		return nil, err
	}
	if err != nil {
		// After most errors of a streaming list, client-go requests a plain list, whose error is more precise. After
		// the two errors below, client-go requests no plain list, so record these two errors here.
		if !startsWithList || utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err) {
			f.recordFailure(ctx, err)
		}
		return nil, err
	}
	f.recordOpened(startsWithList)
	return stream, nil
}

func (f *feed) readColumns(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, columnsTimeout)
	defer cancel()
	f.source.SetPrinterColumns(f.informer.options.PrinterColumns(ctx))
}
