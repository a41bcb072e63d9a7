// Package reflector lists and watches a resource with client-go's Reflector, which retries errors.
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
	// Set receives an added or changed object of a watch. managed is its managedFields, or nil.
	Set(object *compact.Object, managed *compact.Managed)
	Delete(object *compact.Object)
}

// Reflector sends one list request, or opens one watch, at a time.
type Reflector struct {
	Name  string
	Store Store
	List  func(context.Context, metav1.ListOptions) (*listwatch.List, error)
	Watch func(context.Context, metav1.ListOptions) (apiwatch.Interface, error)
	// IsRefused is called after an error of Watch. It reports whether the API server refuses to watch the resource.
	IsRefused func() bool
	// Ended is called after the last event of each watch.
	Ended func()
}

// Run lists and watches until ctx ends, or the API server refuses the watch. When Run returns, no list is running any
// more.
func (r *Reflector) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	logger := klog.Logger{}
	var listing sync.Mutex // Locked during a list, because client-go's Reflector can return before its list has ended.
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
		// Wait at most 15 s (10 s plus jitter). client-go would show stale data for up to a minute.
		Backoff: &wait.Backoff{
			Duration: 800 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 10 * time.Second,
		},
	})
	reflector.RunWithContext(klog.NewContext(ctx, logger))
	listing.Lock()
	defer listing.Unlock()
}

// trackedWatch calls the function ended after the last event of a watch, when client-go's Reflector stops the watch.
type trackedWatch struct {
	apiwatch.Interface

	ended func()
}

func (t *trackedWatch) Stop() {
	t.Interface.Stop()
	t.ended()
}

// store adapts a Store to the interface of client-go.
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

// objectFrom converts a value from client-go: an Object of a list, or a Version (with managedFields) of a watch.
func objectFrom(obj any) (*compact.Object, *compact.Managed, error) {
	switch o := obj.(type) {
	case *compact.Object:
		return o, nil, nil
	case *compact.Version:
		return o.Object, o.Managed, nil
	}
	return nil, nil, fmt.Errorf("unexpected %T, want an Object", obj)
}

// contextClock ends waits when ctx ends. client-go's Reflector ignores its context while it waits to retry a
// streaming list.
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
