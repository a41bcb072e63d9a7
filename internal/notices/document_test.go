package notices_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse"
	"github.com/glasshouse-project/glasshouse/internal/notices"
)

const root = "../.."

type committed struct {
	components []string
	texts      string
}

func readCommitted(t *testing.T) committed {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY_NOTICES"))
	if err != nil {
		t.Fatal(err)
	}
	lists, texts, found := strings.Cut(string(content), "\n====")
	if !found {
		t.Fatal("THIRD_PARTY_NOTICES has no texts")
	}
	c := committed{texts: texts}
	for line := range strings.Lines(lists) {
		if component, ok := strings.CutPrefix(line, "  "); ok {
			c.components = append(c.components, strings.TrimSpace(component))
		}
	}
	return c
}

// THIRD_PARTY_NOTICES must be generated again (`make generate`) after dependencies change. The test needs no
// installed npm packages.
func TestNoticesAreCurrent(t *testing.T) {
	modules, err := notices.Modules(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := notices.LockedPackages(root)
	if err != nil {
		t.Fatal(err)
	}
	file := readCommitted(t)
	var differences []string
	want := map[string]bool{}
	for _, component := range slices.Concat(modules, packages) {
		want[component.String()] = true
		if !slices.Contains(file.components, component.String()) {
			differences = append(differences, "is missing: "+component.String())
		}
		for _, text := range component.Texts {
			if !strings.Contains(file.texts, "-\n\n"+text.Body+"\n") {
				differences = append(differences, fmt.Sprintf("has another text: %s of %s", text.File, component))
			}
		}
		if !strings.Contains(file.texts, "\n"+strings.TrimSpace(component.Name+" "+component.Version)+": ") {
			differences = append(differences, "has no text: "+component.String())
		}
	}
	for _, component := range file.components {
		if !want[component] {
			differences = append(differences, "is not linked or bundled: "+component)
		}
	}
	if len(differences) > 0 {
		t.Fatalf("THIRD_PARTY_NOTICES is not current. Run `make generate` and commit the file.\n%s",
			strings.Join(differences, "\n"))
	}
}

// The notices include licenses that tools often miss, such as those of forked code and of the Go standard library.
func TestNoticesAreComplete(t *testing.T) {
	file := readCommitted(t)
	for _, part := range []string{
		`Go standard library and runtime: LICENSE`,
		`github.com/inconshreveable/mousetrap \S+: LICENSE`, // This module is linked only on Windows.
		`k8s.io/client-go \S+: third_party/forked/golang/LICENSE`,
		`github.com/prometheus/client_golang \S+: NOTICE`,
		`@dagrejs/graphlib \S+: LICENSE`, // The file that dagre publishes contains this package.
	} {
		if !regexp.MustCompile("(?m)^" + part + "$").MatchString(file.texts) {
			t.Errorf("THIRD_PARTY_NOTICES does not contain %q", part)
		}
	}
}

func TestNoticesAreIndependentOfTheMachine(t *testing.T) {
	working, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{working, "/pkg/mod/", "node_modules/"} {
		if strings.Contains(glasshouse.ThirdPartyNotices(), path) {
			t.Errorf("THIRD_PARTY_NOTICES contains the path %s", path)
		}
	}
}

func TestEachTextOccursOnce(t *testing.T) {
	bodies := map[string]bool{}
	for text := range strings.SplitSeq(readCommitted(t).texts, strings.Repeat("=", 80)) {
		_, body, _ := strings.Cut(text, strings.Repeat("-", 80))
		if bodies[body] || strings.TrimSpace(body) == "" {
			t.Errorf("a license text is empty or occurs twice: %.200s", text)
		}
		bodies[body] = true
	}
}
