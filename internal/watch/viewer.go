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

// Access is everything that one Viewer may read of the cluster.
type Access struct {
	cluster *Cluster
	viewer  Viewer
	user    asker         // The viewer's user, if it has one.
	slots   chan struct{} // See AtOnce; nil means no limit.
	crowd   func() int    // See Crowded; nil means no other readers.
	grounds *Grounds      // See On; nil records no permissions.
	turn    Turn          // See InTurn; nil does not wait.
	reserve Reserve       // See Reserving; nil reserves nothing.
	grow    func(int64)   // See Growing; nil does nothing.
}

// A Turn waits until the caller may start work that keeps a processor busy. The caller must call leave exactly once,
// when that work is done.
type Turn func(ctx context.Context) (leave func(), err error)

// For returns everything that the viewer may read of the cluster.
func (c *Cluster) For(viewer Viewer) *Access {
	a := &Access{cluster: c, viewer: viewer}
	if viewer.User != nil {
		a.user = asker{viewer.User, sha256.Sum256([]byte(viewer.User.key()))}
	}
	return a
}

// Guest reports whether the viewer uses a share link and is limited to the parts of its scope.
func (a *Access) Guest() bool { return a.viewer.Scope != nil }

// AtOnce returns a copy of the access with a limit: at most n of its subscriptions keep or write a message at a time. A
// subscription that waits for a slot keeps no message. So memory does not grow with the number of waiting
// subscriptions, or with the length of their messages. Read each subscription in its own goroutine, because it keeps a
// message until the next one is requested.
func (a *Access) AtOnce(n int) *Access {
	bounded := *a
	bounded.slots = make(chan struct{}, n)
	return &bounded
}

// Reserving returns a copy of the access. Its subscriptions reserve the memory of each long message before they build
// it.
func (a *Access) Reserving(reserve Reserve) *Access {
	bounded := *a
	bounded.reserve = reserve
	return &bounded
}

// InTurn returns a copy of the access that calls turn before each scan of all rows of a resource. Such scans are a
// Snapshot, a Search, the start of a Subscription and the computation of a digest.
func (a *Access) InTurn(turn Turn) *Access {
	patient := *a
	patient.turn = turn
	return &patient
}

// Growing returns a copy of the access that calls grow before a read allocates memory that its reader's estimate does
// not include. bytes is negative when such memory is free again.
func (a *Access) Growing(grow func(bytes int64)) *Access {
	growing := *a
	growing.grow = grow
	return &growing
}

// Grow reports memory that a caller is about to allocate for what it has read. See Growing.
func (a *Access) Grow(bytes int64) {
	if a.grow != nil && bytes != 0 {
		a.grow(bytes)
	}
}

// AcquireProcessor waits until the caller may start work that keeps a processor busy. See InTurn.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	return a.inTurn(ctx)
}

// inTurn calls turn, if there is one.
func (a *Access) inTurn(ctx context.Context) (leave func(), err error) {
	if a.turn == nil {
		return func() {}, nil
	}
	return a.turn(ctx)
}

// Crowded returns a copy of the access whose readers share the processor with other readers. size returns how many
// readers there are at the time. Even with many readers, each one receives a single change at once. Further changes are
// batched: the more readers, the less often each one receives a batch, and the readers receive it at different times.
// This leaves processor time for other work.
func (a *Access) Crowded(size func() int) *Access {
	crowded := *a
	crowded.crowd = size
	return &crowded
}

// Known is a Resource and its watch status now.
type Known struct {
	Resource

	Status *Status // Nil if the resource is not watched.
	Count  *int    // The number of objects; nil if unknown.
}

// Resources returns every resource that discovery knows, in the order of their refs, and the parts of the API that
// discovery could not read. A discovery result older than 10 s is renewed; the call waits for the renewal no longer
// than wait. The status and count of a resource are nil unless a quick access review finds that the viewer may see all
// of its objects.
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

// tell adds the status and count of each watched resource of which the viewer may see all objects.
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

// looksPatience limits the time for the access reviews of all resources.
const looksPatience = 2 * time.Second

// seesAll reports for each resource whether the viewer may see all of its objects. A resource without a decision within
// looksPatience counts as not allowed.
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

// known returns the number of objects, or nil if it is unknown.
func (i *informer) known() *int {
	now := i.present(nil)
	if !now.synced || now.status.State.refused() {
		return nil
	}
	count := i.Len()
	return &count
}

// Counts returns the number of objects of each watched resource, by ref. It leaves out a resource if the number is
// unknown or the viewer may not see all objects.
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

// Resource finds a resource by its ref, such as "apps/v1/deployments".
func (a *Access) Resource(ctx context.Context, ref string) (*Resource, error) {
	if a.viewer.Scope != nil &&
		!slices.ContainsFunc(a.viewer.Scope.Parts, func(p Part) bool { return p.Resource == ref }) {
		return nil, notShared() // Even if there is no such resource: the answer must not reveal that.
	}
	return a.cluster.catalog.find(ctx, ref)
}

