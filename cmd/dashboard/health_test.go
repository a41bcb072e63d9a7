package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInvalidHealthRulesPreventStart(t *testing.T) {
	for text, want := range map[string]string{
		"url: x": `unknown key "url"`,
		"resource.customizations.health.apps_Deployment: |\n  x = 1\n  = 2": "_Deployment: line 2: ",
	} {
		t.Run(want, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rules.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			code := run(t.Context(), []string{"--health-rules", file, "--kubeconfig", unreachableKubeconfig(t)}, io.Discard,
				&stderr)
			if code != 2 || !strings.Contains(stderr.String(), "--health-rules "+file) ||
				!strings.Contains(stderr.String(), want) {
				t.Errorf("%q: exit code %d, stderr %q; want 2 and %q", text, code, stderr.String(), want)
			}
		})
	}
	settings := healthSettings{file: filepath.Join(t.TempDir(), "missing")}
	_, err := settings.evaluator(slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "--health-rules") {
		t.Errorf("missing file: got error %v", err)
	}
}
