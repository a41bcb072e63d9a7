// Package catalog runs discovery, and remembers which resources the API server serves.
package catalog

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

	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"

	"k8s.io/client-go/discovery"
)

const (
	// discoveryMaxAge is the age of the discovered resources from which a read triggers a new discovery. Without reads,
	// nothing is requested from the API server.
	discoveryMaxAge = 10 * time.Second
	// followInterval is the time between two discoveries while a Follower waits for changes of the list of resources. It
	// ensures that a new resource appears within 10 s even if the definitions may not be watched.
	followInterval = 9 * time.Second
	// refreshMinimum is the shortest time between two discoveries that callers request.
	refreshMinimum = time.Second
	// changeRefreshMinimum is the shortest time between two discoveries after a definition has changed. The API server
	// needs a moment before it serves a newly defined resource. Discovery is therefore repeated refreshesAfterChange
	// times, at intervals of changeRefreshInterval.
	changeRefreshMinimum  = 100 * time.Millisecond
	refreshesAfterChange  = 4
	changeRefreshInterval = 400 * time.Millisecond
	// maxQuickChanges is how many changes of definitions in rapid succession are followed by discoveries at these short
	// intervals. After that, the interval is churnInterval until no definition has changed for the duration
	// churnQuietTime. The program cannot see which changes matter: a definition's metadata does not contain the conditions
	// that show when it is served.
	maxQuickChanges = 10
	churnQuietTime  = 10 * time.Second
	churnInterval   = time.Second
	// firstRetry and lastRetry limit the backoff while discovery fails.
	firstRetry, lastRetry = 500 * time.Millisecond, 15 * time.Second
)

// Catalog contains the resources that the cluster serves, and the parts of the API that discovery could not read
// (gaps).
type Catalog struct {
	client            *discovery.DiscoveryClient
	server            string
	onChange          func() // Called when the resources or the group errors have changed.
	log               *slog.Logger
	refreshRequests   chan struct{} // Signals that a caller requests a discovery.
	definitionChanges chan struct{} // Signals that a definition has changed.

	followers atomic.Int64 // The number of followers.

	mu           sync.Mutex
	resources    []resource.Resource // Sorted by Ref.
	groupErrors  []resource.GroupError
	readAt       time.Time     // When the resources were read.
	err          error         // The error of the last discovery; nil if it succeeded.
	failingSince time.Time     // Time of the first failure since the last success.
	isOutdated   bool          // Discovery has been failing for longer than discoveryMaxAge.
	nextAttempt  time.Time     // While discovery fails: the time of the next attempt.
	attempted    chan struct{} // Closed and replaced after each discovery, even if it failed.
}

// New returns a catalog without resources. server is the address of the API server, for logs. onChange is called
// when the resources or the group errors have changed.
func New(client *discovery.DiscoveryClient, server string, onChange func(), log *slog.Logger) *Catalog {
	return &Catalog{
		client: client, server: server, onChange: onChange, log: log,
		refreshRequests: make(chan struct{}, 1), definitionChanges: make(chan struct{}, 1), attempted: make(chan struct{}),
		err: errors.New("no discovery yet"),
	}
}

// Follow counts a follower. While there is one, discovery runs at intervals, because definitions might not be watched.
// The caller must call Unfollow later.
func (c *Catalog) Follow() { c.followers.Add(1) }

// Unfollow ends what Follow started.
func (c *Catalog) Unfollow() { c.followers.Add(-1) }

// Run runs discovery until ctx ends: at the start, on request, and with backoff while the API server cannot be reached.
func (c *Catalog) Run(ctx context.Context) {
	retry := firstRetry
	failing := false
	followTicker := time.NewTicker(followInterval)
	defer followTicker.Stop()
	var retryTimer <-chan time.Time
	refreshesLeft := 0
	churn := &crdChurn{}
	for ctx.Err() == nil {
		began := time.Now()
		err := c.refresh(ctx)
		var wait time.Duration
		retryTimer = nil
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait, retry, failing = retry, min(2*retry, lastRetry), true
			retryTimer = time.After(wait)
			c.log.WarnContext(ctx, "waiting for the API server",
				"server", c.server, "error", status.ReasonOf(err), "retry_in", wait)
		case failing:
			retry, failing = firstRetry, false
			c.log.InfoContext(ctx, "the API server responds", "server", c.server)
		case refreshesLeft > 0:
			refreshesLeft--
			retryTimer = time.After(churn.throttle(changeRefreshInterval))
		}
		c.recordAttempt(err, wait)
		for due := false; !due; {
			due = true
			select {
			case <-ctx.Done():
			case <-retryTimer:
			case <-c.definitionChanges:
				refreshesLeft = refreshesAfterChange
				churn.record()
				signal.Sleep(ctx, churn.throttle(changeRefreshMinimum)-time.Since(began))
			case <-c.refreshRequests:
				signal.Sleep(ctx, refreshMinimum-time.Since(began))
			case <-followTicker.C:
				due = c.followers.Load() > 0 && !failing
			}
		}
	}
}

// crdChurn detects that definitions are changed many times in rapid succession.
type crdChurn struct {
	changes int       // The number of changes in rapid succession.
	newest  time.Time // The time of the last change.
}

// record records that a definition has changed.
func (s *crdChurn) record() {
	if time.Since(s.newest) > churnQuietTime {
		s.changes = 0
	}
	s.changes++
	s.newest = time.Now()
}

// throttle returns interval, or at least churnInterval while definitions change often.
func (s *crdChurn) throttle(interval time.Duration) time.Duration {
	if s.changes > maxQuickChanges {
		return max(interval, churnInterval)
	}
	return interval
}

