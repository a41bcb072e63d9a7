package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"glasshouse/internal/watch/listwatch"
)

// Access is everything that one Viewer may read of the cluster. Methods that return a copy set further limits.
type Access struct {
	cluster      *Cluster
	viewer       Viewer
	subject      subject       // The viewer's user, in the form for access reviews; empty if there is none.
	slots        chan struct{} // See WithMaxMessages; nil means no limit.
	fanOut       func() int    // See WithFanOut; nil means that there are no other readers.
	revalidation *Revalidation // See WithRevalidation; nil records no permissions.
	scanLimiter  ScanLimiter   // See WithScanLimiter; nil means that scans do not wait.
	reserve      Reserve       // See WithReserve; nil reserves nothing.
	grow         func(int64)   // See WithGrow; nil does nothing.
}

// A ScanLimiter is a function that waits until the caller may start work that keeps a processor busy. The caller must call
// leave exactly once, when that work is done.
type ScanLimiter func(ctx context.Context) (leave func(), err error)

// For returns access to everything that the viewer may read of the cluster.
func (c *Cluster) For(viewer Viewer) *Access {
	a := &Access{cluster: c, viewer: viewer}
	if viewer.User != nil {
		a.subject = subject{viewer.User, sha256.Sum256([]byte(viewer.User.key()))}
	}
	return a
}

// IsGuest reports whether the viewer uses a share link and is limited to the parts of its scope.
func (a *Access) IsGuest() bool { return a.viewer.Scope != nil }

// WithMaxMessages returns a copy of the access with a limit: at most n of its subscriptions build a message, or have one in
// memory, at a time. A subscription that waits for a slot has no message. Therefore memory does not grow with the
// number of waiting subscriptions, or with the length of their messages.
//
// Read each subscription in its own goroutine, because a subscription uses its slot until its next message is
// requested.
func (a *Access) WithMaxMessages(n int) *Access {
	derived := *a
	derived.slots = make(chan struct{}, n)
	return &derived
}

// WithReserve returns a copy of the access whose subscriptions call reserve before they build a long message, to reserve
// memory for it.
func (a *Access) WithReserve(reserve Reserve) *Access {
	derived := *a
	derived.reserve = reserve
	return &derived
}

// WithScanLimiter returns a copy of the access that calls limiter before each scan of all rows of a resource. A Snapshot, a Search,
// the start of a Subscription and the computation of a digest are such scans.
func (a *Access) WithScanLimiter(limiter ScanLimiter) *Access {
	derived := *a
	derived.scanLimiter = limiter
	return &derived
}

// WithGrow returns a copy of the access that calls grow before a read allocates memory that the estimate for the reader
// does not include. bytes is negative when such memory is freed.
func (a *Access) WithGrow(grow func(bytes int64)) *Access {
	derived := *a
	derived.grow = grow
	return &derived
}

// Grow reports that the caller is about to allocate memory, in bytes, for data that it has read. See WithGrow.
func (a *Access) Grow(bytes int64) {
	if a.grow != nil && bytes != 0 {
		a.grow(bytes)
	}
}

// AcquireProcessor waits until the caller may start work that keeps a processor busy. The caller must call release when
// the work is done. See WithScanLimiter.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	return a.acquireScan(ctx)
}

// acquireScan calls the function that was passed to WithScanLimiter, if there is one.
func (a *Access) acquireScan(ctx context.Context) (release func(), err error) {
	if a.scanLimiter == nil {
		return func() {}, nil
	}
	return a.scanLimiter(ctx)
}

// WithFanOut returns a copy of the access whose readers share the processor with other readers. size returns the current
// number of readers.
//
// Even with many readers, each one receives a single change at once. Further changes are sent in batches. With more
// readers, each one receives batches less often, and not all at the same time. This leaves processor time for other
// work.
func (a *Access) WithFanOut(size func() int) *Access {
	derived := *a
	derived.fanOut = size
	return &derived
}

// ResourceStatus is a Resource that discovery found, with its present watch status.
type ResourceStatus struct {
	Resource

	Status *Status // Nil if the resource is not watched.
	Count  *int    // The number of objects; nil if unknown.
}

