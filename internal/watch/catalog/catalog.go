// Package catalog runs API discovery, and keeps a list of the resources that the API server serves.
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

	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"k8s.io/client-go/discovery"
)

const (
	// discoveryMaxAge is the maximum age of the resource list. If a caller needs the list, and the list is older, a new
	// discovery starts. If no caller needs the list, the API server gets no requests.
	discoveryMaxAge = 10 * time.Second
	// followInterval is the interval of discoveries while Follow was called more often than Unfollow. It is short enough
	// that a new resource appears within 10 s.
	followInterval       = 9 * time.Second
	refreshMinimum       = time.Second
	changeRefreshMinimum = 100 * time.Millisecond
	// refreshesAfterChange is the number of additional discoveries after a change of a CRD or APIService. One discovery
	// is not enough, because the API server serves the change only after a delay.
	refreshesAfterChange  = 4
	changeRefreshInterval = 400 * time.Millisecond
	// maxQuickChanges is the number of rapid changes of CRDs and APIServices that each start a discovery at once. After
	// these, discoveries are at least churnInterval apart. No change can be ignored: the watched metadata of a CRD does
	// not show whether the conditions of the CRD have changed.
	maxQuickChanges = 10
	// churnQuietTime is the time without changes after which the count of rapid changes restarts at zero.
	churnQuietTime        = 10 * time.Second
	churnInterval         = time.Second
	firstRetry, lastRetry = 500 * time.Millisecond, 15 * time.Second
)

// Catalog contains the resources that the cluster serves, and the API groups for which discovery failed (group
// errors).
type Catalog struct {
	client            *discovery.DiscoveryClient
	server            string
	onChange          func()
	log               *slog.Logger
	refreshRequests   chan struct{}
	definitionChanges chan struct{}

	followers atomic.Int64

	mu           sync.Mutex
	resources    []resource.Resource // sorted by Resource.Ref
	groupErrors  []resource.GroupError
	readAt       time.Time
	err          error // error of the newest discovery; nil if it succeeded
	version      string
	latency      time.Duration // duration of the newest successful discovery
	startedAt    time.Time     // start of the running discovery; zero if none is running
	failingSince time.Time
	isOutdated   bool
	nextAttempt  time.Time
	attempted    chan struct{} // closed and replaced after each discovery, successful or failed
}

// New returns a Catalog without resources. The Catalog calls onChange after each change of its resources or group
// errors.
func New(client *discovery.DiscoveryClient, server string, onChange func(), log *slog.Logger) *Catalog {
	return &Catalog{
		client: client, server: server, onChange: onChange, log: log,
		refreshRequests: make(chan struct{}, 1), definitionChanges: make(chan struct{}, 1), attempted: make(chan struct{}),
		err: errors.New("discovery has not run yet"),
	}
}

// Follow makes discovery run every followInterval, until Unfollow was called as often as Follow. New resources are then
// found even if this program has no permission to watch CRDs.
func (c *Catalog) Follow() { c.followers.Add(1) }

// Unfollow ends the effect of one call of Follow.
func (c *Catalog) Unfollow() { c.followers.Add(-1) }

// Run runs a discovery at the start and after each request for one, until ctx ends. It retries a failed discovery with
// backoff.
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
			c.log.WarnContext(ctx, "cannot read the list of resources from the API server; retrying",
				"server", c.server, "error", status.ReasonOf(err), "retry_in", wait)
		case failing:
			retry, failing = firstRetry, false
			c.log.InfoContext(ctx, "read the list of resources from the API server after failed attempts", "server", c.server)
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

// crdChurn counts rapid changes of CRDs and APIServices: each follows the previous one within churnQuietTime.
type crdChurn struct {
	changes int
	newest  time.Time
}

func (c *crdChurn) record() {
	if time.Since(c.newest) > churnQuietTime {
		c.changes = 0
	}
	c.changes++
	c.newest = time.Now()
}

func (c *crdChurn) throttle(interval time.Duration) time.Duration {
	if c.changes > maxQuickChanges {
		return max(interval, churnInterval)
	}
	return interval
}

func (c *Catalog) recordAttempt(err error, wait time.Duration) {
	c.mu.Lock()
	c.err, c.nextAttempt, c.startedAt = err, time.Now().Add(wait), time.Time{}
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
	startedAt := time.Now()
	c.mu.Lock()
	c.startedAt = startedAt
	needsVersion := c.version == "" || c.err != nil // An error can mean that the API server was upgraded.
	c.mu.Unlock()
	groups, lists, err := c.client.ServerGroupsAndResourcesWithContext(ctx)
	failed, isPartial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !isPartial {
		return err
	}
	latency := time.Since(startedAt)
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
	c.resources, c.groupErrors, c.readAt, c.latency = resources, groupErrors, time.Now(), latency
	c.mu.Unlock()
	if !isSame {
		c.onChange()
	}
	if needsVersion {
		c.readVersion(ctx)
	}
	return nil
}

// All returns the resources and group errors of the newest successful discovery. The error is set only if no discovery
// has succeeded yet. The caller must not change the slices.
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
	failed := resource.GroupError{Group: resource.AnyGroup, Reason: reason}
	return c.resources, append(slices.Clone(c.groupErrors), failed), nil
}

// Groups returns the resources, and the API groups some of whose resources are possibly unknown.
func (c *Catalog) Groups() (resources []resource.Resource, unknown []string) {
	resources, groupErrors, err := c.All()
	if err != nil {
		return nil, []string{resource.AnyGroup}
	}
	for n := range groupErrors {
		unknown = append(unknown, groupErrors[n].Group)
	}
	return resources, unknown
}

// RefreshIfOld requests a discovery if the resource list is older than discoveryMaxAge. It waits for the end of the
// discovery, but at most the duration wait.
func (c *Catalog) RefreshIfOld(ctx context.Context, wait time.Duration) {
	c.mu.Lock()
	// Request nothing after a failed discovery, because Run already retries it.
	isOld := time.Since(c.readAt) > discoveryMaxAge && c.err == nil
	c.mu.Unlock()
	if isOld {
		_ = c.awaitRefresh(ctx, wait)
	}
}

func (c *Catalog) requestRefresh() {
	select {
	case c.refreshRequests <- struct{}{}:
	default:
	}
}

// RefreshSoon requests a discovery and several repetitions, because the API server serves a changed CRD or APIService
// only after a delay.
func (c *Catalog) RefreshSoon() {
	select {
	case c.definitionChanges <- struct{}{}:
	default:
	}
}

func (c *Catalog) unavailableLocked() *status.Problem {
	p := &status.Problem{
		Cause: status.Unavailable, Title: "The API server does not respond",
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

// Knows reports whether the newest successful discovery found the resource with this ref (group/version/plural).
func (c *Catalog) Knows(ref string) bool {
	resources, _, _ := c.All()
	return resource.Index(resources, ref) >= 0
}

// Find returns the resource with a ref (group/version/plural). If the ref is unknown, Find requests a discovery, and
// searches again in its result.
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
		return nil // The API server is slow, so let the caller use the current list.
	case <-ctx.Done():
		return ctx.Err()
	}
}
