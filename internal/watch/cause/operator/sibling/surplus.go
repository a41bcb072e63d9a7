package sibling

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// kindReason matches a reason about the objects of a kind in the namespace: there are too many, or the only one does
// not fit. Operator Lifecycle Manager sets TooManyOperatorGroups and UnsupportedOperatorGroup.
var kindReason = regexp.MustCompile(`^(TooMany|Multiple|Unsupported)([A-Z][A-Za-z]*?)s?$`)

// Surplus returns the object that the reason in the status of the subject is about, or nil. If the reason is that one
// object does not fit, this is the only object of the kind in the namespace. If there are too many objects, it is the
// one to which the subject does not belong. If this applies to several objects, Surplus returns the newest, and the
// sentence of the cause names all of them. The objects have the API group of the subject.
func Surplus(s *subject.Subject, sentence string) *verdict.Cause {
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
	all, isComplete := subject.AllOf(s, kind, namespace, maxObjects)
	for n := range all {
		subject.Follow(s, &all[n])
	}
	isOne := found[1] == "Unsupported"
	if len(all) == 0 || isOne != (len(all) == 1) || !isComplete {
		return nil
	}
	candidates := slices.Clone(all)
	if !isOne {
		candidates = slices.DeleteFunc(candidates, func(n neighbor.Neighbor) bool { return belongsTo(s, &n) })
	}
	if len(candidates) == 0 {
		candidates = all
	}
	newest := slices.MaxFunc(candidates, func(a, b neighbor.Neighbor) int {
		return cmp.Or(a.Object.Created().Compare(b.Object.Created()), cmp.Compare(a.ID.Key, b.ID.Key))
	})
	if len(candidates) > 1 {
		others := "The "
		if len(candidates) < len(all) {
			others = "The other "
		}
		sentence = subject.Sentences(sentence, others+kind.Kind+" objects in the namespace are "+list(candidates))
	}
	return &verdict.Cause{Object: neighbor.ObjectOf(&newest), Sentence: sentence}
}

// belongsTo reports whether an annotation of the subject whose key ends with the kind of n contains the name of n. For
// example, Operator Lifecycle Manager sets "olm.operatorGroup: shop" if it has found exactly one OperatorGroup.
func belongsTo(s *subject.Subject, n *neighbor.Neighbor) bool {
	for key, value := range neighbor.Decode[metav1.PartialObjectMetadata](s.Object).Annotations {
		if value == n.ID.Name() && strings.HasSuffix(strings.ToLower(key), strings.ToLower(n.ID.Kind.Kind)) {
			return true
		}
	}
	return false
}

// maxListed limits how many names a sentence contains.
const maxListed = 5

// list returns the names of several objects in alphabetical order, such as "a, b and c".
func list(objects []neighbor.Neighbor) string {
	names := make([]string, 0, len(objects))
	for n := range objects {
		names = append(names, objects[n].ID.Name())
	}
	slices.Sort(names)
	if more := len(names) - maxListed; more > 0 {
		names = append(names[:maxListed], fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