// Resources returns every resource that discovery knows, in the order of their refs, and the parts of the API that
// discovery could not read. A discovery result older than 10 s is renewed; the call waits for the renewal no longer
// than wait.
//
// The status and count of a resource are nil unless an access review, within a short time, finds that the viewer may
// see all of its objects.
func (a *Access) Resources(ctx context.Context, wait time.Duration) ([]ResourceStatus, []GroupError, error) {
	a.cluster.catalog.refreshIfOld(ctx, wait)
	resources, groupErrors, err := a.cluster.catalog.all()
	if err != nil {
		return nil, nil, err
	}
	var statuses []ResourceStatus
	for n := range resources {
		if !a.viewer.canDiscover(&resources[n]) {
			continue
		}
		statuses = append(statuses, ResourceStatus{Resource: resources[n]})
	}
	a.addStatuses(ctx, statuses)
	if a.viewer.Scope != nil {
		groupErrors = nil
	}
	return statuses, groupErrors, nil
}

// addStatuses adds the status and count to each watched resource of which the viewer may see all objects.
func (a *Access) addStatuses(ctx context.Context, statuses []ResourceStatus) {
	var watched []*ResourceStatus
	var informers []*informer
	var resources []*Resource
	for n := range statuses {
		if i := a.cluster.pool.find(listwatch.Scope{Resource: statuses[n].gvr()}); i != nil {
			watched, informers, resources = append(watched, &statuses[n]), append(informers, i),
				append(resources, &statuses[n].Resource)
		}
	}
	for n, all := range a.canSeeAll(ctx, resources) {
		if all {
			now := informers[n].currentState(nil)
			watched[n].Status, watched[n].Count = &now.status, informers[n].objectCount()
		}
	}
}

// statusReviewTimeout is the time limit for the access reviews of all resources together.
const statusReviewTimeout = 2 * time.Second

// canSeeAll returns, for each resource, whether the viewer may see all of its objects. A resource without a decision
// within statusReviewTimeout counts as not allowed.
func (a *Access) canSeeAll(ctx context.Context, resources []*Resource) []bool {
	if a.viewer.User == nil || a.viewer.Scope != nil {
		return slices.Repeat([]bool{a.viewer.Program && a.viewer.Scope == nil}, len(resources))
	}
	ctx, cancel := context.WithTimeout(ctx, statusReviewTimeout)
	defer cancel()
	// A resource without a decision counts as not allowed.
	all, _ := checkEach(ctx, resources, func(ctx context.Context, r *Resource) (bool, error) {
		return a.cluster.guard.allowed(ctx, a.subject, verbWatch, r, "", "", ttlRequest())
	})
	for n, r := range resources {
		if all[n] {
			a.recordFilter(r, &filter{}, verbWatch)
		}
	}
	return all
}

// objectCount returns the number of objects of an informer, or nil if it is unknown.
func (i *informer) objectCount() *int {
	now := i.currentState(nil)
	if !now.synced || now.status.State.isRefused() {
		return nil
	}
	count := i.Len()
	return &count
}

// Counts returns the number of objects of each watched resource; the key is its ref. It omits a resource if the number
// is unknown or the viewer may not see all objects.
func (a *Access) Counts(ctx context.Context) map[string]int {
	informers := slices.DeleteFunc(a.cluster.pool.informers(), func(i *informer) bool {
		return i.scope != (listwatch.Scope{Resource: i.scope.Resource})
	})
	counts := make(map[string]int)
	for n, all := range a.canSeeAll(ctx, informerResources(informers)) {
		if count := informers[n].objectCount(); count != nil && all {
			counts[resourceOf(informers[n]).Ref()] = *count
		}
	}
	return counts
}

// Resource returns the resource with a ref, such as "apps/v1/deployments".
func (a *Access) Resource(ctx context.Context, ref string) (*Resource, error) {
	if a.viewer.Scope != nil &&
		!slices.ContainsFunc(a.viewer.Scope.Parts, func(p Part) bool { return p.Resource == ref }) {
		return nil, notShared() // The same error in both cases: it must not reveal whether the resource exists.
	}
	return a.cluster.catalog.find(ctx, ref)
}

// openedQuery is a checked query with the informer that it reads from. The informer keeps running until release is called.
type openedQuery struct {
	resource *Resource
	filter   *filter
	informer *informer
	release  func()
}

// check returns a filter for the objects that the query selects and the viewer may see. It returns the filter even if
// it also returns an error from the access reviews.
func (a *Access) check(ctx context.Context, q *Query, resource *Resource, verb accessVerb, ttl decisionTTL) (*filter, error) {
	filter, err := newFilter(q, resource)
	if err != nil {
		return nil, err
	}
	if err := a.checkMasked(filter.fields, resource); err != nil {
		return nil, err
	}
	return filter, a.restrict(ctx, resource, filter, verb, ttl)
}

