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

// Access is the cluster as one Viewer may see it.
type Access struct {
	cluster *Cluster
	viewer  Viewer
	user    asker         // Of the viewer, where it has a user.
	slots   chan struct{} // See AtOnce; nil for any number.
	crowd   func() int    // See Crowded; nil for alone.
	grounds *Grounds      // See On; nil where none are noted.
	turn    Turn          // See InTurn; nil for at once.
	reserve Reserve       // See Reserving; nil reserves nothing.
	grow    func(int64)   // See Growing; nil does nothing.
}

// A Turn waits until something may be done that keeps a processor busy. It has been done
// when leave is called, once.
type Turn func(ctx context.Context) (leave func(), err error)

// For returns the cluster as the viewer may see it.
func (c *Cluster) For(viewer Viewer) *Access {
	a := &Access{cluster: c, viewer: viewer}
	if viewer.User != nil {
		a.user = asker{viewer.User, sha256.Sum256([]byte(viewer.User.key()))}
	}
	return a
}

// Guest reports whether the viewer came by a share link and is limited to its parts.
func (a *Access) Guest() bool { return a.viewer.Scope != nil }

// AtOnce returns the same access, of whose subscriptions n at a time hold a message,
// or write one: those that wait for their turn hold none, however many they are and
// however long the messages. Each is to be read by a goroutine of its own, as a
// message is held until the next is asked for.
func (a *Access) AtOnce(n int) *Access {
	bounded := *a
	bounded.slots = make(chan struct{}, n)
	return &bounded
}

// Reserving returns the same access, whose subscriptions reserve the memory of each long message before they build it.
func (a *Access) Reserving(reserve Reserve) *Access {
	bounded := *a
	bounded.reserve = reserve
	return &bounded
}

// InTurn returns the same access, which goes through all rows of a resource in its turn:
// for a Snapshot, a Search, and where a Subscription begins, or counts a digest.
func (a *Access) InTurn(turn Turn) *Access {
	patient := *a
	patient.turn = turn
	return &patient
}

// Growing returns the same access, which calls grow before a read allocates memory that its reader's estimate does not
// include. bytes is negative when such memory is free again.
func (a *Access) Growing(grow func(bytes int64)) *Access {
	growing := *a
	growing.grow = grow
	return &growing
}

// Grow reports memory that a caller is about to allocate for what it has read, see Growing.
func (a *Access) Grow(bytes int64) {
	if a.grow != nil && bytes != 0 {
		a.grow(bytes)
	}
}

// AcquireProcessor waits until work that keeps a processor busy may be done, see InTurn.
func (a *Access) AcquireProcessor(ctx context.Context) (release func(), err error) {
	return a.inTurn(ctx)
}

// inTurn waits for the turn, where there are turns.
func (a *Access) inTurn(ctx context.Context) (leave func(), err error) {
	if a.turn == nil {
		return func() {}, nil
	}
	return a.turn(ctx)
}

// Crowded returns the same access, whose readers are some of a crowd, of as many as
// size says at the time. A large one is told of one change at once, and of more that
// follow the more seldom, and not all at a time: that leaves time for others.
func (a *Access) Crowded(size func() int) *Access {
	crowded := *a
	crowded.crowd = size
	return &crowded
}

// Known is a Resource and how well it is known now.
type Known struct {
	Resource

	Status *Status // Nil while nobody watches it.
	Count  *int    // Objects; nil where that is not known.
}

// Resources returns every resource that discovery knows, by ref, and the parts
// of the API that could not be read. What discovery told more than 10 s ago is
// asked for again, and waited for no longer than wait. How well a resource is known
// is not told where it cannot be found out soon whether the viewer may see all of it.
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

// tell adds how well resources are known, where the viewer may see all of them.
func (a *Access) tell(ctx context.Context, known []Known) {
	var watched []*Known
	var informers []*informer
	var resources []*Resource
	for n := range known {
		if i := a.cluster.pool.find(wire.Scope{Resource: known[n].gvr()}); i != nil {
			watched, informers, resources = append(watched, &known[n]), append(informers, i), append(resources, &known[n].Resource)
		}
	}
	for n, all := range a.seesAll(ctx, resources) {
		if all {
			now := informers[n].present(nil)
			watched[n].Status, watched[n].Count = &now.status, informers[n].known()
		}
	}
}

