package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program in this test uses syscall.Mount, which exists only on Linux.
func TestCheckFailsOnlyOnAffectedPlatforms(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/program\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"syscall\"\n\nfunc main() { _ = syscall.Mount }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if err := run(t.Context(), []string{".", "linux/amd64", "linux/arm64"}); err != nil {
		t.Error(err)
	}
	for _, platform := range []string{"darwin/arm64", "windows/amd64"} {
		t.Run(platform, func(t *testing.T) {
			err := run(t.Context(), []string{".", "linux/amd64", platform})
			if err == nil || !strings.HasPrefix(err.Error(), platform+": ") ||
				!strings.HasSuffix(err.Error(), "undefined: syscall.Mount") {
				t.Errorf("got error %v, want %s: ... undefined: syscall.Mount", err, platform)
			}
		})
	}
	if err := run(t.Context(), []string{"./missing", "linux/amd64"}); err == nil {
		t.Error("a missing package: got no error")
	}
}