// open acquires the informer that a checked query reads from. A query with Watched acquires nothing: it reads only from
// an informer that is already running.
func (a *Access) open(q *Query, resource *Resource, filter *filter) (*openedQuery, error) {
	scope := a.scope(resource, filter.fields)
	if q.Watched {
		running := a.cluster.pool.find(scope)
		if running == nil {
			return nil, notWatched(resource)
		}
		return &openedQuery{resource, filter, running, func() {}}, nil
	}
	var by owner
	if scope.Fields != "" {
		by = a.viewer.owner()
	}
	informer, release, err := a.cluster.pool.acquire(scope, resource, by)
	if err != nil {
		return nil, err
	}
	releaseLeases, err := informer.acquireLeases(slices.Concat(filter.named, filter.permittedNamespaces), len(filter.permittedNamespaces) == 0)
	if err != nil {
		release()
		return nil, err
	}
	return &openedQuery{resource, filter, informer, sync.OnceFunc(func() { releaseLeases(); release() })}, nil
}

// notWatched returns the error for a query with Watched if no informer of the resource is running.
func notWatched(r *Resource) *Problem {
	return &Problem{
		Cause:  Unavailable,
		Title:  "Not watched",
		Detail: r.Ref() + " has no readers now; subscribe without watched to start a watch.",
	}
}

// cursor returns the cursor of a snapshot at an offset.
func (a *Access) cursor(q *Query, f *filter, i *informer, version int, offset uint64) string {
	cipher := a.cursorCipher(q, f, i)
	if f.isRestricted {
		restricted := cipher.newRestricted(i.epochOf(version), offset, time.Now())
		return string(restricted.append(nil))
	}
	return string(cipher.append(nil, i.epochOf(version), offset))
}

// cursorCipher returns the key that encrypts the viewer's cursors for one filter. The key changes when the viewer's permissions
// change, so older cursors become invalid.
func (a *Access) cursorCipher(q *Query, f *filter, i *informer) cursorCipher {
	return a.cluster.cursors.deriveCipher(fmt.Sprintf(
		"%q %q %q %t %q %q %q %q %v",
		a.viewer.Key(), q.Resource, f.namespaces, f.isRestricted, q.Labels, q.Fields, q.Name, q.Text, i.scope,
	))
}

// Item is one object of a Snapshot.
type Item = listwatch.Object

// Column is one column of a Snapshot's table.
type Column = listwatch.Column

// A Snapshot is the complete result of a query at one cursor.
type Snapshot struct {
	Resource *Resource
	Columns  []Column
	// Objects is sorted by namespace and name, or by the query's sort order. It is read-only, because other readers
	// share the objects.
	Objects   []*Item
	Total     int // The number of matching objects, including those beyond the limit.
	Status    Status
	Synced    bool   // Objects is complete; otherwise the first list is not finished.
	IsPartial bool   // Objects may exist that the viewer is not allowed to see.
	Cursor    string // Empty while not Synced, and if a limit left out objects, because resuming would never send those.
}

// Snapshot reads the result of the query. It waits for the first list of the informer at most as long as wait. Then it
// returns the objects that are known, with the Status.
func (a *Access) Snapshot(ctx context.Context, q Query, wait time.Duration) (*Snapshot, error) {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := a.check(ctx, &q, resource, verbList, ttlRequest())
	if err != nil {
		return nil, err
	}
	open, err := a.open(&q, resource, filter) //nolint:contextcheck // An informer outlives the reader that starts it.
	if err != nil {
		return nil, err
	}
	defer a.releaseAfterResponse(open)
	informer := open.informer
	began := time.Now()
	informer.wait(ctx, wait, func() bool { return filter.currentState(informer).status.State != Syncing })
	listing, total, now, err := a.first(ctx, open, &q, began)
	if err != nil {
		return nil, err
	}
	snapshot := &Snapshot{
		Resource: resource, Columns: now.columns, Status: now.status, Synced: now.synced, IsPartial: filter.isPartial,
	}
	if !now.synced && now.status.State == Failed && now.status.isInvalidRequest && q.Fields != "" {
		return nil, invalid(
			"Invalid field selector", "The API server rejects %q for %s: %s", q.Fields, q.Resource, now.status.Reason,
		)
	}
	if !now.synced {
		return snapshot, ctx.Err()
	}
	a.recordRows(open, now.version)
	snapshot.Objects, snapshot.Total = listing.objects, total
	if mask := a.guestMask(resource); mask != nil {
		a.Grow(maskedMemory * int64(len(listing.objects)))
		snapshot.Objects = make([]*Item, len(listing.objects))
		for n, o := range listing.objects {
			snapshot.Objects[n] = mask.Object(o)
		}
	}
	if len(snapshot.Objects) == total {
		snapshot.Cursor = a.cursor(&q, filter, informer, now.version, listing.cursor.Offset)
	}
	if total == 0 {
		err = a.checkNamespaces(ctx, filter.named)
	}
	return snapshot, err
}