// looksPatience bounds how long it is asked what a viewer may see of all kinds.
const looksPatience = 2 * time.Second

// seesAll reports of which of the resources the viewer may see all. Of what cannot be
// found out soon it may not.
func (a *Access) seesAll(ctx context.Context, resources []*Resource) []bool {
	if a.viewer.User == nil || a.viewer.Scope != nil {
		return slices.Repeat([]bool{a.viewer.Program && a.viewer.Scope == nil}, len(resources))
	}
	ctx, cancel := context.WithTimeout(ctx, looksPatience)
	defer cancel()
	all, _ := several(ctx, resources, func(ctx context.Context, r *Resource) (bool, error) { // What is not known is not told.
		return a.cluster.guard.may(ctx, a.user, toWatch, r, "", "", askedOnce())
	})
	for n, r := range resources {
		if all[n] {
			a.tells(r, &filter{}, toWatch)
		}
	}
	return all
}

// known is how many objects there are; nil where that is not known.
func (i *informer) known() *int {
	now := i.present(nil)
	if !now.synced || now.status.State.refused() {
		return nil
	}
	count := i.Len()
	return &count
}

// Counts returns how many objects there are of each resource that is watched, by
// its ref, where that is known.
func (a *Access) Counts(ctx context.Context) map[string]int {
	informers := slices.DeleteFunc(a.cluster.pool.informers(), func(i *informer) bool { return i.scope != (wire.Scope{Resource: i.scope.Resource}) })
	counts := make(map[string]int)
	for n, all := range a.seesAll(ctx, kindsOf(informers)) {
		if count := informers[n].known(); count != nil && all {
			counts[resourceOf(informers[n]).Ref()] = *count
		}
	}
	return counts
}

// Resource finds a resource by its ref, as "apps/v1/deployments".
func (a *Access) Resource(ctx context.Context, ref string) (*Resource, error) {
	if a.viewer.Scope != nil && !slices.ContainsFunc(a.viewer.Scope.Parts, func(p Part) bool { return p.Resource == ref }) {
		return nil, notShared() // Whether there is one, or not.
	}
	return a.cluster.catalog.find(ctx, ref)
}

// opened is a query that is answered: by an informer that is held until release is
// called.
type opened struct {
	resource *Resource
	filter   *filter
	informer *informer
	release  func()
}

// check finds out what of its resource a query is about, and what of that the viewer
// may see. Where that is nothing, or not known, the filter is the query's.
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

// open holds the informer that answers a query which was checked; of what is to be
// read only while it is watched, it holds nothing.
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

