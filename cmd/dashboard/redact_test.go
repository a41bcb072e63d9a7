package main

import (
	"io"
	"strings"
	"testing"
)

func TestInvalidRedactionRulesAreRefused(t *testing.T) {
	clearEnvironment(t)
	for text, want := range map[string]string{
		"data.*":                   "group/version/resource:path",
		"configmaps:data":          "core/v1/configmaps",
		"core/v1/configmaps:a[0]":  "[*] for each element",
		"*:metadata.name":          "metadata.name",
		"core/v1/configmaps,x:a.b": "is not a resource",
	} {
		t.Run(text, func(t *testing.T) {
			var stderr strings.Builder
			if code := run(t.Context(), []string{"--redact", text, "--kubeconfig", unreachableKubeconfig(t)}, io.Discard,
				&stderr); code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			if !strings.Contains(stderr.String(), want) || !strings.Contains(stderr.String(), "--redact") {
				t.Errorf("stderr is %q, want it to contain %q", stderr.String(), want)
			}
		})
	}
	s := &redactSettings{texts: []string{"env", "core/v1/configmaps:data.*", `*:metadata.annotations["a,b"]`}}
	if rules, err := s.rules(); err != nil || len(rules) < 3 {
		t.Errorf("got %d rules, error %v; want at least 3", len(rules), err)
	}
}
