package redact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// Rule selects values to mask, by a resource and by a path in its objects.
type Rule struct {
	group, resource string // both are "*" for all resources
	except          string
	helm            bool
	isDerived       bool
	steps           []step
	exempt          exemption // selects values that stay unmasked; nil for none
}

// exemption reports whether the member with this key and JSON value stays unmasked.
type exemption func(key, value []byte) bool

// Rules is a set of rules. A value is masked if at least one rule selects it.
type Rules []Rule

// step leads from a value to members of an object, or to elements of an array.
type step struct {
	kind           stepKind
	name           string
	containersOnly bool // if true, the step matches only values that are arrays or objects
}

type stepKind int

const (
	member stepKind = iota
	members
	elements
	anywhere // each member with the step's name, at any depth
)

const (
	// maxRule is the maximum length of a rule in bytes. maxSteps is the maximum number of steps in its path.
	maxRule, maxSteps = 1000, 32
	// Env is the short form of the rules that mask the environment variables of containers.
	Env = "env"
)

// Parse parses a rule such as core/v1/configmaps:data.*, or the text Env. A rule applies to all versions of a resource.
func Parse(text string) (Rules, error) {
	if text == Env {
		return envRules(), nil
	}
	if len(text) > maxRule {
		return nil, fmt.Errorf("the rule has %d bytes; the maximum is %d", len(text), maxRule)
	}
	kind, path, ok := strings.Cut(text, ":")
	if !ok {
		return nil, errors.New(
			"the path is missing: write group/version/resource:path, such as core/v1/configmaps:data.*, or *:path for " +
				"all resources, or env",
		)
	}
	rule := Rule{group: "*", resource: "*"}
	if kind != "*" {
		parts := strings.Split(kind, "/")
		if len(parts) != 3 || slices.ContainsFunc(parts, isInvalidName) {
			return nil, fmt.Errorf(
				"%q is not a resource: write group/version/resource, such as core/v1/configmaps or "+
					"apps/v1/deployments, or * for all",
				kind,
			)
		}
		rule.group, rule.resource = strings.TrimPrefix(parts[0], "core"), parts[2]
		if parts[0] != "core" {
			rule.group = parts[0]
		}
	}
	var err error
	if rule.steps, err = parsePath(path); err != nil {
		return nil, err
	}
	for _, required := range []struct {
		path string
		kind byte
	}{
		{"", '{'},
		{"kind", '"'},
		{"apiVersion", '"'},
		{"metadata", '{'},
		{"metadata.name", '"'},
		{"metadata.namespace", '"'},
		{"metadata.uid", '"'},
		{"metadata.resourceVersion", '"'},
		{"metadata.creationTimestamp", '"'},
	} {
		if rule.masksAt(strings.FieldsFunc(required.path, func(r rune) bool { return r == '.' }), required.kind) {
			return nil, fmt.Errorf(
				"the rule would mask %s, which is needed to identify objects", cmp.Or(required.path, "the complete object"),
			)
		}
	}
	return append(Rules{rule}, rule.derived()...), nil
}

// derived returns an additional rule if r is a rule for events. The core group and events.k8s.io serve the same events,
// but with different member names.
func (r *Rule) derived() Rules {
	const newGroup = "events.k8s.io"
	if r.resource != "events" || r.group != "" && r.group != newGroup {
		return nil
	}
	other := *r
	other.isDerived, other.group, other.steps = true, newGroup, slices.Clone(r.steps)
	if r.group == newGroup {
		other.group = ""
	}
	for _, pair := range [][2]string{
		{"message", "note"},
		{"involvedObject", "regarding"},
		{"reportingComponent", "reportingController"},
		{"source", "deprecatedSource"},
		{"count", "deprecatedCount"},
		{"firstTimestamp", "deprecatedFirstTimestamp"},
		{"lastTimestamp", "deprecatedLastTimestamp"},
	} {
		from, to := pair[0], pair[1]
		if r.group == newGroup {
			from, to = to, from
		}
		if other.steps[0].name == from {
			other.steps[0].name = to
			break
		}
	}
	return Rules{other}
}

