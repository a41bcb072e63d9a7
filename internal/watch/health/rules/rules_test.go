package rules_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/rules"
)

func TestInvalidHealthRulesAreRefused(t *testing.T) {
	const ruleFor = "resource.customizations.health."
	for text, want := range map[string]string{
		"":       "must be a YAML mapping",
		"- a":    "must be a YAML mapping",
		"a: [":   "not valid YAML",
		"url: x": `unknown key "url"; write resource.customizations.health.GROUP_KIND`,
		"resource.customizations.state.apps_Deployment: x":      `unknown key "resource.customizations.state.`,
		"resource.customizations.health.: x":                    "unknown key",
		"resource.customizations.health.a_b_c: x":               "unknown key",
		"resource.customizations.health.a/B: x":                 "unknown key",
		"resource.customizations.health.a_B: 7":                 "must be a Lua script",
		"resource.customizations.health.a_B: |\n  x = 1\n  x =": "resource.customizations.health.a_B: ",
		"resource.customizations.health.a_B: |\n  x = 1\n  = 2": "resource.customizations.health.a_B: line 2: ",
		ruleFor + "Pod: return\n" + ruleFor + "_Pod: return\n":  "are rules for the same kind",
		ruleFor + "Pod: a\n" + ruleFor + "Pod: b\n":             "not valid YAML",
		"data: {url: x}":                                  "has no key of the form resource.customizations.health.GROUP_KIND",
		"data:\n  resource.customizations: x":             `unknown key "resource.customizations"`,
		"data:\n  resource.customizations.healthy.a_B: x": "unknown key",
	} {
		t.Run(cmp.Or(text, "empty"), func(t *testing.T) {
			_, err := rules.Parse([]byte(text))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %q", err, want)
			}
		})
	}
}
