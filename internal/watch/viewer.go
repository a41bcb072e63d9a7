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

	"glasshouse/internal/watch/wire"
)

// Access is everything that one Viewer may read of the cluster. Methods that return a copy set further limits.
type Access struct {
	cluster *Cluster
	viewer  Viewer
	user    asker         // The viewer's user, in the form for access reviews; empty if there is none.
	slots   chan struct{} // See AtOnce; nil means no limit.
	crowd   func() int    // See Crowded; nil means that there are no other readers.
	grounds *Grounds      // See On; nil records no permissions.
	turn    Turn          // See InTurn; nil means that scans do not wait.
	reserve Reserve       // See Reserving; nil reserves nothing.
	grow    func(int64)   // See Growing; nil does nothing.
}

// A Turn is a function that waits until the caller may start work that keeps a processor busy. The caller must call
// leave exactly once, when that work is done.
type Turn func(ctx context.Context) (leave func(), err error)

// For returns access to everything that the viewer may read of the cluster.
func (c *Cluster) For(viewer Viewer) *Access {
	a := &Access{cluster: c, viewer: viewer}
	if viewer.User != nil {
		a.user = asker{viewer.User, sha256.Sum256([]byte(viewer.User.key()))}
	}
	return a
}

// Guest reports whether the viewer uses a share link and is limited to the parts of its scope.
func (a *Access) Guest() bool { return a.viewer.Scope != nil }

// AtOnce returns a copy of the access with a limit: at most n of its subscriptions build a message, or have one in
// memory, at a time. A subscription that waits for a slot has no message. Therefore memory does not grow with the
// number of waiting subscriptions, or with the length of their messages.
//
// Read each subscription in its own goroutine, because a subscription uses its slot until its next message is
// requested.
func (a *Access) AtOnce(n int) *Access {
	bounded := *a
	bounded.slots = make(chan struct{}, n)
	return &bounded
}

// Reserving returns a copy of the access whose subscriptions call reserve before they build a long message, to reserve
// memory for it.
func (a *Access) Reserving(reserve Reserve) *Access {
	bounded := *a
	bounded.reserve = reserve
	return &bounded
}

// InTurn returns a copy of the access that calls turn before each scan of all rows of a resource. A Snapshot, a Search,
// the start of a Subscription and the computation of a digest are such scans.
func (a *Access) InTurn(turn Turn) *Access {
	patient := *a
	patient.turn = turn
	return &patient
}

// Growing returns a copy of the access that calls grow before a read allocates memory that the estimate for the reader
// does not include. bytes is negative when such memory is freed.
func (a *Access) Growing(grow func(bytes int64)) *Access {
	growing := *a
	growing.grow = grow
	return &growing
}

// Grow reports that the caller is about to allocate memory, in bytes, for data that it has read. See Growing.
func (a *Access) Grow(bytes int64) {
	if a.grow != nil && bytes != 0 {
		a.grow(bytes)
	}
}

// AcquireProcessor waits until the caller may start work that keeps a processor busy. The caller must call release when
// the work is done. See InTurn.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	return a.inTurn(ctx)
}

// inTurn calls the function that was passed to InTurn, if there is one.
func (a *Access) inTurn(ctx context.Context) (leave func(), err error) {
	if a.turn == nil {
		return func() {}, nil
	}
	return a.turn(ctx)
}

// Crowded returns a copy of the access whose readers share the processor with other readers. size returns the current
// number of readers.
//
// Even with many readers, each one receives a single change at once. Further changes are sent in batches. With more
// readers, each one receives batches less often, and not all at the same time. This leaves processor time for other
// work.
func (a *Access) Crowded(size func() int) *Access {
	crowded := *a
	crowded.crowd = size
	return &crowded
}