// first reads the result of a query by scanning the rows, after acquireScan has returned. checked is the time of the query's
// last access review; first repeats the review if it is too old.
func (a *Access) first(ctx context.Context, open *openedQuery, q *Query, checked time.Time) (*listing, int, informerState, error) {
	check := func() error {
		if time.Since(checked) <= ttlRecheck().allowed {
			return nil
		}
		checked = time.Now() // Repeat the review, because a permission may have been revoked in the meantime.
		return a.restrict(ctx, open.resource, open.filter, verbList, ttlRequest())
	}
	if err := check(); err != nil {
		return nil, 0, informerState{}, err
	}
	release, err := a.acquireScan(ctx)
	if err != nil {
		return nil, 0, informerState{}, err
	}
	defer release()
	if err := check(); err != nil {
		return nil, 0, informerState{}, err
	}
	scan := q.scanMemory(open.filter, int64(open.informer.Len()))
	a.Grow(scan)
	found, total, now := open.informer.first(open.filter, q)
	if scan > 0 { // Otherwise readers share the list.
		a.Grow(listedMemory*int64(cap(found.objects)) - scan)
	}
	return found, total, now, nil
}

// Estimates of the memory for one row, in bytes, by the list that contains it.
const (
	// listedMemory is the memory for a row in a plain list of rows.
	listedMemory = 8
	// scannedMemory is the memory for a row in a list that grows by doubling. rankedMemory is the memory for a row in a
	// sorted copy of all rows.
	scannedMemory, rankedMemory = 3 * listedMemory, 56
	// maskedMemory is the memory for a row in a guest's list of masked rows (104 bytes measured).
	maskedMemory = 104
)

// scanMemory estimates the bytes that a scan of rows allocates for this query alone.
func (q *Query) scanMemory(f *filter, rows int64) int64 {
	switch {
	case q.Sort != "" || q.Limit > 0:
		return rankedMemory * rows
	case f.matchesAll():
		return 0 // Readers share the list.
	}
	return scannedMemory * rows
}

// Object returns one object as redacted JSON. It reads the object from the cache if the status there is Live, otherwise
// from the API server.
func (a *Access) Object(ctx context.Context, ref, namespace, name string) ([]byte, error) {
	resource, permitted, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	return a.readObject(ctx, resource, permitted, namespace, name)
}

