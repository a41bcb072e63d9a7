package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/discovery"
)

const (
	// maxAge is how old an answer may be before whoever reads it has it
	// refreshed. While nobody reads, nothing is asked of the API server.
	maxAge = 10 * time.Second
	// followAge is between two discoveries while somebody follows, so that a kind
	// whose definition may not be watched is told within 10 s.
	followAge = 9 * time.Second
	// refreshMinimum is between two discoveries that somebody asked for.
	refreshMinimum = time.Second
	// stirMinimum is between two discoveries after a definition has changed. The
	// API server itself takes a moment to serve what is defined, so it is looked
	// again a few times, lookInterval apart.
	stirMinimum    = 100 * time.Millisecond
	looksAfterStir = 4
	lookInterval   = 400 * time.Millisecond
	// quickStirs is how many of these follow one another so fast, until for calm
	// nothing has changed; from then on stormInterval is between them. What in a
	// definition has changed is not known: its metadata tells nothing of its
	// conditions, and these of when it is served.
	quickStirs    = 10
	calm          = 10 * time.Second
	stormInterval = time.Second
	// firstRetry and lastRetry bound the back-off while discovery fails.
	firstRetry, lastRetry = 500 * time.Millisecond, 15 * time.Second
)

// catalog knows which resources the cluster serves.
type catalog struct {
	client *discovery.DiscoveryClient
	server string
	other  func() // Told when resources or gaps are others.
	log    *slog.Logger
	asked  chan struct{} // A sign that somebody wants it refreshed.
	stirs  chan struct{} // A sign that a definition has changed.

	followers atomic.Int64

	mu        sync.Mutex
	resources []Resource // Sorted by Ref.
	gaps      []Gap
	at        time.Time     // When resources was read.
	err       error         // Of the last try; nil when it worked.
	failing   time.Time     // Of the first of the tries that failed since one worked.
	silent    bool          // They have failed for long.
	next      time.Time     // Of the next try, while they fail.
	tried     chan struct{} // Closed, and made anew, after each try.
}

func newCatalog(client *discovery.DiscoveryClient, server string, other func(), log *slog.Logger) *catalog {
	return &catalog{
		client: client, server: server, other: other, log: log,
		asked: make(chan struct{}, 1), stirs: make(chan struct{}, 1), tried: make(chan struct{}), err: errors.New("not asked yet"),
	}
}

// run discovers until ctx ends: at first, when asked, and with back-off while
// the API server cannot be reached.
func (c *catalog) run(ctx context.Context) {
	retry := firstRetry
	failing := false
	follow := time.NewTicker(followAge)
	defer follow.Stop()
	var again <-chan time.Time
	looks := 0
	storm := &storm{}
	for ctx.Err() == nil {
		began := time.Now()
		err := c.refresh(ctx)
		var wait time.Duration
		again = nil
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait, retry, failing = retry, min(2*retry, lastRetry), true
			again = time.After(wait)
			c.log.WarnContext(ctx, "waiting for the API server", "server", c.server, "error", reasonOf(err), "next_try_in", wait)
		case failing:
			retry, failing = firstRetry, false
			c.log.InfoContext(ctx, "the API server answers", "server", c.server)
		case looks > 0:
			looks--
			again = time.After(storm.slow(lookInterval))
		}
		c.finish(err, wait)
		for due := false; !due; {
			due = true
			select {
			case <-ctx.Done():
			case <-again:
			case <-c.stirs:
				looks = looksAfterStir
				storm.note()
				sleep(ctx, storm.slow(stirMinimum)-time.Since(began))
			case <-c.asked:
				sleep(ctx, refreshMinimum-time.Since(began))
			case <-follow.C:
				due = c.followers.Load() > 0 && !failing
			}
		}
	}
}

// storm says whether definitions change again and again.
type storm struct {
	stirs  int       // One after another.
	newest time.Time // The last of them.
}

// note takes note of a change.
func (s *storm) note() {
	if time.Since(s.newest) > calm {
		s.stirs = 0
	}
	s.stirs++
	s.newest = time.Now()
}

// slow is an interval, or a longer one in a storm.
func (s *storm) slow(interval time.Duration) time.Duration {
	if s.stirs > quickStirs {
		return max(interval, stormInterval)
	}
	return interval
}

// sleep waits for so long, which may be over already. Then there is no timer: in
// synctest's bubbles two that have ended at once crash Go 1.26 with the race detector.
func sleep(ctx context.Context, long time.Duration) {
	if long <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}

