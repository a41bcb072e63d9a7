package watch

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

const (
	// rememberedFor is how long it is remembered whether a namespace exists.
	rememberedFor = 3 * time.Second
	// maxRemembered bounds the namespaces of which it is, as anybody can think of
	// any number of them.
	maxRemembered = 1000
)

// existence is what was answered of namespaces a moment ago: all who look at an
// empty one ask whether it exists.
type existence struct {
	mu      sync.Mutex
	answers map[string]*answer
}

// answer is one that is on its way, or has come.
type answer struct {
	come  chan struct{} // Closed when it has.
	err   error
	until time.Time // It is good; the zero Time where who asked did not wait for it.
}

func (a *answer) pending() bool {
	select {
	case <-a.come:
		return false
	default:
		return true
	}
}

// of returns what get returns, or has returned to somebody else; nil where ctx ends
// before.
func (e *existence) of(ctx context.Context, namespace string, get func(context.Context, string) error) error {
	for ctx.Err() == nil {
		a, mine := e.join(namespace)
		if mine {
			a.ask(ctx, namespace, get)
		}
		select {
		case <-a.come:
		case <-ctx.Done():
			return nil
		}
		if !a.until.IsZero() {
			return a.err
		}
	}
	return nil
}

func (a *answer) ask(ctx context.Context, namespace string, get func(context.Context, string) error) {
	defer close(a.come)
	err := get(ctx, namespace)
	if !errors.Is(ctx.Err(), context.Canceled) {
		a.err, a.until = err, time.Now().Add(rememberedFor)
	}
}

// join returns the answer of a namespace, and whether it is the caller's to get.
func (e *existence) join(namespace string) (a *answer, mine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a = e.answers[namespace]; a != nil && (a.pending() || time.Now().Before(a.until)) {
		return a, false
	}
	if len(e.answers) >= maxRemembered {
		maps.DeleteFunc(e.answers, func(_ string, a *answer) bool { return !a.pending() })
	}
	if e.answers == nil {
		e.answers = make(map[string]*answer)
	}
	a = &answer{come: make(chan struct{})}
	e.answers[namespace] = a
	return a, true
}