// notWatched is told to who wants to read only what is watched.
func notWatched(r *Resource) *Problem {
	return &Problem{Cause: Unavailable, Title: "Not watched", Detail: fmt.Sprintf("Nobody looks at %s now; subscribe without watched to have it watched.", r.Ref())}
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

// seal returns the seal for one viewer's cursors of one filter. It differs for a viewer
// who may see more, or less, than before.
func (a *Access) seal(q *Query, f *filter, i *informer) seal {
	return a.cluster.cursors.seal(fmt.Sprintf("%q %q %q %t %q %q %q %q %v", a.viewer.Key(), q.Resource, f.namespaces, f.hides, q.Labels, q.Fields, q.Name, q.Text, i.scope))
}

// Item is one object of a Snapshot.
type Item = wire.Object

// Column is one column of a Snapshot's table.
type Column = wire.Column

// A Snapshot is what there is of a query at one moment.
type Snapshot struct {
	Resource *Resource
	Columns  []Column
	Objects  []*Item // By namespace and name, or as the query sorts them. Not to be written to: others read them.
	Total    int     // Those beyond a limit among them.
	Status   Status
	Synced   bool   // The objects are all there are; otherwise the list is on its way.
	Part     bool   // There may be others that the viewer may not see.
	Cursor   string // Empty while not Synced, and where a limit left some out: they would be missing for ever.
}

// Snapshot reads what the query asks for. It waits for a first list for as long
// as wait says, then answers with what is known, which its Status tells.
func (a *Access) Snapshot(ctx context.Context, q Query, wait time.Duration) (*Snapshot, error) {
	resource, err := a.Resource(ctx, q.Resource)
	if err != nil {
		return nil, err
	}
	filter, err := a.check(ctx, &q, resource, toList, askedOnce())
	if err != nil {
		return nil, err
	}
	open, err := a.open(&q, resource, filter) //nolint:contextcheck // An informer outlives who starts it.
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
	snapshot := &Snapshot{Resource: resource, Columns: now.columns, Status: now.status, Synced: now.synced, Part: filter.part}
	if !now.synced && now.status.State == Failed && now.status.senseless && q.Fields != "" {
		return nil, invalid("Not a field selector", "The API server refuses %q for %s: %s", q.Fields, q.Resource, now.status.Reason)
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

// first is what there is of a query that was checked at a time, in turn.
func (a *Access) first(ctx context.Context, open *opened, q *Query, checked time.Time) (*listing, int, present, error) {
	check := func() error {
		if time.Since(checked) <= askedAgain().allowed {
			return nil
		}
		checked = time.Now() // A right may have gone meanwhile.
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
	if scan > 0 { // Otherwise others share the list.
		a.Grow(listedMemory*int64(cap(found.objects)) - scan)
	}
	return found, total, now, nil
}

// Memory of a row in bytes.
const (
	// listedMemory is that in a list of rows.
	listedMemory = 8
	// scannedMemory is that in a list that grows by doubling, and rankedMemory that in a copy of all rows that is sorted.
	scannedMemory, rankedMemory = 3 * listedMemory, 56
	// maskedMemory is that of a row in a guest's list of masked rows (104 bytes measured).
	maskedMemory = 104
)

// scanMemory estimates what a scan of some rows allocates for its reader alone.
func (q *Query) scanMemory(f *filter, rows int64) int64 {
	switch {
	case q.Sort != "" || q.Limit > 0:
		return rankedMemory * rows
	case f.everything():
		return 0 // Others share the list.
	}
	return scannedMemory * rows
}

// Object returns one object as redacted JSON: from the cache where that is
// live, otherwise from the API server.
func (a *Access) Object(ctx context.Context, ref, namespace, name string) ([]byte, error) {
	resource, seen, err := a.readable(ctx, ref, namespace, name)
	if err != nil {
		return nil, err
	}
	return a.object(ctx, resource, seen, namespace, name)
}

// readable finds the resource of an object that the viewer may read, and the filter
// through which they see it.
func (a *Access) readable(ctx context.Context, ref, namespace, name string) (*Resource, *filter, error) {
	resource, err := a.Resource(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if resource.Namespaced != (namespace != "") {
		return nil, nil, invalid("Which object?", "A namespaced resource needs a namespace, others need _ in its place; %s %s.", resource.Ref(),
			map[bool]string{true: "is namespaced", false: "is not"}[resource.Namespaced])
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

// mayGet returns why the viewer may not get an object, or its logs; else the filter
// through which they see it, as it was known a moment ago.
func (a *Access) mayGet(ctx context.Context, r *Resource, d deed, namespace, name string, old age) (*filter, error) {
	f := &filter{name: name}
	if namespace != "" {
		f.namespaces = []string{namespace}
	}
	if err := a.narrow(ctx, r, f, d, old); err != nil || f.selector == nil && !f.ofRows() {
		return f, err
	}
	// By its labels and words: those of its row, which must be shared itself.
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

// notKnownYet is told where what was shared is shared by what is not known now.
func notKnownYet(r *Resource) *Problem {
	return &Problem{Cause: Unavailable, Title: "Not known yet", Detail: fmt.Sprintf("It is not known now which %s there are, nor whether this one was shared with you; ask again in a moment.", r.Resource)}
}

// object reads an object that may be read, as the viewer may see it. What is read must
// itself pass their filter: it may be newer than what did. The labels of what the API
// server gives can be looked at, but not its row.
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
		return nil, invalid("Not readable", "%s cannot be read one by one: the API serves %s alone.", resource.Ref(), strings.Join(resource.Verbs, ", "))
	case !a.cluster.reviews.allows(ctx, toGet, resource, namespace, name, askedOnce()):
		return nil, refused(resource, toGet, &filter{namespaces: slices.DeleteFunc([]string{namespace}, func(ns string) bool { return ns == "" })})
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

// stalePatience bounds how long the API server is asked for an object that the
// cache holds as it was.
const stalePatience = 2 * time.Second

// LastKnown is Object, and its status is Live; but where the API server does not
// answer it is the object as the cache holds it, and the status says since when.
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

// held is what the cache has of an object, nil for nothing, and how well its kind
// is known there.
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
