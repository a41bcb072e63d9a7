package redact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"glasshouse/internal/watch/rawjson"
)

// Rule selects the values that are masked, by a resource and a path in its objects.
type Rule struct {
	group, resource string // "*" for all.
	except          string // A resource to which the rule does not apply.
	helm            bool   // The rule applies only to Helm releases.
	twin            bool   // The rule was derived from another rule, and its resource is not one that the user named.
	steps           []step
	keeps           keeps // Selects the values that stay unmasked, among those that the steps lead to; nil for none.
}

// keeps is a function that reports whether a member stays unmasked, by its key and its value, which is JSON.
type keeps func(key, value []byte) bool

// Rules are a set of rules. A value is masked if at least one of them selects it.
type Rules []Rule

// step is one part of a rule's path. It leads from a value to some of the values inside it.
type step struct {
	kind  stepKind
	name  string
	lists bool // For anywhere: match only arrays and objects.
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
		return env(), nil
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
		if len(parts) != 3 || slices.ContainsFunc(parts, notAName) {
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
	for _, kept := range []struct {
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
		if rule.masksAt(strings.FieldsFunc(kept.path, func(r rune) bool { return r == '.' }), kept.kind) {
			return nil, fmt.Errorf(
				"it would mask %s, which identifies objects", cmp.Or(kept.path, "the whole object"),
			)
		}
	}
	return append(Rules{rule}, rule.twins()...), nil
}

// twins returns the same rule for the other group of events, if the rule is for events. The API server serves events in
// two groups, with different names for some members.
func (r *Rule) twins() Rules {
	const newer = "events.k8s.io"
	if r.resource != "events" || r.group != "" && r.group != newer {
		return nil
	}
	twin := *r
	twin.twin, twin.group, twin.steps = true, newer, slices.Clone(r.steps)
	if r.group == newer {
		twin.group = ""
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
		if r.group == newer {
			from, to = to, from
		}
		if twin.steps[0].name == from {
			twin.steps[0].name = to
			break
		}
	}
	return Rules{twin}
}

// notAName reports whether part cannot be a part of a resource's ref.
func notAName(part string) bool {
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
		one, length := parseStep(rest)
		if length == 0 {
			return nil, fmt.Errorf(errPath, text)
		}
		steps, rest = append(steps, one), rest[length:]
	}
	if rest != "" {
		return nil, fmt.Errorf("%.40q.. has more than %d steps", text, maxSteps)
	}
	return steps, nil
}

// parseStep parses the first step of a path. It returns the step and the length of its text, or 0 if there is no step.
func parseStep(text string) (one step, length int) {
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
		if c := rawjson.NewCursor(quoted); c.Skip() != nil || c.End() != nil {
			return step{}, 0
		}
		name, err := rawjson.Unquote(quoted)
		if err != nil {
			return step{}, 0
		}
		return step{kind: member, name: name}, end + len(`"]`)
	case strings.HasPrefix(text, ".."):
		name := nameAt(text[2:])
		return step{kind: anywhere, name: name}, sum(2, len(name))
	case strings.HasPrefix(text, "."):
		name := nameAt(text[1:])
		return step{kind: member, name: name}, sum(1, len(name))
	}
	return step{}, 0
}

// sum returns before+name, the length of a step with a name. It returns 0 if the name is empty.
func sum(before, name int) int {
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

// of returns those rules that apply to a resource.
func (rules Rules) of(group, resource string) (some []Rule) {
	for _, r := range rules {
		if (r.group == "*" || r.group == group) && (r.resource == "*" || r.resource == resource) &&
			r.except != resource {
			some = append(some, r)
		}
	}
	return some
}

// Any reports whether at least one rule applies to a resource.
func (rules Rules) Any(group, resource string) bool { return len(rules.of(group, resource)) > 0 }

// Touches reports whether a rule may mask the value at a path of a resource, or a value inside it. A rule for a name at
// any depth counts only if the path contains that name.
func (rules Rules) Touches(group, resource string, path []string) bool {
	return slices.ContainsFunc(rules.of(group, resource), func(r Rule) bool { return r.touches(path) })
}

// Named returns the resources that the rules name, as group/resource, with core for the core group.
func (rules Rules) Named() (named []string) {
	for _, r := range rules {
		if r.resource != "*" && !r.twin {
			named = append(named, orCore(r.group)+"/"+r.resource)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(named)))
}

func orCore(group string) string {
	if group == "" {
		return "core"
	}
	return group
}

// along follows a path of member names. at contains the indices of the steps of the rule that may follow the path. over
// means that the rule already masks a value on the path.
func (r *Rule) along(path []string) (at map[int]bool, over bool) {
	at = map[int]bool{0: true}
	for _, name := range path {
		next := make(map[int]bool)
		for n := range at {
			if r.masksWhole(n, '{') {
				return nil, true
			}
			on, stays := r.steps[n].takes(name)
			if on {
				next[n+1] = true
			}
			if stays {
				next[n] = true
			}
		}
		at = next
	}
	return at, false
}

// masksAt reports whether the rule masks the value at a path. kind is the first character of the value.
func (r *Rule) masksAt(path []string, kind byte) bool {
	at, over := r.along(path)
	for n := range at {
		over = over || r.masksWhole(n, kind)
	}
	return over
}

// touches reports whether the rule may mask the value at a path, or a value inside it. A rule whose next step matches a
// name at any depth does not count, because it is not specific to this path.
func (r *Rule) touches(path []string) bool {
	at, over := r.along(path)
	for n := range at {
		over = over || n == len(r.steps) || r.steps[n].kind != anywhere
	}
	return over
}

// takes matches the step with the name of a member. on means that the step leads to that member. stays means that the
// step also applies again to the members inside it.
func (s *step) takes(name string) (on, stays bool) {
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