// Known is a Resource that discovery found, with its present watch status.
type Known struct {
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
func (a *Access) Resources(ctx context.Context, wait time.Duration) ([]Known, []Gap, error) {
	a.cluster.catalog.renew(ctx, wait)
	resources, gaps, err := a.cluster.catalog.all()
	if err != nil {
		return nil, nil, err
	}
	var known []Known
	for n := range resources {
		if !a.viewer.mayKnow(&resources[n]) {
			continue
		}
		known = append(known, Known{Resource: resources[n]})
	}
	a.tell(ctx, known)
	if a.viewer.Scope != nil {
		gaps = nil
	}
	return known, gaps, nil
}

// tell adds the status and count to each watched resource of which the viewer may see all objects.
func (a *Access) tell(ctx context.Context, known []Known) {
	var watched []*Known
	var informers []*informer
	var resources []*Resource
	for n := range known {
		if i := a.cluster.pool.find(wire.Scope{Resource: known[n].gvr()}); i != nil {
			watched, informers, resources = append(watched, &known[n]), append(informers, i),
				append(resources, &known[n].Resource)
		}
	}
	for n, all := range a.seesAll(ctx, resources) {
		if all {
			now := informers[n].present(nil)
			watched[n].Status, watched[n].Count = &now.status, informers[n].known()
		}
	}
}

// looksPatience is the time limit for the access reviews of all resources together.
const looksPatience = 2 * time.Second

// seesAll returns, for each resource, whether the viewer may see all of its objects. A resource without a decision
// within looksPatience counts as not allowed.
func (a *Access) seesAll(ctx context.Context, resources []*Resource) []bool {
	if a.viewer.User == nil || a.viewer.Scope != nil {
		return slices.Repeat([]bool{a.viewer.Program && a.viewer.Scope == nil}, len(resources))
	}
	ctx, cancel := context.WithTimeout(ctx, looksPatience)
	defer cancel()
	// A resource without a decision counts as not allowed.
	all, _ := several(ctx, resources, func(ctx context.Context, r *Resource) (bool, error) {
		return a.cluster.guard.may(ctx, a.user, toWatch, r, "", "", askedOnce())
	})
	for n, r := range resources {
		if all[n] {
			a.tells(r, &filter{}, toWatch)
		}
	}
	return all
}

// known returns the number of objects of an informer, or nil if it is unknown.
func (i *informer) known() *int {
	now := i.present(nil)
	if !now.synced || now.status.State.refused() {
		return nil
	}
	count := i.Len()
	return &count
}

// Counts returns the number of objects of each watched resource; the key is its ref. It omits a resource if the number
// is unknown or the viewer may not see all objects.
func (a *Access) Counts(ctx context.Context) map[string]int {
	informers := slices.DeleteFunc(a.cluster.pool.informers(), func(i *informer) bool {
		return i.scope != (wire.Scope{Resource: i.scope.Resource})
	})
	counts := make(map[string]int)
	for n, all := range a.seesAll(ctx, kindsOf(informers)) {
		if count := informers[n].known(); count != nil && all {
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

// opened is a checked query with the informer that it reads from. The informer keeps running until release is called.
type opened struct {
	resource *Resource
	filter   *filter
	informer *informer
	release  func()
}

// check returns a filter for the objects that the query selects and the viewer may see. It returns the filter even if
// it also returns an error from the access reviews.
func (a *Access) check(ctx context.Context, q *Query, resource *Resource, d deed, old age) (*filter, error) {
	filter, err := newFilter(q, resource)
	if err != nil {
		return nil, err
	}
	if err := a.checkMasked(filter.fields, resource); err != nil {
		return nil, err
	}
	return filter, a.narrow(ctx, resource, filter, d, old)
}

// open acquires the informer that a checked query reads from. A query with Watched acquires nothing: it reads only from
// an informer that is already running.
func (a *Access) open(q *Query, resource *Resource, filter *filter) (*opened, error) {
	scope := a.scope(resource, filter.fields)
	if q.Watched {
		running := a.cluster.pool.find(scope)
		if running == nil {
			return nil, notWatched(resource)
		}
		return &opened{resource, filter, running, func() {}}, nil
	}
	var by holder
	if scope.Fields != "" {
		by = a.viewer.holder()
	}
	informer, release, err := a.cluster.pool.acquire(scope, resource, by)
	if err != nil {
		return nil, err
	}
	letGo, err := informer.ask(slices.Concat(filter.named, filter.reach), len(filter.reach) == 0)
	if err != nil {
		release()
		return nil, err
	}
	return &opened{resource, filter, informer, sync.OnceFunc(func() { letGo(); release() })}, nil
}

// notWatched returns the error for a query with Watched if no informer of the resource is running.
func notWatched(r *Resource) *Problem {
	return &Problem{
		Cause:  Unavailable,
		Title:  "Not watched",
		Detail: fmt.Sprintf("%s has no readers now; subscribe without watched to start a watch.", r.Ref()),
	}
}

// cursor returns the cursor of a snapshot at an offset.
func (a *Access) cursor(q *Query, f *filter, i *informer, version int, offset uint64) string {
	sealed := a.seal(q, f, i)
	if f.hides {
		restricted := sealed.newRestricted(i.epochOf(version), offset, time.Now())
		return string(restricted.append(nil))
	}
	return string(sealed.append(nil, i.epochOf(version), offset))
}

// seal returns the key that encrypts the viewer's cursors for one filter. The key changes when the viewer's permissions
// change, so older cursors become invalid.
func (a *Access) seal(q *Query, f *filter, i *informer) seal {
	return a.cluster.cursors.seal(fmt.Sprintf(
		"%q %q %q %t %q %q %q %q %v",
		a.viewer.Key(), q.Resource, f.namespaces, f.hides, q.Labels, q.Fields, q.Name, q.Text, i.scope,
	))
}

// Item is one object of a Snapshot.
type Item = wire.Object

// Column is one column of a Snapshot's table.
type Column = wire.Column

// A Snapshot is the complete result of a query at one cursor.
type Snapshot struct {
	Resource *Resource
	Columns  []Column
	// Objects is sorted by namespace and name, or by the query's sort order. It is read-only, because other readers
	// share the objects.
	Objects []*Item
	Total   int // The number of matching objects, including those beyond the limit.
	Status  Status
	Synced  bool   // Objects is complete; otherwise the first list is not finished.
	Part    bool   // Objects may exist that the viewer is not allowed to see.
	Cursor  string // Empty while not Synced, and if a limit left out objects, because resuming would never send those.
}

// Snapshot reads the result of the query. It waits for the first list of the informer at most as long as wait. Then it
// returns the objects that are known, with the Status.
func (a *Access) Snapshot(ctx context.Context, q Query, wait time.Duration) (*Snapshot, error) {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := a.check(ctx, &q, resource, toList, askedOnce())
	if err != nil {
		return nil, err
	}
	open, err := a.open(&q, resource, filter) //nolint:contextcheck // An informer outlives the reader that starts it.
	if err != nil {
		return nil, err
	}
	defer a.letGo(open)
	informer := open.informer
	began := time.Now()
	informer.wait(ctx, wait, func() bool { return filter.present(informer).status.State != Syncing })
	listing, total, now, err := a.first(ctx, open, &q, began)
	if err != nil {
		return nil, err
	}
	snapshot := &Snapshot{
		Resource: resource, Columns: now.columns, Status: now.status, Synced: now.synced, Part: filter.part,
	}
	if !now.synced && now.status.State == Failed && now.status.senseless && q.Fields != "" {
		return nil, invalid(
			"Invalid field selector", "The API server rejects %q for %s: %s", q.Fields, q.Resource, now.status.Reason,
		)
	}
	if !now.synced {
		return snapshot, ctx.Err()
	}
	a.tellsRows(open, now.version)
	snapshot.Objects, snapshot.Total = listing.objects, total
	if veil := a.veil(resource); veil != nil {
		a.Grow(maskedMemory * int64(len(listing.objects)))
		snapshot.Objects = make([]*Item, len(listing.objects))
		for n, o := range listing.objects {
			snapshot.Objects[n] = veil.Object(o)
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

// first reads the result of a query by scanning the rows, after inTurn has returned. checked is the time of the query's
// last access review; first repeats the review if it is too old.
func (a *Access) first(ctx context.Context, open *opened, q *Query, checked time.Time) (*listing, int, present, error) {
	check := func() error {
		if time.Since(checked) <= askedAgain().allowed {
			return nil
		}
		checked = time.Now() // Repeat the review, because a permission may have been revoked in the meantime.
		return a.narrow(ctx, open.resource, open.filter, toList, askedOnce())
	}
	if err := check(); err != nil {
		return nil, 0, present{}, err
	}
	leave, err := a.inTurn(ctx)
	if err != nil {
		return nil, 0, present{}, err
	}
	defer leave()
	if err := check(); err != nil {
		return nil, 0, present{}, err
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
	case f.everything():
		return 0 // Readers share the list.
	}
	return scannedMemory * rows
}

// Object returns one object as redacted JSON. It reads the object from the cache if the status there is Live, otherwise
// from the API server.
func (a *Access) Object(ctx context.Context, ref, namespace, name string) ([]byte, error) {
	resource, seen, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	return a.object(ctx, resource, seen, namespace, name)
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
	seen, err := a.mayGet(ctx, resource, toGet, namespace, name, askedOnce())
	return resource, seen, err
}

// mayGet checks whether the viewer may do d, a get of an object or of its logs. It returns the filter that the object
// must match. Cached decisions may be at most as old as old.
func (a *Access) mayGet(ctx context.Context, r *Resource, d deed, namespace, name string, old age) (*filter, error) {
	f := &filter{name: name}
	if namespace != "" {
		f.namespaces = []string{namespace}
	}
	if err := a.narrow(ctx, r, f, d, old); err != nil || f.selector == nil && !f.ofRows() {
		return f, err
	}
	// A link that selects by labels or words has conditions on the object's row, so the row itself must match.
	snapshot, err := a.Snapshot(ctx, Query{Resource: r.Ref(), Namespaces: f.namespaces, Name: name}, stalePatience)
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

// object reads an object and masks it for the viewer. The filter seen must match the object again, because the object
// may be newer than the version that matched before. For an object from the API server, only the labels are matched,
// because there is no row.
func (a *Access) object(ctx context.Context, resource *Resource, seen *filter, namespace, name string) ([]byte, error) {
	o, status := a.held(resource, namespace, name)
	live := o != nil && status.State == Live
	switch {
	case live && !seen.match(o):
		return nil, notShared()
	case live:
		a.tellsObject(resource, seen, toList, namespace, name)
		text, err := o.JSON()
		return a.seenText(resource, text, err)
	case seen.ofRows():
		return nil, notKnownYet(resource)
	case !resource.Can("get"):
		return nil, invalid(
			"Not readable",
			"%s cannot be read one by one: the API serves only %s.",
			resource.Ref(), strings.Join(resource.Verbs, ", "),
		)
	case !a.cluster.reviews.allows(ctx, toGet, resource, namespace, name, askedOnce()):
		return nil, refused(
			resource, toGet,
			&filter{namespaces: slices.DeleteFunc([]string{namespace}, func(ns string) bool { return ns == "" })},
		)
	}
	text, err := a.cluster.get(ctx, resource.gvr(), namespace, name)
	if err != nil {
		return nil, problemOf(err, strings.TrimPrefix(namespace+"/"+name, "/"))
	}
	if seen.selector != nil && !seen.selector.Matches(labelText(wire.LabelsOf(text))) {
		return nil, notShared()
	}
	a.tellsObject(resource, seen, toGet, namespace, name)
	return a.seenText(resource, text, nil)
}

// stalePatience limits how long a read waits for the API server if the cache has a stale version of the object.
const stalePatience = 2 * time.Second

// LastKnown reads an object like Object does, and then returns the status Live. If the API server does not answer, it
// returns the stale object from the cache. The status then contains the time since which the object is stale.
func (a *Access) LastKnown(ctx context.Context, ref, namespace, name string) (text []byte, status Status, err error) {
	resource, seen, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, Status{}, err
	}
	known, status := a.held(resource, namespace, name)
	if status.State != Stale || known == nil || !seen.match(known) {
		known = nil
	}
	asking := ctx
	if known != nil {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, stalePatience)
		defer cancel()
	}
	text, err = a.object(asking, resource, seen, namespace, name)
	if p := new(Problem); known != nil && errors.As(err, &p) && p.Cause == Unavailable {
		a.tellsObject(resource, seen, toList, namespace, name)
		text, err = known.JSON()
		text, err = a.seenText(resource, text, err)
		return text, status, err
	}
	return text, Status{State: Live}, err
}

// held returns the object from the cache, or nil, and the watch status of its resource.
func (a *Access) held(resource *Resource, namespace, name string) (*wire.Object, Status) {
	var namespaces []string
	if namespace != "" {
		namespaces = []string{namespace}
	}
	i := a.cluster.pool.find(a.scope(resource, ""))
	if i == nil {
		return nil, Status{}
	}
	status := i.present(namespaces).status
	o, _, _ := i.Get(keyOf(namespace, name))
	return o, status
}
