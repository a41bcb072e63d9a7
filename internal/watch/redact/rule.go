package redact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"glasshouse/internal/watch/jsonscan"
)

// Rule selects the values that are masked, by a resource and a path in its objects.
type Rule struct {
	group, resource string // The resource that the rule applies to; "*" means all.
	except          string // A resource to which the rule does not apply.
	helm            bool   // The rule applies only to Helm releases.
	isDerived       bool   // The rule was derived from another rule, and its resource is not one that the user named.
	steps           []step
	exempt          exemption // Selects the values that stay unmasked, among those that the steps lead to; nil for none.
}

// exemption is a function that reports whether a member stays unmasked, by its key and its value, which is JSON.
type exemption func(key, value []byte) bool

// Rules are a set of rules. A value is masked if at least one of them selects it.
type Rules []Rule

// step is one part of a rule's path. It leads from a value to some of the values inside it.
type step struct {
	kind           stepKind
	name           string
	containersOnly bool // For anywhere: match only arrays and objects.
}

type stepKind int

const (
	member   stepKind = iota // The member with the name.
	members                  // Each member.
	elements                 // Each element.
	anywhere                 // Each member with the name, at any depth.
)

const (
	// maxRule is the maximum length of a rule, in bytes. maxSteps is the maximum number of steps in its path.
	maxRule, maxSteps = 1000, 32
	// Env is the short form of the rules that mask the environment variables of containers, in all kinds that have
	// containers.
	Env = "env"
)

// Parse parses a rule, for example core/v1/configmaps:data.*. A rule consists of a resource, a colon, and a path in the
// objects of the resource. The resource is group/version/resource, with core for the core group, or * for all
// resources. The text Env is short for the rules that mask environment variables.
//
// A rule applies to all versions of its resource, because the API server serves the same object in each of them.
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
			"the path is missing: write group/version/resource:path, such as core/v1/configmaps:data.*, with * as " +
				"the resource for all resources, or write env",
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
				"it would mask %s, which identifies objects", cmp.Or(required.path, "the whole object"),
			)
		}
	}
	return append(Rules{rule}, rule.derived()...), nil
}

// derived returns the same rule for the other group of events, if the rule is for events. The API server serves events
// in two groups, with different names for some members.
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

// isInvalidName reports whether part cannot be a part of a resource's ref.
func isInvalidName(part string) bool {
	return part == "" || strings.ContainsFunc(part, func(r rune) bool {
		return r != '-' && r != '.' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

const errPath = "%q is not a path: write the names of members, separated by dots, .* for each member, [*] for each " +
	"element of a list, " +
	`["a.b/c"] for a name that contains dots, and ..name for a name at any depth`

// parsePath parses the path of a rule.
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
		return nil, fmt.Errorf("%.40q.. has more than %d steps", text, maxSteps)
	}
	return steps, nil
}

// parseStep parses the first step of a path. It returns the step and the length of its text, or 0 if there is no step.
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

// stepLength returns before+name, the length of a step with a name. It returns 0 if the name is empty.
func stepLength(before, name int) int {
	if name == 0 {
		return 0
	}
	return before + name
}

// nameAt returns the name of a member at the beginning of a path.
func nameAt(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`.[]*"'{}()?@$,:;\`, r)
	})
	if end < 0 {
		return text
	}
	return text[:end]
}

// forResource returns those rules that apply to a resource.
func (rules Rules) forResource(group, resource string) (matching []Rule) {
	for _, r := range rules {
		if (r.group == "*" || r.group == group) && (r.resource == "*" || r.resource == resource) &&
			r.except != resource {
			matching = append(matching, r)
		}
	}
	return matching
}

// AppliesTo reports whether at least one rule applies to a resource.
func (rules Rules) AppliesTo(group, resource string) bool {
	return len(rules.forResource(group, resource)) > 0
}

// MayMask reports whether a rule may mask the value at a path of a resource, or a value inside it. A rule for a name at
// any depth counts only if the path contains that name.
func (rules Rules) MayMask(group, resource string, path []string) bool {
	return slices.ContainsFunc(rules.forResource(group, resource), func(r Rule) bool { return r.mayMask(path) })
}

// Resources returns the resources that the rules name, as group/resource, with core for the core group.
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

// follow follows a path of member names. at contains the indices of the steps of the rule that may follow the path.
// isMasked means that the rule already masks a value on the path.
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

// masksAt reports whether the rule masks the value at a path. kind is the first character of the value.
func (r *Rule) masksAt(path []string, kind byte) bool {
	steps, isMasked := r.follow(path)
	for n := range steps {
		isMasked = isMasked || r.masksCompletely(n, kind)
	}
	return isMasked
}

// mayMask reports whether the rule may mask the value at a path, or a value inside it. A rule whose next step matches a
// name at any depth does not count, because it is not specific to this path.
func (r *Rule) mayMask(path []string) bool {
	steps, isMasked := r.follow(path)
	for n := range steps {
		isMasked = isMasked || n == len(r.steps) || r.steps[n].kind != anywhere
	}
	return isMasked
}

// match matches the step with the name of a member. on means that the step leads to that member. repeats means that the
// step also applies again to the members inside it.
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