// readable returns the resource with the ref, and the filter that an object of it must match. It returns an error if
// the viewer may not read the object.
func (a *Access) readable(ctx context.Context, ref, namespace, name string) (*Resource, *filter, error) {
	resource, err := a.Resource(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if resource.Namespaced != (namespace != "") {
		return nil, nil, invalid(
			"Invalid object reference",
			"Namespaced resources need a namespace, others need _ instead; %s %s.",
			resource.Ref(), map[bool]string{true: "is namespaced", false: "is not namespaced"}[resource.Namespaced],
		)
	}
	if namespace != "" {
		if err := checkNamespace(namespace); err != nil {
			return nil, nil, err
		}
	}
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	permitted, err := a.authorizeGet(ctx, resource, verbGet, namespace, name, ttlRequest())
	return resource, permitted, err
}

// authorizeGet checks whether the viewer may do d, a get of an object or of its logs. It returns the filter that the object
// must match. Cached decisions may be at most as old as old.
func (a *Access) authorizeGet(ctx context.Context, r *Resource, verb accessVerb, namespace, name string, ttl decisionTTL) (*filter, error) {
	f := &filter{name: name}
	if namespace != "" {
		f.namespaces = []string{namespace}
	}
	if err := a.restrict(ctx, r, f, verb, ttl); err != nil || f.selector == nil && !f.needsRow() {
		return f, err
	}
	// A link that selects by labels or words has conditions on the object's row, so the row itself must match.
	snapshot, err := a.Snapshot(ctx, Query{Resource: r.Ref(), Namespaces: f.namespaces, Name: name}, staleReadTimeout)
	if err != nil {
		return nil, err
	}
	f.columns = snapshot.Columns
	switch {
	case !snapshot.Synced:
		return nil, notKnownYet(r)
	case !slices.ContainsFunc(snapshot.Objects, f.match):
		return nil, notShared()
	}
	return f, nil
}

// notKnownYet returns the error for a link that selects by labels or words, if it is not known now whether it shares
// the object.
func notKnownYet(r *Resource) *Problem {
	return &Problem{
		Cause: Unavailable,
		Title: "Not known yet",
		Detail: fmt.Sprintf(
			"The list of %s is not available now, so it is not known whether the link includes this one; "+
				"retry in a moment.",
			r.Resource,
		),
	}
}

// readObject reads an object and masks it for the viewer. The filter seen must match the object again, because the object
// may be newer than the version that matched before. For an object from the API server, only the labels are matched,
// because there is no row.
func (a *Access) readObject(ctx context.Context, resource *Resource, permitted *filter, namespace, name string) ([]byte, error) {
	o, status := a.cachedObject(resource, namespace, name)
	live := o != nil && status.State == Live
	switch {
	case live && !permitted.match(o):
		return nil, notShared()
	case live:
		a.recordObject(resource, permitted, verbList, namespace, name)
		text, err := o.JSON()
		return a.maskText(resource, text, err)
	case permitted.needsRow():
		return nil, notKnownYet(resource)
	case !resource.Can("get"):
		return nil, invalid(
			"Not readable",
			"%s cannot be read one by one: the API serves only %s.",
			resource.Ref(), strings.Join(resource.Verbs, ", "),
		)
	case !a.cluster.reviews.allows(ctx, verbGet, resource, namespace, name, ttlRequest()):
		return nil, errForbidden(
			resource, verbGet,
			&filter{namespaces: slices.DeleteFunc([]string{namespace}, func(ns string) bool { return ns == "" })},
		)
	}
	text, err := a.cluster.get(ctx, resource.gvr(), namespace, name)
	if err != nil {
		return nil, problemOf(err, strings.TrimPrefix(namespace+"/"+name, "/"))
	}
	if permitted.selector != nil && !permitted.selector.Matches(labelText(listwatch.LabelsOf(text))) {
		return nil, notShared()
	}
	a.recordObject(resource, permitted, verbGet, namespace, name)
	return a.maskText(resource, text, nil)
}

// staleReadTimeout limits how long a read waits for the API server if the cache has a stale version of the object.
const staleReadTimeout = 2 * time.Second

// LastKnown reads an object like Object does, and then returns the status Live. If the API server does not answer, it
// returns the stale object from the cache. The status then contains the time since which the object is stale.
func (a *Access) LastKnown(ctx context.Context, ref, namespace, name string) (text []byte, status Status, err error) {
	resource, permitted, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, Status{}, err
	}
	cached, status := a.cachedObject(resource, namespace, name)
	if status.State != Stale || cached == nil || !permitted.match(cached) {
		cached = nil
	}
	readCtx := ctx
	if cached != nil {
		var cancel context.CancelFunc
		readCtx, cancel = context.WithTimeout(ctx, staleReadTimeout)
		defer cancel()
	}
	text, err = a.readObject(readCtx, resource, permitted, namespace, name)
	if p := new(Problem); cached != nil && errors.As(err, &p) && p.Cause == Unavailable {
		a.recordObject(resource, permitted, verbList, namespace, name)
		text, err = cached.JSON()
		text, err = a.maskText(resource, text, err)
		return text, status, err
	}
	return text, Status{State: Live}, err
}

// cachedObject returns the object from the cache, or nil, and the watch status of its resource.
func (a *Access) cachedObject(resource *Resource, namespace, name string) (*listwatch.Object, Status) {
	var namespaces []string
	if namespace != "" {
		namespaces = []string{namespace}
	}
	i := a.cluster.pool.find(a.scope(resource, ""))
	if i == nil {
		return nil, Status{}
	}
	status := i.currentState(namespaces).status
	o, _, _ := i.Get(keyOf(namespace, name))
	return o, status
}