// opened is a query with the informer that answers it. The informer keeps watching until release is called.
type opened struct {
	resource *Resource
	filter   *filter
	informer *informer
	release  func()
}

// check determines which objects of its resource a query selects, and restricts them to what the viewer may see. It
// returns the filter even with an error from the access reviews.
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

// open acquires the informer that answers a checked query. A query with Watched acquires nothing: it reads only from an
// informer that is already running.
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

// notWatched is the error for a query with Watched if no informer of the resource is running.
func notWatched(r *Resource) *Problem {
	return &Problem{
		Cause:  Unavailable,
		Title:  "Not watched",
		Detail: fmt.Sprintf("Nobody looks at %s now; subscribe without watched to have it watched.", r.Ref()),
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

// seal returns the key that encrypts one viewer's cursors for one filter. It changes when the viewer's permissions
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
	// By namespace and name, or in the query's sort order. Read-only, because other readers share them.
	Objects []*Item
	Total   int // Includes the objects beyond the limit.
	Status  Status
	Synced  bool   // Objects is complete; otherwise the first list has not finished.
	Part    bool   // There may be other objects that the viewer may not see.
	Cursor  string // Empty while not Synced, and if a limit left out objects, because resuming would never send those.
}

// Snapshot reads the result of the query. It waits for the first list at most as long as wait, then returns what is
// known, with its Status.
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
			"Not a field selector", "The API server refuses %q for %s: %s", q.Fields, q.Resource, now.status.Reason,
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

// first scans the result of a query, after inTurn has returned. checked is the time of the query's last access review.
// first repeats that review if it is too old.
func (a *Access) first(ctx context.Context, open *opened, q *Query, checked time.Time) (*listing, int, present, error) {
	check := func() error {
		if time.Since(checked) <= askedAgain().allowed {
			return nil
		}
		checked = time.Now() // A permission may have been revoked in the meantime.
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

// Estimated bytes per row.
const (
	// listedMemory is for a row in a list of rows.
	listedMemory = 8
	// scannedMemory is for a row in a list that grows by doubling, and rankedMemory is for a row in a sorted copy of
	// all rows.
	scannedMemory, rankedMemory = 3 * listedMemory, 56
	// maskedMemory is for a row in a guest's list of masked rows (104 bytes measured).
	maskedMemory = 104
)

// scanMemory estimates the bytes that a scan of rows allocates for this reader alone.
func (q *Query) scanMemory(f *filter, rows int64) int64 {
	switch {
	case q.Sort != "" || q.Limit > 0:
		return rankedMemory * rows
	case f.everything():
		return 0 // Readers share the list.
	}
	return scannedMemory * rows
}

// Object returns one object as redacted JSON: from the cache if its status is Live, otherwise from the API server.
func (a *Access) Object(ctx context.Context, ref, namespace, name string) ([]byte, error) {
	resource, seen, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	return a.object(ctx, resource, seen, namespace, name)
}

// readable finds the resource of an object that the viewer may read, and the filter that the object must match.
func (a *Access) readable(ctx context.Context, ref, namespace, name string) (*Resource, *filter, error) {
	resource, err := a.Resource(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if resource.Namespaced != (namespace != "") {
		return nil, nil, invalid(
			"Which object?",
			"A namespaced resource needs a namespace, others need _ in its place; %s %s.",
			resource.Ref(), map[bool]string{true: "is namespaced", false: "is not"}[resource.Namespaced],
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

// mayGet checks whether the viewer may get an object, or its logs. It returns the filter that the object must match,
// from decisions at most as old as the given age.
func (a *Access) mayGet(ctx context.Context, r *Resource, d deed, namespace, name string, old age) (*filter, error) {
	f := &filter{name: name}
	if namespace != "" {
		f.namespaces = []string{namespace}
	}
	if err := a.narrow(ctx, r, f, d, old); err != nil || f.selector == nil && !f.ofRows() {
		return f, err
	}
	// A link that selects by labels or words applies to the object's row, so the row itself must match.
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

// notKnownYet is the error if a link selects by labels or words, and the objects are not known now.
func notKnownYet(r *Resource) *Problem {
	return &Problem{
		Cause: Unavailable,
		Title: "Not known yet",
		Detail: fmt.Sprintf(
			"It is not known now which %s there are, nor whether this one was shared with you; ask again in a moment.",
			r.Resource,
		),
	}
}

// object reads an object that the viewer may read, and masks it for the viewer. The object must match the filter again,
// because it may be newer than the version that matched before. A response of the API server has labels to match, but
// no row.
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
			"%s cannot be read one by one: the API serves %s alone.",
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

// LastKnown works like Object and returns the status Live. If the API server does not answer, it returns the stale
// object from the cache. The status then has the time since which the object is stale.
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

// held returns the object from the cache, or nil, and the watch status of its resource there.
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
