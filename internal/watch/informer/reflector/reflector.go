// Package reflector lists and watches a resource by client-go's Reflector, which retries failed requests.
package reflector

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Store receives the objects of lists and watches.
type Store interface {
	// Replace receives all objects of a list.
	Replace(objects []*compact.Object)
	// Set receives an object that a watch reports as added or changed. managed contains the managedFields of the object,
	// or is nil.
	Set(object *compact.Object, managed *compact.Managed)
	Delete(object *compact.Object)
}

// Reflector lists and watches a resource. It sends one list request, or opens one watch, at a time.
type Reflector struct {
	Name  string
	Store Store
	List  func(context.Context, metav1.ListOptions) (*listwatch.List, error)
	Watch func(context.Context, metav1.ListOptions) (apiwatch.Interface, error)
	// IsRefused is called after each error of Watch. It reports whether the API server refuses to let this program watch
	// the resource.
	IsRefused func() bool
	// Ended is called once for each successful call of Watch, after the last event of the watch.
	Ended func()
}

// Run lists and watches until ctx ends, or until the API server refuses the watch. When Run returns, no list is
// running.
func (r *Reflector) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	logger := klog.Logger{}
	var listing sync.Mutex // Locked while a list runs, because client-go's Reflector can return before its list ends.
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			listing.Lock()
			defer listing.Unlock()
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return r.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			w, err := r.Watch(ctx, options)
			if err == nil {
				return &trackedWatch{Interface: w, ended: sync.OnceFunc(r.Ended)}, nil
			}
			if r.IsRefused() {
				stop()
			}
			return nil, err
		},
	}
	reflector := cache.NewReflectorWithOptions(lister, nil, store{r.Store}, cache.ReflectorOptions{
		Name: r.Name, TypeDescription: r.Name, Logger: &logger, Clock: contextClock{ctx: ctx},
		// Wait at most 15 s (10 s plus jitter) before the next attempt. With the default of client-go, data could be stale
		// for up to a minute.
		Backoff: &wait.Backoff{
			Duration: 800 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 10 * time.Second,
		},
	})
	reflector.RunWithContext(klog.NewContext(ctx, logger))
	listing.Lock()
	defer listing.Unlock()
}

// trackedWatch calls the function ended when client-go's Reflector stops a watch. The Reflector stops it after the last
// event.
type trackedWatch struct {
	apiwatch.Interface

	ended func()
}

func (t *trackedWatch) Stop() {
	t.Interface.Stop()
	t.ended()
}

// store passes the objects from client-go to a Store.
type store struct{ target Store }

func (s store) Add(obj any) error {
	o, managed, err := objectFrom(obj)
	if err == nil {
		s.target.Set(o, managed)
	}
	return err
}

func (s store) Update(obj any) error { return s.Add(obj) }

func (s store) Delete(obj any) error {
	o, _, err := objectFrom(obj)
	if err == nil {
		s.target.Delete(o)
	}
	return err
}

func (s store) Replace(list []any, _ string) error {
	objects := make([]*compact.Object, len(list))
	for n, obj := range list {
		var err error
		if objects[n], _, err = objectFrom(obj); err != nil {
			return err
		}
	}
	s.target.Replace(objects)
	return nil
}

func (s store) Resync() error { return nil }

// objectFrom returns the object in a value from client-go. The value is an Object from a list, or a Version (an Object
// with its managedFields) from a watch.
func objectFrom(obj any) (*compact.Object, *compact.Managed, error) {
	switch o := obj.(type) {
	case *compact.Object:
		return o, nil, nil
	case *compact.Version:
		return o.Object, o.Managed, nil
	}
	return nil, nil, fmt.Errorf("unexpected %T, want an Object", obj)
}

// contextClock is a clock whose waits end when ctx ends. It is needed because client-go's Reflector ignores its context
// while it waits to retry a streaming list.
type contextClock struct {
	clock.RealClock

	ctx context.Context //nolint:containedctx // clock.Clock has no context parameter.
}

func (c contextClock) After(duration time.Duration) <-chan time.Time {
	fired := make(chan time.Time)
	go func() {
		defer close(fired)
		signal.Sleep(c.ctx, duration)
	}()
	return fired
}
