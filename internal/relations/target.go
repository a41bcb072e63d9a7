package relations

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

type target struct {
	objectrefs.Ref

	resource *resource.Resource // nil if the viewer has no access
	node     Node
	// needsOwners means that the field owners must be set, because the graph continues with these owners.
	needsOwners bool
	owners      []objectrefs.Ref
}

// target returns the object to which r refers. namespace is the namespace of the referring object. ok is false if the
// reference requires a namespace, but there is none.
func (f *finder) target(r *objectrefs.Ref, namespace string) (t *target, ok bool) {
	t = &target{Ref: *r, resource: f.known.byKind(r.Group, r.Kind)}
	if t.Namespace == "" {
		t.Namespace = namespace
	}
	t.node = Node{Kind: r.Kind, Name: r.Name, UID: r.UID, State: Unknown}
	if t.resource == nil {
		group := r.Group
		if group == "" {
			group = "core"
		}
		t.node.ID, t.node.Namespace = idOf(group+"/"+r.Kind, t.Namespace, r.Name), t.Namespace
		t.node.Reason = fmt.Sprintf("Kind %s of API group %s is not available in this cluster.", r.Kind, group)
		if f.access.IsGuest() { // Do not reveal whether the kind exists.
			t.node.State = Forbidden
			t.node.Reason = fmt.Sprintf("This link does not include kind %s.", r.Kind)
		}
		return t, true
	}
	if !t.resource.Namespaced {
		t.Namespace = ""
	}
	t.node.ID, t.node.Ref, t.node.Namespace =
		idOf(nameOf(t.resource), t.Namespace, r.Name), t.resource.Ref(), t.Namespace
	return t, t.resource.Namespaced == (t.Namespace != "")
}

// readTargets determines whether the targets exist. It reads the targets that no searched list covers, a few at a time.
func (f *finder) readTargets(ctx context.Context, targets ...*target) {
	var reading sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for _, t := range targets {
		if t.resource == nil {
			continue
		}
		e, missing := f.entryOf(t.resource, t.Namespace, t.Name)
		switch {
		case e != nil:
			t.setFound(e.UID(), e.owners, e.Verdict().Severity())
			if e.id != "" && t.node.State == Present {
				t.node.ID = e.id // The graph already has a node of this object, under this ID.
			}
		case missing:
			t.node.State = Missing
		case f.reads >= maxReads:
			t.node.Reason = fmt.Sprintf(
				"Limit of %d individual lookups reached.", maxReads,
			)
		default:
			f.reads++
			slots <- struct{}{}
			reading.Go(func() {
				defer func() { <-slots }()
				t.read(ctx, f.access)
			})
		}
	}
	reading.Wait()
}

func (t *target) read(ctx context.Context, access *watch.Access) {
	var text []byte
	index := watch.IndexOf(access)
	found, err := index.Existence(ctx, t.resource, t.Namespace, t.Name)
	switch {
	case err != nil:
	case found.IsKnown && !found.Exists:
		t.node.State = Missing
		return
	case found.IsKnown && !t.needsOwners:
		t.setFound(found.UID, nil, index.Severity(t.resource, t.Namespace, t.Name))
		return
	default:
		text, err = access.Object(ctx, t.resource.Ref(), t.Namespace, t.Name)
	}
	if err == nil {
		o := objectrefs.Of(text)
		t.setFound(o.UID, o.Owners, index.Severity(t.resource, t.Namespace, t.Name))
		return
	}
	t.node.Reason = err.Error()
	if p, ok := errors.AsType[*status.Problem](err); ok {
		t.node.Reason = access.PublicDetail(p)
		switch p.Cause {
		case status.Unknown:
			t.node.State, t.node.Reason = Missing, ""
		case status.Refused:
			t.node.State = Forbidden
		case status.Invalid, status.Unavailable, status.Unauthenticated:
		}
	}
}

// setFound records that an object with the target's name exists. If the target has another UID than this object, the
// target is missing.
func (t *target) setFound(uid string, owners []objectrefs.Ref, severity verdict.Severity) {
	if t.UID != "" && t.UID != uid {
		t.node.State, t.node.Reason = Missing, "Another object has this name."
		t.node.ID += "@" + t.UID
		return
	}
	t.node.UID, t.node.State, t.owners = uid, Present, owners
	t.node.Severity = severityText(severity)
}
