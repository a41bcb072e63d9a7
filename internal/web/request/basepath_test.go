package request_test

import (
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

func TestNewBasePathRejectsInvalidPaths(t *testing.T) {
	for text, want := range map[string]request.BasePath{
		"": "", "/": "", "/glasshouse": "/glasshouse", "/a/b.c-d_e~f": "/a/b.c-d_e~f",
	} {
		if got, err := request.NewBasePath(text); err != nil || got != want {
			t.Errorf("NewBasePath(%q): got %q, error %v", text, got, err)
		}
	}
	for _, text := range []string{
		"glasshouse", "/glasshouse/", "//", "/a//b", "/a/../b", "/..", "/.", "/a b", "/a?b", "/a#b", "/%41", `/a"b`,
		"/<b>", "https://x.org/a", "/ä",
	} {
		if got, err := request.NewBasePath(text); err == nil || !strings.Contains(err.Error(), "such as /glasshouse") {
			t.Errorf("NewBasePath(%q): got %q, error %v", text, got, err)
		}
	}
}
