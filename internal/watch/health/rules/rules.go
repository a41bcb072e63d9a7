// Package rules finds the health script for a kind: a rule of the administrator, or a script of Argo CD. Any number of
// goroutines can use its types.
package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/script"
)

// Set contains the health scripts of the administrator. The zero value has none.
type Set struct {
	exact    map[groupKind]*script.Script
	patterns []patternRule // The longest first.
}

type groupKind struct{ group, kind string }

type patternRule struct {
	groupKind

	script *script.Script
}

const (
	rulePrefix = "resource.customizations.health."
	ruleForm   = rulePrefix + "GROUP_KIND"
)

// Parse reads health scripts in the form of Argo CD's ConfigMap argocd-cm. The text is a YAML mapping with keys such as
// resource.customizations.health.GROUP_KIND, or a ConfigMap with these keys under data. In a ConfigMap, other settings
// of Argo CD are ignored. GROUP and KIND can contain the wildcard "*".
func Parse(text []byte) (Set, error) {
	document, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return Set{}, fmt.Errorf("not valid YAML: %w", err)
	}
	var settings map[string]any
	if err := json.NewDecoder(bytes.NewReader(document)).Decode(&settings); err != nil || len(settings) == 0 {
		return Set{}, fmt.Errorf("the file must be a YAML mapping with keys of the form %s", ruleForm)
	}
	data, isConfigMap := settings["data"].(map[string]any)
	if !isConfigMap {
		data = settings
	}
	found := make(map[groupKind]string) // For each kind, the YAML key of its rule, to find duplicates.
	rules := Set{exact: make(map[groupKind]*script.Script)}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if isConfigMap && !isHealthKey(key) {
			continue
		}
		kind, err := parseRuleKey(key)
		if err != nil {
			return Set{}, err
		}
		if other, exists := found[kind]; exists {
			return Set{}, fmt.Errorf("%s and %s are rules for the same kind", other, key)
		}
		found[kind] = key
		source, isText := data[key].(string)
		if !isText {
			return Set{}, fmt.Errorf("the value of %s must be a Lua script, as text", key)
		}
		compiled, err := script.Compile(key, source)
		if err != nil {
			return Set{}, err
		}
		rules.add(kind, compiled)
	}
	if len(found) == 0 {
		return Set{}, fmt.Errorf("the file has no key of the form %s", ruleForm)
	}
	slices.SortStableFunc(rules.patterns, func(a, b patternRule) int {
		return len(b.group) + len(b.kind) - len(a.group) - len(a.kind)
	})
	return rules, nil
}

// isHealthKey reports whether a key of a ConfigMap is meant as a health rule, even in a form that is not supported.
func isHealthKey(key string) bool {
	return key == "resource.customizations" || strings.HasPrefix(key, strings.TrimSuffix(rulePrefix, "."))
}

func parseRuleKey(key string) (groupKind, error) {
	name, ok := strings.CutPrefix(key, rulePrefix)
	group, kind, hasGroup := strings.Cut(name, "_")
	if !hasGroup {
		group, kind = "", name // A kind of the core group, as in Argo CD.
	}
	if !ok || kind == "" || strings.ContainsAny(name, `/[]?\`) || strings.Contains(kind, "_") {
		return groupKind{}, fmt.Errorf("unknown key %q; write %s, such as %s%s",
			key, ruleForm, rulePrefix, "example.com_Widget")
	}
	return groupKind{group, kind}, nil
}

func (s *Set) add(kind groupKind, one *script.Script) {
	if strings.Contains(kind.group+kind.kind, "*") {
		s.patterns = append(s.patterns, patternRule{kind, one})
		return
	}
	s.exact[kind] = one
}

// Find returns the script for a kind, or nil if no rule covers the kind.
func (s *Set) Find(group, kind string) *script.Script {
	if exact := s.exact[groupKind{group, kind}]; exact != nil {
		return exact
	}
	for _, p := range s.patterns {
		matchesGroup, _ := path.Match(p.group, group)
		matchesKind, _ := path.Match(p.kind, kind)
		if matchesGroup && matchesKind {
			return p.script
		}
	}
	return nil
}