func (c *catalog) finish(err error, wait time.Duration) {
	c.mu.Lock()
	c.err, c.next = err, time.Now().Add(wait)
	switch {
	case err == nil:
		c.failing = time.Time{}
	case c.failing.IsZero():
		c.failing = time.Now()
	}
	silent := err != nil && time.Since(c.failing) > maxAge
	other := silent != c.silent
	c.silent = silent
	close(c.tried)
	c.tried = make(chan struct{})
	c.mu.Unlock()
	if other {
		c.other()
	}
}

func (c *catalog) refresh(ctx context.Context) error {
	groups, lists, err := c.client.ServerGroupsAndResourcesWithContext(ctx)
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return err
	}
	resources := collect(groups, lists)
	gaps := make([]Gap, 0, len(failed))
	for gv, err := range failed {
		gaps = append(gaps, Gap{Group: gv.Group, Version: gv.Version, Reason: reasonOf(err)})
	}
	slices.SortFunc(gaps, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
	c.mu.Lock()
	same := reflect.DeepEqual(resources, c.resources) && slices.Equal(gaps, c.gaps)
	c.resources, c.gaps, c.at = resources, gaps, time.Now()
	c.mu.Unlock()
	if !same {
		c.other()
	}
	return nil
}

// all returns what is known now; the slices must not be changed.
func (c *catalog) all() ([]Resource, []Gap, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resources == nil && c.err != nil {
		return nil, nil, c.unavailableLocked()
	}
	if !c.silent {
		return c.resources, c.gaps, nil
	}
	reason := fmt.Sprintf("Discovery has failed since %s, and what it told before is given. %s", c.failing.UTC().Format(time.RFC3339), reasonOf(c.err))
	return c.resources, append(slices.Clone(c.gaps), Gap{Group: "*", Reason: reason}), nil
}

// renew has an old answer refreshed, and waits for that no longer than wait.
func (c *catalog) renew(ctx context.Context, wait time.Duration) {
	c.mu.Lock()
	old := time.Since(c.at) > maxAge && c.err == nil
	c.mu.Unlock()
	if old {
		_ = c.refreshed(ctx, wait) // Without it, by what is known.
	}
}

// ask has the catalog refreshed soon.
func (c *catalog) ask() {
	select {
	case c.asked <- struct{}{}:
	default: // It has been asked already.
	}
}

// stir says that a definition has changed: what is served may change at once.
func (c *catalog) stir() {
	select {
	case c.stirs <- struct{}{}:
	default: // It has been told already.
	}
}

func (c *catalog) unavailableLocked() *Problem {
	p := &Problem{Cause: Unavailable, Title: "The API server does not answer", Brief: "It has not told yet what it serves, and is asked again by itself."}
	if c.next.IsZero() {
		p.Detail = fmt.Sprintf("Connecting to %s for the first time.", c.server)
		return p
	}
	p.Detail = fmt.Sprintf("%s: %s. It is tried again in %s.", c.server, strings.TrimSuffix(reasonOf(c.err), "."),
		max(0, time.Until(c.next)).Round(100*time.Millisecond))
	return p
}

// knows reports whether a resource was served when discovery was asked last.
func (c *catalog) knows(ref string) bool {
	resources, _, _ := c.all()
	return indexOf(resources, ref) >= 0
}

// find looks a resource up by its ref, with one more discovery for one that is
// not known: it may have been created a moment ago.
func (c *catalog) find(ctx context.Context, ref string) (*Resource, error) {
	for try := 0; ; try++ {
		resources, gaps, err := c.all()
		if err != nil && try > 0 {
			return nil, err
		}
		if i := indexOf(resources, ref); i >= 0 {
			c.renew(ctx, 0)
			return &resources[i], nil
		}
		if try > 0 || strings.Count(ref, "/") != 2 {
			return nil, notServed(ref, resources, gaps)
		}
		if err := c.refreshed(ctx, 2*refreshMinimum); err != nil {
			return nil, err
		}
	}
}

// refreshed waits for the end of one more try, but not for ever.
func (c *catalog) refreshed(ctx context.Context, wait time.Duration) error {
	c.mu.Lock()
	tried := c.tried
	c.mu.Unlock()
	c.ask()
	if wait <= 0 {
		return nil
	}
	select {
	case <-tried:
		return nil
	case <-time.After(wait):
		return nil // A slow API server: go by what is known.
	case <-ctx.Done():
		return ctx.Err()
	}
}