func isInvalidName(part string) bool {
	return part == "" || strings.ContainsFunc(part, func(r rune) bool {
		return r != '-' && r != '.' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

const errPath = "%q is not a path: write the names of members, separated by dots, .* for each member, [*] for each " +
	"element of a list, " +
	`["a.b/c"] for a name that contains dots, and ..name for a name at any depth`

func parsePath(text string) ([]step, error) {
	rest := text
	if !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "[") {
		rest = "." + rest
	}
	var steps []step
	for rest != "" && len(steps) < maxSteps {
		next, length := parseStep(rest)
		if length == 0 {
			return nil, fmt.Errorf(errPath, text)
		}
		steps, rest = append(steps, next), rest[length:]
	}
	if rest != "" {
		return nil, fmt.Errorf("the path that starts with %.40q has too many parts; the maximum is %d", text, maxSteps)
	}
	return steps, nil
}

func parseStep(text string) (parsed step, length int) {
	switch {
	case strings.HasPrefix(text, "[*]"):
		return step{kind: elements}, len("[*]")
	case strings.HasPrefix(text, ".*"):
		return step{kind: members}, len(".*")
	case strings.HasPrefix(text, `["`):
		end := strings.Index(text, `"]`)
		if end < 0 {
			return step{}, 0
		}
		quoted := []byte(text[1 : end+1])
		if c := jsonscan.NewCursor(quoted); c.Skip() != nil || c.End() != nil {
			return step{}, 0
		}
		name, err := jsonscan.Unquote(quoted)
		if err != nil {
			return step{}, 0
		}
		return step{kind: member, name: name}, end + len(`"]`)
	case strings.HasPrefix(text, ".."):
		name := nameAt(text[2:])
		return step{kind: anywhere, name: name}, stepLength(2, len(name))
	case strings.HasPrefix(text, "."):
		name := nameAt(text[1:])
		return step{kind: member, name: name}, stepLength(1, len(name))
	}
	return step{}, 0
}

func stepLength(before, name int) int {
	if name == 0 {
		return 0
	}
	return before + name
}

func nameAt(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`.[]*"'{}()?@$,:;\`, r)
	})
	if end < 0 {
		return text
	}
	return text[:end]
}

// forResource returns the rules that apply to the resource, with those of builtInRules.
func (rules Rules) forResource(group, resource string) (matching []Rule) {
	for _, r := range append(builtInRules(), rules...) {
		if (r.group == "*" || r.group == group) && (r.resource == "*" || r.resource == resource) &&
			r.except != resource {
			matching = append(matching, r)
		}
	}
	return matching
}

// AppliesTo reports whether at least one of the rules, or of builtInRules, applies to the resource.
func (rules Rules) AppliesTo(group, resource string) bool {
	return len(rules.forResource(group, resource)) > 0
}

// MayMask reports whether one of the rules, or of builtInRules, can mask the value at the path or a value inside it. A
// rule for a name at any depth counts only if the path contains this name.
func (rules Rules) MayMask(group, resource string, path []string) bool {
	return slices.ContainsFunc(rules.forResource(group, resource), func(r Rule) bool { return r.mayMask(path) })
}

// Resources returns the resources that the user's rules name, as group/resource, with core for the core group.
func (rules Rules) Resources() (resources []string) {
	for _, r := range rules {
		if r.resource != "*" && !r.isDerived {
			resources = append(resources, groupOrCore(r.group)+"/"+r.resource)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(resources)))
}

func groupOrCore(group string) string {
	if group == "" {
		return "core"
	}
	return group
}

// follow returns the indexes of the steps of the rule that apply to the members of the value at the path. If the rule
// masks a parent of this value completely, isMasked is true and steps is nil.
func (r *Rule) follow(path []string) (steps map[int]bool, isMasked bool) {
	steps = map[int]bool{0: true}
	for _, name := range path {
		next := make(map[int]bool)
		for n := range steps {
			if r.masksCompletely(n, '{') {
				return nil, true
			}
			matches, repeats := r.steps[n].match(name)
			if matches {
				next[n+1] = true
			}
			if repeats {
				next[n] = true
			}
		}
		steps = next
	}
	return steps, false
}

func (r *Rule) masksAt(path []string, kind byte) bool {
	steps, isMasked := r.follow(path)
	for n := range steps {
		isMasked = isMasked || r.masksCompletely(n, kind)
	}
	return isMasked
}

// mayMask reports whether the rule can mask the value at the path, or a value inside it. A step for a name at any depth
// counts only if the path contains this name. Otherwise, the result would be true for every value.
func (r *Rule) mayMask(path []string) bool {
	steps, isMasked := r.follow(path)
	for n := range steps {
		isMasked = isMasked || n == len(r.steps) || r.steps[n].kind != anywhere
	}
	return isMasked
}

// match compares the step with a member name. repeats means that the step also applies inside the member's value.
func (s *step) match(name string) (matches, repeats bool) {
	switch s.kind {
	case member:
		return s.name == name, false
	case members:
		return true, false
	case anywhere:
		return s.name == name, true
	case elements:
	}
	return false, false
}