func (c *Catalog) recordAttempt(err error, wait time.Duration) {
	c.mu.Lock()
	c.err, c.nextAttempt = err, time.Now().Add(wait)
	switch {
	case err == nil:
		c.failingSince = time.Time{}
	case c.failingSince.IsZero():
		c.failingSince = time.Now()
	}
	isOutdated := err != nil && time.Since(c.failingSince) > discoveryMaxAge
	changed := isOutdated != c.isOutdated
	c.isOutdated = isOutdated
	close(c.attempted)
	c.attempted = make(chan struct{})
	c.mu.Unlock()
	if changed {
		c.onChange()
	}
}

func (c *Catalog) refresh(ctx context.Context) error {
	groups, lists, err := c.client.ServerGroupsAndResourcesWithContext(ctx)
	failed, isPartial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !isPartial {
		return err
	}
	resources := resource.FromDiscovery(groups, lists)
	groupErrors := make([]resource.GroupError, 0, len(failed))
	for gv, err := range failed {
		groupErrors = append(
			groupErrors, resource.GroupError{Group: gv.Group, Version: gv.Version, Reason: status.ReasonOf(err)},
		)
	}
	slices.SortFunc(groupErrors, func(a, b resource.GroupError) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
	c.mu.Lock()
	isSame := reflect.DeepEqual(resources, c.resources) && slices.Equal(groupErrors, c.groupErrors)
	c.resources, c.groupErrors, c.readAt = resources, groupErrors, time.Now()
	c.mu.Unlock()
	if !isSame {
		c.onChange()
	}
	return nil
}

// All returns the resources and group errors that discovery found last. While discovery has been failing for longer
// than discoveryMaxAge, a further group error gives the reason. All returns an error only if no discovery has succeeded
// yet. The caller must not change the slices.
func (c *Catalog) All() ([]resource.Resource, []resource.GroupError, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resources == nil && c.err != nil {
		return nil, nil, c.unavailableLocked()
	}
	if !c.isOutdated {
		return c.resources, c.groupErrors, nil
	}
	reason := fmt.Sprintf("Discovery has failed since %s, so these resources may be out of date. %s",
		c.failingSince.UTC().Format(time.RFC3339), status.ReasonOf(c.err))
	return c.resources, append(slices.Clone(c.groupErrors), resource.GroupError{Group: "*", Reason: reason}), nil
}

// RefreshIfOld requests a discovery if the resources are older than discoveryMaxAge, and waits at most the duration
// wait for it. While discovery fails, it requests none, because Run retries discovery.
func (c *Catalog) RefreshIfOld(ctx context.Context, wait time.Duration) {
	c.mu.Lock()
	isOld := time.Since(c.readAt) > discoveryMaxAge && c.err == nil
	c.mu.Unlock()
	if isOld {
		_ = c.awaitRefresh(ctx, wait) // If that fails, the old result is used.
	}
}

// requestRefresh requests a discovery, and does not wait for it.
func (c *Catalog) requestRefresh() {
	select {
	case c.refreshRequests <- struct{}{}:
	default: // A request is pending already.
	}
}

// RefreshSoon requests discoveries because a definition has changed, so the served resources may change soon.
func (c *Catalog) RefreshSoon() {
	select {
	case c.definitionChanges <- struct{}{}:
	default: // A signal is pending already.
	}
}

func (c *Catalog) unavailableLocked() *status.Problem {
	p := &status.Problem{
		Cause: status.Unavailable, Title: "The API server does not answer",
		PublicDetail: "Its resources are not known yet. Discovery is retried automatically.",
	}
	if c.nextAttempt.IsZero() {
		p.Detail = fmt.Sprintf("Connecting to %s for the first time.", c.server)
		return p
	}
	p.Detail = fmt.Sprintf("%s: %s. Next attempt in %s.", c.server, strings.TrimSuffix(status.ReasonOf(c.err), "."),
		max(0, time.Until(c.nextAttempt)).Round(100*time.Millisecond))
	return p
}

// Knows reports whether the last discovery found the resource.
func (c *Catalog) Knows(ref string) bool {
	resources, _, _ := c.All()
	return resource.Index(resources, ref) >= 0
}

// Find returns a resource by its ref. If discovery has not found it, find requests one more discovery, because the
// resource may have been created a moment ago.
func (c *Catalog) Find(ctx context.Context, ref string) (*resource.Resource, error) {
	for attempt := 0; ; attempt++ {
		resources, groupErrors, err := c.All()
		if err != nil && attempt > 0 {
			return nil, err
		}
		if i := resource.Index(resources, ref); i >= 0 {
			c.RefreshIfOld(ctx, 0)
			return &resources[i], nil
		}
		if attempt > 0 || strings.Count(ref, "/") != 2 {
			return nil, resource.NotServed(ref, resources, groupErrors)
		}
		if err := c.awaitRefresh(ctx, 2*refreshMinimum); err != nil {
			return nil, err
		}
	}
}

// awaitRefresh requests a discovery. It returns when a discovery has ended, successfully or not, or after the duration
// wait. It returns an error only if ctx ends.
func (c *Catalog) awaitRefresh(ctx context.Context, wait time.Duration) error {
	c.mu.Lock()
	attempted := c.attempted
	c.mu.Unlock()
	c.requestRefresh()
	if wait <= 0 {
		return nil
	}
	select {
	case <-attempted:
		return nil
	case <-time.After(wait):
		return nil // The API server is slow: use the present result.
	case <-ctx.Done():
		return ctx.Err()
	}
}
