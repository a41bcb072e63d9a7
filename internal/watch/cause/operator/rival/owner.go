package rival

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// maxOwners is the maximum number of owners to search for per message.
const maxOwners = 5

// ownerPattern matches a message that an object has another owner, with the kind and the name of this owner. For
// example: `secret is owned by another ExternalSecret: db` or, from a library for controllers, `Object shop/db is
// already owned by another Database controller main`.
var ownerPattern = regexp.MustCompile(`\b(?:owned|controlled|managed) by another ` +
	"([A-Z][A-Za-z]+)(?: controller)?:? [\"'`]?(?:([a-z0-9-]+)/)?([a-z0-9][a-z0-9.-]*)")

// owner returns the object that owns what the subject needs, according to a sentence, or nil. If the sentence names
// several existing objects, or an object of several kinds with the same name, owner returns nil.
func owner(s *subject.Subject, sentence string) *neighbor.Neighbor {
	var found []neighbor.Neighbor
	for _, named := range ownerPattern.FindAllStringSubmatch(sentence, maxOwners) {
		for _, n := range s.Named(s.ID, &neighbor.Mention{
			Kind: named[1], Namespace: named[2], Name: strings.TrimRight(named[3], ".-"),
		}) {
			isKnown := slices.ContainsFunc(found, func(o neighbor.Neighbor) bool { return o.ID == n.ID })
			if n.Presence != neighbor.Missing && !isKnown {
				found = append(found, n)
			}
		}
	}
	if len(found) != 1 || found[0].Object == nil || found[0].IsOwnedBy(s.Object.UID()) ||
		s.IsOwnedBy(found[0].Object.UID()) {
		return nil
	}
	return &found[0]
}

// sharedPattern matches the message of Argo CD that another Application deploys the same resource. It starts with the
// kind and the name of the resource. The name of the other Application is the last one. It has a namespace if this is
// not the namespace of Argo CD.
var sharedPattern = regexp.MustCompile(
	`^([A-Za-z]+)/(\S+) is part of applications \S+ and (?:([a-z0-9-]+)/)?([a-z0-9][a-z0-9.-]*)$`)

// application returns the other Application of Argo CD that deploys a resource of the subject, according to a sentence,
// or nil. According to its spec and its status, it must deploy the same resource to the same cluster.
func application(s *subject.Subject, sentence string) *neighbor.Neighbor {
	named := sharedPattern.FindStringSubmatch(sentence)
	if named == nil || s.ID.Group != "argoproj.io" {
		return nil
	}
	own := neighbor.Decode[deployment](s.Object)
	namespace := cmp.Or(named[3], own.Status.ControllerNamespace, s.ID.Namespace())
	for _, n := range s.Named(s.ID, &neighbor.Mention{
		Kind: s.ID.Kind.Kind, Group: s.ID.Group, Namespace: namespace, Name: named[4],
	}) {
		other := neighbor.Decode[deployment](n.Object)
		isShared := func(r managed) bool {
			return r.Kind == named[1] && r.Name == named[2] && slices.Contains(other.Status.Resources, r)
		}
		if n.Object != nil && n.ID != s.ID && own.Spec == other.Spec &&
			slices.ContainsFunc(own.Status.Resources, isShared) {
			return &n
		}
	}
	return nil
}

// deployment is the part of an Application that shows what it deploys to which cluster.
type deployment struct {
	Spec struct {
		Destination struct {
			Server string `json:"server"`
			Name   string `json:"name"`
		} `json:"destination"`
	} `json:"spec"`
	Status struct {
		ControllerNamespace string    `json:"controllerNamespace"`
		Resources           []managed `json:"resources"`
	} `json:"status"`
}

// managed is a resource that an Application deploys.
type managed struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}
