package operator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause/mention"
	"github.com/glasshouse-project/glasshouse/internal/watch/cause/subject"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/wording"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// credentialWord matches members that by convention refer to a Secret, although their name does not state this.
var credentialWord = regexp.MustCompile(`(?i)^(?:credentials?|passwords?|tokens?)$`)

// credentials returns the missing Secret to which a member such as credentials: {name: db} refers, if a sentence states
// that something with the name of the member is missing. Otherwise, it returns nil.
func credentials(s *subject.Subject, sentence string) *neighbor.Neighbor {
	if !wording.NamesMissing(sentence) {
		return nil
	}
	for _, c := range objectrefs.Conventions(s.Text()) {
		isSecret := c.Kind == "" && c.IsObject && credentialWord.MatchString(c.Word)
		if !isSecret || !subject.ContainsName(strings.ToLower(sentence), strings.ToLower(c.Word)) {
			continue
		}
		for _, n := range s.Named(s.ID, &neighbor.Mention{Kind: "Secret", Namespace: c.Namespace, Name: c.Name}) {
			if n.ID.Kind == (graph.Kind{Kind: "Secret"}) && n.Presence == neighbor.Missing {
				return &n
			}
		}
	}
	return nil
}

// unmatchedPattern matches a message which states that no object fits.
var unmatchedPattern = regexp.MustCompile(`(?i)\b(?:did not|didn't|do not|don't) match\b|` +
	`\b0/\d+ [a-z]+ are available\b|\bno (?:matching|suitable|valid) [a-z]+\b|\bno [a-z]+ (?:fits?|match(?:es)?)\b`)

// unmatched returns the first missing object to which the subject refers, if a sentence states that no object of its
// kind fits, and all such objects to which the subject refers are missing. Otherwise, it returns nil.
func unmatched(s *subject.Subject, sentence string) *neighbor.Neighbor {
	if !unmatchedPattern.MatchString(sentence) {
		return nil
	}
	var first *neighbor.Neighbor
	targets := mention.Referenced(s)
	for n := range targets {
		kind := strings.ToLower(targets[n].ID.Kind.Kind)
		lower := strings.ToLower(sentence)
		switch {
		case !subject.ContainsName(lower, kind) && !subject.ContainsName(lower, kind+"s"):
		case targets[n].Presence != neighbor.Missing:
			return nil
		case first == nil:
			first = &targets[n]
		}
	}
	return first
}

// notFoundPattern matches the error of the API server about a missing object of a built-in kind. It contains no
// namespace.
var notFoundPattern = regexp.MustCompile(`\b(secrets|configmaps) "([a-z0-9][a-z0-9.-]*)" not found\b`)

// maxAccounts limits how many ServiceAccounts are searched.
const maxAccounts = 100 * neighbor.Limit

// elsewhere returns the missing object that a sentence about a cluster-scoped subject names, or nil. The pods of the
// subject use this object, so it must be in the namespace of their ServiceAccount, which the subject names.
func elsewhere(s *subject.Subject, sentence string) *neighbor.Neighbor {
	found := notFoundPattern.FindStringSubmatch(sentence)
	if found == nil || s.ID.Namespace() != "" {
		return nil
	}
	account := ""
	for _, ref := range objectrefs.Of(s.Text()).Uses {
		if ref.Kind == "ServiceAccount" && ref.Group == "" && ref.Namespace == "" {
			account = ref.Name
		}
	}
	kind := graph.Kind{Kind: "ServiceAccount"}
	if account == "" {
		return nil
	}
	all, isComplete := subject.AllOf(s, kind, neighbor.AnyNamespace, maxAccounts)
	same := slices.DeleteFunc(all, func(n neighbor.Neighbor) bool { return n.ID.Name() != account })
	if len(same) != 1 || !isComplete {
		return nil
	}
	for _, n := range s.Named(s.ID, &neighbor.Mention{
		Kind: found[1], Namespace: same[0].ID.Namespace(), Name: found[2],
	}) {
		if resource.IsBuiltIn(n.ID.Group) && n.Presence == neighbor.Missing {
			s.AddSource(same[0].Resource, same[0].ID.Namespace())
			return &n
		}
	}
	return nil
}

var (
	// unnamedPattern matches a message that states only the kind of a missing object.
	unnamedPattern = regexp.MustCompile(`\b([A-Z][A-Za-z0-9]+)(?: (?:resource|object|instance))? ` +
		`(?:does not exist|(?:was |is )?not found|is missing)\b`)
	// onlyName matches the rule of a CRD that permits only one name.
	onlyName = regexp.MustCompile(`"self\.metadata\.name == ['\\"]+([a-z0-9][a-z0-9.-]*)['\\"]+"`)
)

// onlyOfKind returns the missing object of a kind that permits only one object in the cluster, if a sentence states
// without a name that an object of this kind is missing. Otherwise, it returns nil. The CRD contains the name.
func onlyOfKind(s *subject.Subject, sentence string) *neighbor.Neighbor {
	found := unnamedPattern.FindStringSubmatch(sentence)
	if found == nil {
		return nil
	}
	for _, other := range s.Named(s.ID, &neighbor.Mention{Kind: found[1], IsWord: true, Name: "-"}) {
		if other.ID.Kind.Kind != found[1] || other.ID.Namespace() != "" {
			continue
		}
		plural := other.Resource[strings.LastIndexByte(other.Resource, '/')+1:]
		crd := graph.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
		n := s.Find(graph.NewID(crd, "", plural+"."+other.ID.Group))
		if n.Object == nil {
			continue
		}
		text, _ := n.Object.JSON()
		name := onlyName.FindSubmatch(text)
		if name == nil {
			continue
		}
		only := s.Find(graph.NewID(other.ID.Kind, "", string(name[1])))
		if subject.Follow(s, &only); only.Presence == neighbor.Missing {
			s.AddSource(n.Resource, "")
			return &only
		}
	}
	return nil
}
