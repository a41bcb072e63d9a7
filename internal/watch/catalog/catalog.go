// Package catalog runs API discovery and keeps the list of resources that the API server serves.
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
	// discoveryMaxAge is the maximum age of the resource list. A read of an older list triggers a new discovery.
	// Without reads, discovery is not needed.
	discoveryMaxAge = 10 * time.Second
	// followInterval is the interval of discoveries while at least one caller waits for changes of the resource list
	// (see Follow). A new resource therefore appears within 10 s, even if this program is not permitted to watch
	// CustomResourceDefinitions.
	followInterval = 9 * time.Second
	// refreshMinimum is the minimum time between two discoveries that callers request.
	refreshMinimum = time.Second
	// changeRefreshMinimum is the minimum time between two discoveries after a CustomResourceDefinition or APIService
	// has changed.
	changeRefreshMinimum = 100 * time.Millisecond
	// refreshesAfterChange is the number of discoveries after a CustomResourceDefinition or APIService has changed.
	// There are several, because the API server needs a moment to serve a new resource.
	refreshesAfterChange = 4
	// changeRefreshInterval is the time between two of these discoveries after a change (see refreshesAfterChange).
	changeRefreshInterval = 400 * time.Millisecond
	// maxQuickChanges is the number of changes of CustomResourceDefinitions (CRDs) or APIServices that each trigger a
	// discovery within changeRefreshMinimum. After more changes, discoveries are at least churnInterval apart. The
	// program cannot ignore unimportant changes, because it watches only metadata. The conditions that show whether a
	// CRD or APIService is served are not part of the metadata.
	maxQuickChanges = 10
	// churnQuietTime is the time without changes of CRDs or APIServices after which the count for maxQuickChanges
	// starts again at 0.
	churnQuietTime = 10 * time.Second
	churnInterval  = time.Second
	// firstRetry and lastRetry are the minimum and maximum delay of the exponential backoff while discovery fails.
	firstRetry, lastRetry = 500 * time.Millisecond, 15 * time.Second
)

// Catalog contains the resources that the cluster serves, and the parts of the API that discovery could not read
// (group errors).
type Catalog struct {
	client            *discovery.DiscoveryClient
	server            string
	onChange          func()
	log               *slog.Logger
	refreshRequests   chan struct{}
	definitionChanges chan struct{} // signals after a change of a definition (CRD or APIService)

	followers atomic.Int64

	mu           sync.Mutex
	resources    []resource.Resource // sorted by Resource.Ref
	groupErrors  []resource.GroupError
	readAt       time.Time
	err          error     // error of the last discovery attempt; nil if it succeeded
	failingSince time.Time // time of the first failure since the last success
	isOutdated   bool      // discovery has failed for longer than discoveryMaxAge
	nextAttempt  time.Time
	attempted    chan struct{} // closed and replaced after each discovery attempt, successful or failed
}

// New returns a Catalog without resources. server is the address of the API server, for logs. onChange is called when
// the resources or the group errors have changed.
func New(client *discovery.DiscoveryClient, server string, onChange func(), log *slog.Logger) *Catalog {
	return &Catalog{
		client: client, server: server, onChange: onChange, log: log,
		refreshRequests: make(chan struct{}, 1), definitionChanges: make(chan struct{}, 1), attempted: make(chan struct{}),
		err: errors.New("no discovery yet"),
	}
}

// Follow registers a caller that waits for changes of the resource list. While at least one caller is registered,
// discovery runs every followInterval, because this program might not be permitted to watch the definitions of
// resources (CRDs). Each caller must call Unfollow later.
func (c *Catalog) Follow() { c.followers.Add(1) }

// Unfollow removes a caller that Follow registered.
func (c *Catalog) Unfollow() { c.followers.Add(-1) }

// Run runs discovery until ctx ends: at the start, when requested, and with backoff while the API server is
// unavailable.
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

// crdChurn counts changes of CustomResourceDefinitions and APIServices, as long as the time between two of them is at
// most churnQuietTime.
type crdChurn struct {
	changes int
	newest  time.Time
}

func (s *crdChurn) record() {
	if time.Since(s.newest) > churnQuietTime {
		s.changes = 0
	}
	s.changes++
	s.newest = time.Now()
}

// throttle returns the interval to use between two discoveries: the given one, or at least churnInterval while
// definitions change rapidly.
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

// All returns the resources and group errors (parts of the API that could not be read) of the last successful
// discovery. If discovery has failed for longer than discoveryMaxAge, All adds a group error with the reason. It
// returns an error only if no discovery has succeeded yet. The caller must not change the slices.
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

// RefreshIfOld requests a discovery if the resource list is older than discoveryMaxAge. wait is the maximum time to
// wait for the result. While discovery fails, RefreshIfOld does nothing, because Run already retries.
func (c *Catalog) RefreshIfOld(ctx context.Context, wait time.Duration) {
	c.mu.Lock()
	isOld := time.Since(c.readAt) > discoveryMaxAge && c.err == nil
	c.mu.Unlock()
	if isOld {
		_ = c.awaitRefresh(ctx, wait)
	}
}

func (c *Catalog) requestRefresh() {
	select {
	case c.refreshRequests <- struct{}{}:
	default: // a request is already pending
	}
}

// RefreshSoon requests several discoveries after a definition (CRD or APIService) has changed, because the API server
// needs a moment before it serves the changed resources.
func (c *Catalog) RefreshSoon() {
	select {
	case c.definitionChanges <- struct{}{}:
	default: // a signal is already pending
	}
}

func (c *Catalog) unavailableLocked() *status.Problem {
	p := &status.Problem{
		Cause: status.Unavailable, Title: "The API server does not answer",
		PublicDetail: "The resources of the cluster are not known yet. Discovery is retried automatically.",
	}
	if c.nextAttempt.IsZero() {
		p.Detail = fmt.Sprintf("Connecting to %s for the first time.", c.server)
		return p
	}
	p.Detail = fmt.Sprintf("%s: %s. Next attempt in %s.", c.server, strings.TrimSuffix(status.ReasonOf(c.err), "."),
		max(0, time.Until(c.nextAttempt)).Round(100*time.Millisecond))
	return p
}

// Knows reports whether the last discovery found the resource with this ref (group/version/plural).
func (c *Catalog) Knows(ref string) bool {
	resources, _, _ := c.All()
	return resource.Index(resources, ref) >= 0
}

// Find returns the resource with a ref (group/version/plural). If the list does not contain it, Find waits for one
// more discovery, because the resource could be new.
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

// awaitRefresh requests a discovery, and waits at most the time wait until one has succeeded or failed. It returns an
// error only if ctx ends.
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
		return nil // The API server is slow, so the caller continues with the present list.
	case <-ctx.Done():
		return ctx.Err()
	}
}
