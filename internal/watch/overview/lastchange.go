package overview

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/flight"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// sinceTolerance is the time after the start of a problem in which a change still counts as made before the problem.
// The start is not exact, because the times of conditions have no fractions of a second.
const sinceTolerance = 2 * time.Second

func isBefore(c *Change, since time.Time) bool { return !c.At.After(since.Add(sinceTolerance)) }

// setLastChange sets the last change of a finding to one of these changes, or to nil.
func setLastChange(p *Finding, changes []Change) {
	others := p.Chain
	if p.Cause != nil {
		others = append(slices.Clone(others), p.Cause.Object)
	}
	p.LastChange = forFinding(p, lastChange(changes, p.Object, others, p.Since))
}

// forFinding returns a copy of a change in which IsLater is set for a finding. If c is nil, it returns nil.
func forFinding(p *Finding, c *Change) *Change {
	if c == nil {
		return nil
	}
	last := *c
	last.IsLater = p.hasStart && !isBefore(c, p.Since)
	return &last
}

// lastChange returns the newest change that an object or one of the other objects had before the object's problem
// began. Without such a change, it returns the first change of the object after the start of the problem, or nil. The
// parameter changes is sorted by time, the newest first.
func lastChange(changes []Change, o verdict.Object, others []verdict.Object, since time.Time) (last *Change) {
	var later *Change
	for n := range changes {
		c := &changes[n]
		isOwn := c.Object == o
		switch {
		case !isOwn && !slices.Contains(others, c.Object):
		case !isBefore(c, since):
			if isOwn {
				later = c
			}
		case last == nil || isOwn && last.Object != o && c.At.Equal(last.At):
			last = c
		}
	}
	return cmp.Or(last, later)
}

// maxLastChanges is the maximum number of findings whose last change is read from the API server.
const maxLastChanges = 20

// addLastChanges reads the last change of the specification for findings whose objects last changed before this program
// watched them. It requests the objects from the API server, because the cache has no managedFields.
func (b *builder) addLastChanges(ctx context.Context) {
	if b.isGuest() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, b.deps.Timeout)
	defer cancel()
	for n := range b.result.Problems[:min(maxLastChanges, len(b.result.Problems))] {
		p := &b.result.Problems[n]
		if p.LastChange == nil && p.Kind != "Pod" {
			p.LastChange = forFinding(p, b.deps.LastChange(ctx, p.Object))
		}
		if p.LastChange == nil {
			p.LastChange = lastChangeOfCause(ctx, b, p)
		}
	}
}

// lastChangeOfCause reads the last change of the object that explains a finding. It returns nil if this change is from
// after the start of the problem.
func lastChangeOfCause(ctx context.Context, b *builder, p *Finding) *Change {
	c := p.Cause
	if c == nil || c.Missing || c.Kind == "Pod" || c.Object == p.Object || !b.seesObject(&c.Object) {
		return nil
	}
	if change := b.deps.LastChange(ctx, c.Object); change != nil && isBefore(change, p.Since) {
		return change
	}
	return nil
}

// lastChangeAge is how long the last change of an object is cached. An outdated entry hides no newer change, because
// the watch records newer changes in its history.
const lastChangeAge = 5 * time.Minute

// LastChanges reads the last change of an object from its managedFields, for changes that this program did not watch.
type LastChanges struct {
	find   func(ctx context.Context, ref string) (*resource.Resource, error)
	client *listwatch.Client
	cache  *flight.Cache[verdict.Object, *Change]
}

// NewLastChanges returns LastChanges that find resources with find, and read objects with client.
func NewLastChanges(
	find func(ctx context.Context, ref string) (*resource.Resource, error), client *listwatch.Client,
) *LastChanges {
	return &LastChanges{find: find, client: client, cache: flight.New[verdict.Object, *Change](MaxFindings, lastChangeAge)}
}

// Of returns the newest change of an object's specification, according to its managedFields, or nil if unknown. Changes
// by controllers do not count.
func (l *LastChanges) Of(ctx context.Context, o verdict.Object) *Change {
	isFresh := func(_ *Change, readAt time.Time) bool { return time.Since(readAt) < lastChangeAge }
	change, _ := l.cache.Get(ctx, o, isFresh, func(ctx context.Context) *Change {
		r, err := l.find(ctx, o.Resource)
		if err != nil {
			return nil
		}
		by, created, err := l.client.SpecAuthor(ctx, r.GVR(), o.Namespace, o.Name, fieldmanager.IsController)
		if err != nil || by == nil {
			return nil // Ignore the error: the finding is then shown without a last change.
		}
		change := &Change{
			Object: o, At: by.Time, By: by.Manager, IsCreation: fieldmanager.IsCreation(by.Time, created),
		}
		if !change.IsCreation {
			change.What = partsText(by.Parts)
		}
		return change
	})
	return change
}

// partsText returns the changed parts of an object, such as "data". If one of several parts has changed, and it is
// unknown which, their names are separated by slashes. The text is empty for the spec.
func partsText(parts []string) string {
	if text := strings.Join(parts, "/"); text != "spec" {
		return text
	}
	return ""
}
