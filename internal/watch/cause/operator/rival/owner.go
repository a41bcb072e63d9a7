package rival

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// maxOwners is the maximum number of owners to search for per message.
const maxOwners = 5

// ownerPattern matches a message that an object has another owner, with the kind and the name of this owner. For
// example: `secret is owned by another ExternalSecret: db` or, from a library for controllers, `Object shop/db is
// already owned by another Database controller main`. This owner is in the namespace of the object.
var ownerPattern = regexp.MustCompile("(?:\\bObject ([a-z0-9-]+)/[a-z0-9.-]+ is already )?" +
	`\b(?:owned|controlled|managed) by another ` +
	"([A-Z][A-Za-z]+)(?: controller)?:? [\"'`]?(?:([a-z0-9-]+)/)?([a-z0-9][a-z0-9.-]*)")

// owner returns the object that owns what the subject needs, according to a sentence, or nil. If the sentence names
// several existing objects, or if objects of several kinds have the name, owner returns nil.
func owner(s *subject.Subject, sentence string) *neighbor.Neighbor {
	var found []neighbor.Neighbor
	for _, named := range ownerPattern.FindAllStringSubmatch(sentence, maxOwners) {
		for _, n := range s.Named(s.ID, &neighbor.Mention{
			Kind: named[2], Namespace: cmp.Or(named[3], named[1]), Name: strings.TrimRight(named[4], ".-"),
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

// SharedResource explains an Application of Argo CD by another Application that deploys one of its resources, too, and
// has overwritten it. Its own health is OK, because Argo CD also reports resources that only have a label in common.
func SharedResource(s *subject.Subject) *verdict.Verdict {
	const reason = "SharedResourceWarning"
	if s.Own.Severity != verdict.OK || !bytes.Contains(s.Text(), []byte(`"`+reason+`"`)) {
		return nil
	}
	own := neighbor.Decode[deployment](s.Object)
	for _, c := range own.Status.Conditions {
		if c.Type != reason {
			continue
		}
		if n := application(s, &own, c.Message); n != nil {
			subject.Follow(s, n)
			return s.ExplainBy(n, verdict.Degraded, reason, c.Message)
		}
	}
	return nil
}

// application returns the other Application of Argo CD that has overwritten a resource of the subject, according to a
// message, or nil. According to its spec and its status, it must deploy the same resource to the same cluster.
// Namespaces and PersistentVolumeClaims do not count: two Applications can have the same one, and neither changes its
// content.
func application(s *subject.Subject, own *deployment, message string) *neighbor.Neighbor {
	named := sharedPattern.FindStringSubmatch(message)
	if named == nil || slices.Contains([]string{"Namespace", "PersistentVolumeClaim"}, named[1]) {
		return nil
	}
	// The message contains no group and no namespace, so each resource that it can mean must differ from its source.
	shared := slices.DeleteFunc(slices.Clone(own.Status.Resources), func(r managed) bool {
		return r.Kind != named[1] || r.Name != named[2]
	})
	if slices.ContainsFunc(shared, func(r managed) bool { return r.Status != "OutOfSync" }) {
		return nil
	}
	namespace := cmp.Or(named[3], own.Status.ControllerNamespace, s.ID.Namespace())
	for _, n := range s.Named(s.ID, &neighbor.Mention{
		Kind: s.ID.Kind.Kind, Group: s.ID.Group, Namespace: namespace, Name: named[4],
	}) {
		other := neighbor.Decode[deployment](n.Object)
		hasOverwritten := func(r managed) bool {
			r.Status = "Synced"
			return slices.Contains(other.Status.Resources, r)
		}
		if n.Object != nil && n.ID != s.ID && own.Spec == other.Spec && slices.ContainsFunc(shared, hasOverwritten) {
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
		ControllerNamespace string             `json:"controllerNamespace"`
		Resources           []managed          `json:"resources"`
		Conditions          []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// managed is a resource that an Application deploys.
type managed struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    string `json:"status"`
}
