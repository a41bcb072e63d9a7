package watch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// groundsEvery is the delay of the first recheck, so a response that is sent within it needs no recheck. It is also the
// interval of rechecks that need no request to the API server.
const groundsEvery = time.Second

// Grounds are the permissions that a response depends on. Lost rechecks them while the response is sent. The zero
// Grounds contain no permissions, as for a response that reveals nothing. Callers must call Close.
type Grounds struct {
	mu   sync.Mutex
	all  []*ground
	held []func() // Functions that release the informers from which the response was read.
}

// ground is one permission that a response depends on, with its recheck.
type ground struct {
	holds func(context.Context) bool // Reports whether it is still valid; false if that cannot be determined.
	every time.Duration              // The interval of rechecks.
	next  time.Time                  // The time of the next recheck.
}

// On returns a copy of the access that records in g the permissions that a response depends on. It records them after
// the read, so that a refused read still returns its reason.
func (a *Access) On(g *Grounds) *Access {
	noting := *a
	noting.grounds = g
	return &noting
}

// Lost returns true when one of the permissions is revoked or cannot be rechecked, and false when ctx ends.
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

// wait returns the time until the next recheck. It is at most groundsEvery, because new permissions may be recorded
// soon.
func (g *Grounds) wait() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := groundsEvery
	for _, one := range g.all {
		wait = min(wait, time.Until(one.next))
	}
	return wait
}

// hold rechecks the permissions that are due, and reports whether all are still valid.
func (g *Grounds) hold(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	hold, _ := several(ctx, g.due(), func(ctx context.Context, one *ground) (bool, error) {
		return one.holds(ctx), nil
	})
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

// Close releases the informers from which the response was read.
func (g *Grounds) Close() {
	g.mu.Lock()
	held := g.held
	g.held = nil
	g.mu.Unlock()
	for _, release := range held {
		release()
	}
}

// letGo releases the informer that was opened for a read. If the access records Grounds, the informer is released when
// they are closed, after the response was sent.
func (a *Access) letGo(held *opened) {
	if a.grounds == nil {
		held.release()
		return
	}
	a.grounds.keep(held.release)
}

// tells records that the response depends on the permissions that restricted the filter f for the action d. They are
// lost if the viewer may see fewer namespaces than f has now.
func (a *Access) tells(r *Resource, f *filter, d deed) {
	if a.grounds == nil || a.viewer.User == nil {
		return
	}
	namespaces, name := f.namespaces, f.name
	a.grounds.add(lookEvery, func(ctx context.Context) bool {
		now := &filter{namespaces: namespaces, name: name}
		err := a.narrowTo(ctx, r, now, d, askedAgain())
		return err == nil && len(now.namespaces) == len(namespaces) // An empty list means all namespaces.
	})
}

// tellsRows records that the response contains rows of an informer at the given version. When the program itself loses
// a permission, the informer resets its readers and changes its version, so another version counts as a loss.
func (a *Access) tellsRows(held *opened, version int) {
	if a.grounds == nil {
		return
	}
	a.tells(held.resource, held.filter, toList)
	a.grounds.add(groundsEvery, func(context.Context) bool { return held.informer.present(nil).version == version })
}

// tellsObject records that the response contains one object, which the program read with its own permission for the
// action by.
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
	// A link that selects by labels or words shares the object only while the object matches.
	a.grounds.add(groundsEvery, func(context.Context) bool {
		o, status := a.held(r, namespace, name)
		return o == nil || status.State != Live || f.match(o)
	})
}
