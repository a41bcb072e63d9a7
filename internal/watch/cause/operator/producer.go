package operator

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// Produced replaces the cause of a verdict, if it is a missing object, with the problem of the custom resource for
// which a controller should create this object. For example, a Secret is missing because its Certificate has not been
// issued.
func Produced(s *subject.Subject, v *verdict.Verdict) *verdict.Verdict {
	if v == nil || v.Cause == nil || !v.Cause.Missing || v.Cause.Resource == "" || v.Via != nil {
		return v
	}
	missing := neighbor.IDOf(&v.Cause.Object)
	needsObject := func(n neighbor.Neighbor) bool {
		c := n.Object.Verdict().Unpack().Cause
		return c != nil && c.Object == v.Cause.Object // The resource also needs the object, so it does not create it.
	}
	worst := s.Worst(slices.DeleteFunc(producers(s, missing), needsObject))
	if worst == nil {
		found := slices.DeleteFunc(writers(s, missing), needsObject)
		if len(found) != 1 {
			return v
		}
		worst = &found[0]
	}
	s.AddSource(v.Cause.Resource, v.Cause.Namespace) // The sentence still names the missing object.
	produced := s.Inherit(worst, v.Severity, subject.Sentences(v.Sentence, s.Name(worst)+": "))
	produced.Reason, produced.Rule = v.Reason, v.Rule
	return produced
}

// producers returns the custom resources that refer to the object with the given ID as their output.
func producers(s *subject.Subject, id graph.ID) (found []neighbor.Neighbor) {
	for _, user := range s.Users(id, neighbor.Limit) {
		by := objectrefs.Ref{Group: user.Group, Kind: user.Kind.Kind}
		uses, _ := s.References(user)
		if !resource.IsCustom(user.Group) || !slices.ContainsFunc(uses, func(u graph.Use) bool {
			return u.Target == id && u.Optional && objectrefs.IsOutput(&by, u.Via)
		}) {
			continue
		}
		n := s.Find(user)
		subject.Follow(s, &n)
		if n.Object != nil && n.ID != s.ID {
			found = append(found, n)
		}
	}
	return found
}

// maxObjects limits how many objects of one kind are searched.
const maxObjects = 10 * neighbor.Limit

// writers returns the custom resources with a problem whose controllers write the missing Secret or ConfigMap with the
// given ID, according to their spec, their status or their name.
func writers(s *subject.Subject, id graph.ID) (found []neighbor.Neighbor) {
	if id.Group != "" || id.Kind.Kind != "Secret" && id.Kind.Kind != "ConfigMap" {
		return nil
	}
	for _, kind := range subject.OfAllKinds(s, nil, id.Namespace(), id.Name()) {
		all := s.All(kind.ID.Kind, kind.ID.Namespace(), maxObjects)
		if len(all) == maxObjects {
			continue
		}
		for n := range all {
			if strings.HasPrefix(id.Name(), all[n].ID.Name()+"-") && all[n].ID.Namespace() != "" {
				subject.Follow(s, &all[n])
			}
			if all[n].ID == s.ID || !s.HasProblem(&all[n]) || !writes(s, &all[n], id) {
				continue
			}
			subject.Follow(s, &all[n])
			found = append(found, all[n])
		}
	}
	return found
}

// writes reports whether the controller of the custom resource n writes the object with the given ID.
func writes(s *subject.Subject, n *neighbor.Neighbor, id graph.ID) bool {
	suffix, isNamesake := strings.CutPrefix(id.Name(), n.ID.Name())
	isNamesake = isNamesake && (suffix == "" || suffix[0] == '-')
	text, _ := n.Object.JSON()
	if !isNamesake && !bytes.Contains(text, []byte(`"`+id.Name()+`"`)) {
		return false // Most resources are not decoded.
	}
	o := outputs{id: id, by: n.ID}
	o.read(neighbor.Decode[struct {
		Spec any `json:"spec"`
	}](n.Object).Spec, false, maxNesting)
	switch {
	case o.isInput:
		return false
	case o.isOutput:
		return true
	case n.ID.Namespace() != id.Namespace():
		return false
	case namesInStatus(n, id.Name()):
		return true
	}
	// A kind such as ExternalSecret writes a Secret of its own name, without a suffix.
	isCredential := id.Kind.Kind == "Secret" && credentialKind.MatchString(n.ID.Kind.Kind) &&
		(suffix == "" || !strings.HasSuffix(n.ID.Kind.Kind, "Secret"))
	return isNamesake && !o.hasOther && (isCredential || hasSibling(s, n, id.Kind, suffix))
}

// credentialKind matches kinds whose controllers write a Secret for each resource, such as ExternalSecret or KafkaUser.
var credentialKind = regexp.MustCompile(`(?:Secret|User|Credentials?|Password)$`)

// hasSibling reports whether the controller of n has written an object of the given kind for another resource of n's
// kind. The name of this object is the name of the other resource, followed by suffix.
func hasSibling(s *subject.Subject, n *neighbor.Neighbor, kind graph.Kind, suffix string) bool {
	namespace := neighbor.AnyNamespace
	if n.ID.Namespace() == "" {
		namespace = ""
	}
	for _, other := range s.All(n.ID.Kind, namespace, neighbor.Limit) {
		written := s.Find(graph.NewID(kind, other.ID.Namespace(), other.ID.Name()+suffix))
		if other.ID == n.ID || written.Object == nil {
			continue
		}
		if written.IsOwnedBy(other.Object.UID()) || namesInStatus(&other, written.ID.Name()) {
			subject.Follow(s, &written)
			return true
		}
	}
	return false
}
