package request_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

func TestNewBasePathRejectsInvalidPaths(t *testing.T) {
	for text, want := range map[string]request.BasePath{
		"": "", "/": "", "/glasshouse": "/glasshouse", "/a/b.c-d_e~f": "/a/b.c-d_e~f",
	} {
		t.Run(cmp.Or(text, "empty"), func(t *testing.T) {
			if got, err := request.NewBasePath(text); err != nil || got != want {
				t.Errorf("got %q, error %v, want %q", got, err, want)
			}
		})
	}
	for _, text := range []string{
		"glasshouse", "/glasshouse/", "//", "/a//b", "/a/../b", "/..", "/.", "/a b", "/a?b", "/a#b", "/%41", `/a"b`,
		"/<b>", "https://x.org/a", "/ä",
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := request.NewBasePath(text); err == nil || !strings.Contains(err.Error(), "such as /glasshouse") {
				t.Errorf("got %q, error %v, want an error", got, err)
			}
		})
	}
}
