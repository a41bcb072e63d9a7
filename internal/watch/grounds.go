package watch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// groundsEvery is how soon it is asked for the first time: what is sent by then costs
// nothing. What costs nothing at all is asked for as often.
const groundsEvery = time.Second

// Grounds are what an answer is told by: the rights to it, which are asked for again
// while it is being sent. The zero Grounds are of an answer that tells nothing. They
// must be closed.
type Grounds struct {
	mu   sync.Mutex
	all  []*ground
	held []func() // Lets go of what the answer was read from.
}

// ground is one of them.
type ground struct {
	holds func(context.Context) bool // Whether it does still, which is not so where that cannot be found out.
	every time.Duration              // How often it is asked for,
	next  time.Time                  // and when it is again.
}

// On returns the same access, which notes by what rights it tells something: when it
// has been read, so that who still waits for it is told why it is refused.
func (a *Access) On(g *Grounds) *Access {
	noting := *a
	noting.grounds = g
	return &noting
}

// Lost returns true once one of the rights has gone, or cannot be found out, and false
// when ctx ends.
func (g *Grounds) Lost(ctx context.Context) bool {
	for wait := groundsEvery; ; wait = g.wait() {
		if sleep(ctx, wait); ctx.Err() != nil {
			return false
		}
		if !g.hold(ctx) && ctx.Err() == nil {
			return true
		}
	}
}

// wait is how long it is until one is to be asked for: there may be new ones soon.
func (g *Grounds) wait() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := groundsEvery
	for _, one := range g.all {
		wait = min(wait, time.Until(one.next))
	}
	return wait
}

// hold asks for those of which it is time.
func (g *Grounds) hold(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	hold, _ := several(ctx, g.due(), func(ctx context.Context, one *ground) (bool, error) { return one.holds(ctx), nil })
	return !slices.Contains(hold, false)
}

func (g *Grounds) due() (due []*ground) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for _, one := range g.all {
		if !now.Before(one.next) {
			one.next = now.Add(one.every)
			due = append(due, one)
		}
	}
	return due
}

func (g *Grounds) add(every time.Duration, holds func(context.Context) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, &ground{holds: holds, every: every})
}

func (g *Grounds) keep(release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, release)
}

// Close lets go of what the answer was read from.
func (g *Grounds) Close() {
	g.mu.Lock()
	held := g.held
	g.held = nil
	g.mu.Unlock()
	for _, release := range held {
		release()
	}
}

// letGo lets go of what is held: at once, or when what was read from it has been sent.
func (a *Access) letGo(held *opened) {
	if a.grounds == nil {
		held.release()
		return
	}
	a.grounds.keep(held.release)
}

// tells notes that the viewer is told of what a filter lets through, which was narrowed
// for the deed.
func (a *Access) tells(r *Resource, f *filter, d deed) {
	if a.grounds == nil || a.viewer.User == nil {
		return
	}
	namespaces, name := f.namespaces, f.name
	a.grounds.add(lookEvery, func(ctx context.Context) bool {
		now := &filter{namespaces: namespaces, name: name}
		err := a.narrowTo(ctx, r, now, d, askedAgain())
		return err == nil && len(now.namespaces) == len(namespaces) // None are all.
	})
}

// tellsRows notes that rows of an informer are told. What the program may not see any
// more that finds out for itself, and has its readers begin anew.
func (a *Access) tellsRows(held *opened, version int) {
	if a.grounds == nil {
		return
	}
	a.tells(held.resource, held.filter, toList)
	a.grounds.add(groundsEvery, func(context.Context) bool { return held.informer.present(nil).version == version })
}

// tellsObject notes that one object is told, which the program has by a deed of its own.
func (a *Access) tellsObject(r *Resource, f *filter, by deed, namespace, name string) {
	if a.grounds == nil {
		return
	}
	a.tells(r, f, toGet)
	a.grounds.add(lookEvery, func(ctx context.Context) bool {
		return a.cluster.reviews.allows(ctx, by, r, namespace, name, askedAgain())
	})
	if f.selector == nil && !f.ofRows() {
		return
	}
	// It was shared by what it is: as something else it is not any more.
	a.grounds.add(groundsEvery, func(context.Context) bool {
		o, status := a.held(r, namespace, name)
		return o == nil || status.State != Live || f.match(o)
	})
}
