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
	// maxAge is the age of the discovered resources from which a read triggers a new discovery. Without reads, nothing
	// is requested from the API server.
	maxAge = 10 * time.Second
	// followAge is the time between two discoveries while a Follower waits for changes of the list of resources. It
	// ensures that a new resource appears within 10 s even if the definitions may not be watched.
	followAge = 9 * time.Second
	// refreshMinimum is the shortest time between two discoveries that callers request.
	refreshMinimum = time.Second
	// stirMinimum is the shortest time between two discoveries after a definition has changed. The API server needs a
	// moment before it serves a newly defined resource. Discovery is therefore repeated looksAfterStir times, at
	// intervals of lookInterval.
	stirMinimum    = 100 * time.Millisecond
	looksAfterStir = 4
	lookInterval   = 400 * time.Millisecond
	// quickStirs is how many changes of definitions in rapid succession are followed by discoveries at these short
	// intervals. After that, the interval is stormInterval until no definition has changed for the duration calm. The
	// program cannot see which changes matter: a definition's metadata does not contain the conditions that show when
	// it is served.
	quickStirs    = 10
	calm          = 10 * time.Second
	stormInterval = time.Second
	// firstRetry and lastRetry limit the backoff while discovery fails.
	firstRetry, lastRetry = 500 * time.Millisecond, 15 * time.Second
)

// catalog contains the resources that the cluster serves, and the parts of the API that discovery could not read
// (gaps).
type catalog struct {
	client *discovery.DiscoveryClient
	server string
	other  func() // Called when the resources or the group errors have changed.
	log    *slog.Logger
	asked  chan struct{} // Signals that a caller requests a discovery.
	stirs  chan struct{} // Signals that a definition has changed.

	followers atomic.Int64

	mu        sync.Mutex
	resources []Resource // Sorted by Ref.
	gaps      []Gap
	at        time.Time     // When the resources were read.
	err       error         // The error of the last discovery; nil if it succeeded.
	failing   time.Time     // Time of the first failure since the last success.
	silent    bool          // Discovery has been failing for longer than maxAge.
	next      time.Time     // While discovery fails: the time of the next attempt.
	tried     chan struct{} // Closed and replaced after each discovery, even if it failed.
}

func newCatalog(client *discovery.DiscoveryClient, server string, other func(), log *slog.Logger) *catalog {
	return &catalog{
		client: client, server: server, other: other, log: log,
		asked: make(chan struct{}, 1), stirs: make(chan struct{}, 1), tried: make(chan struct{}),
		err: errors.New("no discovery yet"),
	}
}

// run runs discovery until ctx ends: at the start, on request, and with backoff while the API server cannot be reached.
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
			c.log.WarnContext(ctx, "waiting for the API server",
				"server", c.server, "error", reasonOf(err), "retry_in", wait)
		case failing:
			retry, failing = firstRetry, false
			c.log.InfoContext(ctx, "the API server responds", "server", c.server)
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

// storm detects that definitions are changed many times in rapid succession.
type storm struct {
	stirs  int       // The number of changes in rapid succession.
	newest time.Time // The time of the last change.
}

// note records that a definition has changed.
func (s *storm) note() {
	if time.Since(s.newest) > calm {
		s.stirs = 0
	}
	s.stirs++
	s.newest = time.Now()
}

// slow returns interval, or at least stormInterval during a storm.
func (s *storm) slow(interval time.Duration) time.Duration {
	if s.stirs > quickStirs {
		return max(interval, stormInterval)
	}
	return interval
}

// sleep waits for the given duration, or until ctx ends. It creates no timer if the duration is not positive: in
// synctest bubbles, two timers that expire at once crash Go 1.26 with the race detector.
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

// all returns the resources and group errors that discovery found last. While discovery has been failing for longer
// than maxAge, a further group error gives the reason. all returns an error only if no discovery has succeeded yet. The
// caller must not change the slices.
func (c *catalog) all() ([]Resource, []Gap, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resources == nil && c.err != nil {
		return nil, nil, c.unavailableLocked()
	}
	if !c.silent {
		return c.resources, c.gaps, nil
	}
	reason := fmt.Sprintf("Discovery has failed since %s, so these resources may be out of date. %s",
		c.failing.UTC().Format(time.RFC3339), reasonOf(c.err))
	return c.resources, append(slices.Clone(c.gaps), Gap{Group: "*", Reason: reason}), nil
}

// renew requests a discovery if the resources are older than maxAge, and waits at most the duration wait for it. While
// discovery fails, renew requests none, because run retries it.
func (c *catalog) renew(ctx context.Context, wait time.Duration) {
	c.mu.Lock()
	old := time.Since(c.at) > maxAge && c.err == nil
	c.mu.Unlock()
	if old {
		_ = c.refreshed(ctx, wait) // If that fails, the old result is used.
	}
}

// ask requests a discovery, and does not wait for it.
func (c *catalog) ask() {
	select {
	case c.asked <- struct{}{}:
	default: // A request is pending already.
	}
}

// stir requests discoveries because a definition has changed, so the served resources may change soon.
func (c *catalog) stir() {
	select {
	case c.stirs <- struct{}{}:
	default: // A signal is pending already.
	}
}

func (c *catalog) unavailableLocked() *Problem {
	p := &Problem{
		Cause: Unavailable, Title: "The API server does not answer",
		Brief: "Its resources are not known yet. Discovery is retried automatically.",
	}
	if c.next.IsZero() {
		p.Detail = fmt.Sprintf("Connecting to %s for the first time.", c.server)
		return p
	}
	p.Detail = fmt.Sprintf("%s: %s. Next attempt in %s.", c.server, strings.TrimSuffix(reasonOf(c.err), "."),
		max(0, time.Until(c.next)).Round(100*time.Millisecond))
	return p
}

// knows reports whether the last discovery found the resource.
func (c *catalog) knows(ref string) bool {
	resources, _, _ := c.all()
	return indexOf(resources, ref) >= 0
}

// find returns a resource by its ref. If discovery has not found it, find requests one more discovery, because the
// resource may have been created a moment ago.
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

// refreshed requests a discovery. It returns when a discovery has ended, successfully or not, or after the duration
// wait. It returns an error only if ctx ends.
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
		return nil // The API server is slow: use the present result.
	case <-ctx.Done():
		return ctx.Err()
	}
}
