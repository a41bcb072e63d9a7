package operator

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// kindReason matches a reason about the objects of a kind in the namespace: there are too many, or the only one does
// not fit. Operator Lifecycle Manager sets TooManyOperatorGroups and UnsupportedOperatorGroup.
var kindReason = regexp.MustCompile(`^(TooMany|Multiple|Unsupported)([A-Z][A-Za-z]*?)s?$`)

// surplus returns the object that the reason in the status of the subject is about: the newest one of several objects
// in the namespace, or the only one. The object has the API group of the subject. Without such a reason, surplus
// returns nil.
func surplus(s *subject.Subject, _ string) *neighbor.Neighbor {
	found := kindReason.FindStringSubmatch(neighbor.Decode[struct {
		Status struct {
			Reason string `json:"reason"`
		} `json:"status"`
	}](s.Object).Status.Reason)
	if found == nil {
		return nil
	}
	kinds := s.Named(s.ID, &neighbor.Mention{Kind: found[2], Group: s.ID.Group, Name: "-"})
	if len(kinds) != 1 || kinds[0].ID.Kind == s.ID.Kind {
		return nil
	}
	kind, namespace := kinds[0].ID.Kind, kinds[0].ID.Namespace()
	all := s.All(kind, namespace, maxObjects)
	for n := range all {
		subject.Follow(s, &all[n])
	}
	isOne := found[1] == "Unsupported"
	if len(all) == 0 || isOne != (len(all) == 1) || len(all) == maxObjects || !subject.KnowsAll(s, kind, namespace) {
		return nil
	}
	newest := slices.MaxFunc(all, func(a, b neighbor.Neighbor) int {
		return cmp.Or(a.Object.Created().Compare(b.Object.Created()), cmp.Compare(a.ID.Key, b.ID.Key))
	})
	return &newest
}
