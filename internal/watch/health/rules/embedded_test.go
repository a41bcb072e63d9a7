package rules_test

import (
	"io/fs"
	"testing"

	"github.com/argoproj/argo-cd/v3/resource_customizations"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/script"
)

// If a script did not compile, its kind would silently get the general rules. The module test/argocd also runs the
// scripts.
func TestEmbeddedScriptsCompile(t *testing.T) {
	files, err := fs.Glob(resource_customizations.Embedded, "*/*/health.lua")
	if err != nil || len(files) < 200 {
		t.Fatalf("got %d scripts, error %v; want at least 200", len(files), err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(resource_customizations.Embedded, file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := script.Compile(file, string(text)); err != nil {
			t.Error(err)
		}
	}
}
