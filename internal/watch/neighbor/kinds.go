package neighbor

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

// Kinds returns the kinds that a mention can mean, the likeliest first. The object by contains the mention. served
// contains the kinds of the cluster, with the names of their resources. If the mention is a word (m.IsWord), the
// variants of a kind follow the kind itself: MiddlewareTCP and ClusterIssuer are variants of Middleware and Issuer.
func Kinds(by graph.ID, m *Mention, served iter.Seq2[graph.Kind, string]) []graph.Kind {
	var exact, endings, beginnings, within, related []graph.Kind
	singular := strings.TrimSuffix(m.Kind, "s")
	for kind, plural := range served {
		if m.Group != "" && m.Group != kind.Group {
			continue
		}
		isSameGroup := kind.Group == by.Group
		switch {
		case isSame(kind.Kind, m.Kind), isSame(plural, m.Kind):
			if !m.IsWord || m.Group != "" || isSameGroup || isSameDomain(by.Group, kind.Group) || isSimple(kind) {
				exact = append(exact, kind)
			}
		case m.IsWord && isSimple(kind) && endsWith(m.Kind, kind.Kind):
			within = append(within, kind)
		case m.IsWord && m.IsRef && isSameDomain(by.Group, kind.Group) && IsRelated(by, m.Kind, kind):
			related = append(related, kind)
		case !m.IsWord || !isSameGroup:
		case endsWith(kind.Kind, m.Kind), isPlural(kind.Kind, plural) && endsWith(kind.Kind, singular):
			endings = append(endings, kind)
		case startsWith(kind.Kind, m.Kind), startsWith(kind.Kind, singular):
			beginnings = append(beginnings, kind)
		case endsWith(m.Kind, kind.Kind), isQualified(by.Kind.Kind, m.Kind, kind.Kind):
			within = append(within, kind)
		}
	}
	sortByDistance(by, exact)
	sortByDistance(by, endings)
	switch {
	case len(exact) > 0:
		sortByDistance(by, beginnings)
		return slices.Concat(exact, endings, beginnings)
	case len(endings) > 0:
		return endings
	case len(within) > 0:
		return []graph.Kind{longest(within)}
	case len(related) > 0:
		return inOneGroup(related, longest(related))
	}
	return nil
}

// IsRelated reports whether a word can mean a kind of another group only because it ends with this kind, as nodeRole
// ends with Role. It can also mean a kind that the cluster does not serve.
func IsRelated(by graph.ID, word string, kind graph.Kind) bool {
	return kind.Group != by.Group && !isSimple(kind) && endsWith(word, kind.Kind)
}

// longest returns the kind with the longest name: SecurityGroup, not Group.
func longest(kinds []graph.Kind) graph.Kind {
	return slices.MaxFunc(kinds, func(a, b graph.Kind) int {
		return cmp.Or(cmp.Compare(len(a.Kind), len(b.Kind)), cmp.Compare(a.Kind, b.Kind))
	})
}

// inOneGroup returns a kind, or nothing if another one of the kinds has the same name, and is in another group.
func inOneGroup(kinds []graph.Kind, kind graph.Kind) []graph.Kind {
	if slices.ContainsFunc(kinds, func(k graph.Kind) bool { return k != kind && k.Kind == kind.Kind }) {
		return nil
	}
	return []graph.Kind{kind}
}

// isSimple reports whether a kind is a built-in kind to which many custom resources refer only by name, such as "web"
// in "tlsSecret: web".
func isSimple(kind graph.Kind) bool {
	return kind.Group == "" && slices.Contains([]string{"ConfigMap", "Secret", "Service", "ServiceAccount"}, kind.Kind)
}

func sortByDistance(by graph.ID, kinds []graph.Kind) {
	slices.SortFunc(kinds, func(a, b graph.Kind) int {
		return cmp.Or(
			cmp.Compare(distance(by.Group, a.Group), distance(by.Group, b.Group)), cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Kind, b.Kind),
		)
	})
}

// isSame reports whether two names are equal, except for upper and lower case. It is fast: it first compares lengths.
func isSame(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// isPlural reports whether the name of a resource is its kind with a plural ending, such as queues for Queue.
func isPlural(kind, plural string) bool {
	return len(plural) > len(kind) && strings.EqualFold(plural[:len(kind)], kind)
}

// endsWith reports whether a name in CamelCase ends with a word, as AppProject ends with project.
func endsWith(name, word string) bool {
	start := len(name) - len(word)
	return start > 0 && len(word) > 2 && strings.EqualFold(name[start:], word) && unicode.IsUpper(rune(name[start]))
}

// startsWith reports whether a name in CamelCase starts with a word, as MiddlewareTCP starts with middleware.
func startsWith(name, word string) bool {
	return len(name) > len(word) && len(word) > 2 && strings.EqualFold(name[:len(word)], word) &&
		unicode.IsUpper(rune(name[len(word)]))
}

// isQualified reports whether word starts with "local" or "global", and means the given kind in an object of the kind
// by. For example, globalOutput means ClusterOutput, but in a SyslogNGFlow it means SyslogNGClusterOutput.
func isQualified(by, word, kind string) bool {
	name, isLocal := strings.CutPrefix(word, "local")
	if rest, isGlobal := strings.CutPrefix(word, "global"); isGlobal {
		name = "Cluster" + rest
	} else if !isLocal {
		return false
	}
	family, ok := strings.CutSuffix(kind, name)
	return ok && len(name) > 2 && unicode.IsUpper(rune(name[0])) && strings.HasPrefix(by, family)
}

const (
	sameGroup = iota
	builtIn
	sameDomain
	otherGroup
)

// distance returns how unlikely it is that objects of one API group refer to objects of another. The likeliest is 0.
func distance(from, to string) int {
	switch {
	case from == to:
		return sameGroup
	case resource.IsBuiltIn(to):
		return builtIn
	case isSameDomain(from, to):
		return sameDomain
	}
	return otherGroup
}

// isSameDomain reports whether two groups belong to one project: kibana.k8s.elastic.co and
// elasticsearch.k8s.elastic.co. The domains of Kubernetes itself do not count, because many projects share them.
func isSameDomain(a, b string) bool {
	if strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a) {
		return true
	}
	_, domain, _ := strings.Cut(a, ".")
	_, other, _ := strings.Cut(b, ".")
	return domain == other && strings.Contains(domain, ".") && domain != "k8s.io" && domain != "x-k8s.io"
}
