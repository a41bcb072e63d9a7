package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Invariant: I47.
func TestArchitectureContainsOnlyExistingNames(t *testing.T) {
	text := readDocument(t, "ARCHITECTURE.md")
	if len(text) > 12<<10 {
		t.Errorf("ARCHITECTURE.md has %d bytes, want at most 12 KiB", len(text))
	}
	packages, tests := sources(t)
	names := make(map[string]bool)
	for name := range packages {
		names[strings.TrimPrefix(name, "internal/watch/")] = true
	}
	_, table, _ := strings.Cut(text, "| package | purpose |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		parent, _, _ := strings.Cut(name, "/")
		if !strings.Contains(table, "| `"+name+"` |") && !strings.Contains(table, "| `"+parent+"/*` |") {
			t.Errorf("ARCHITECTURE.md does not mention the package %s", name)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]*)` \\|").FindAllStringSubmatch(table, -1) {
		if !names[strings.TrimSuffix(row[1], "/*")] {
			t.Errorf("ARCHITECTURE.md mentions %s, which is not a package", row[1])
		}
	}
	checkNames(t, "ARCHITECTURE.md", text, tests)
	checkNames(t, "docs/invariants.md", readDocument(t, "docs/invariants.md"), tests)
}

// checkNames fails if a document names a test or a file that does not exist. It returns how many tests and files the
// document names. For a file, the name is the path or its last elements.
func checkNames(t *testing.T, source, text string, tests map[string]bool) (names int) {
	t.Helper()
	for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(text, -1) {
		names++
		if !tests[name] {
			t.Errorf("%s mentions %s, which is not a test", source, name)
		}
	}
	files := regexp.MustCompile("`([\\w./-]+\\.(?:go|tsx?|mjs|json|templ|md))`")
	for _, file := range files.FindAllStringSubmatch(text, -1) {
		names++
		if _, err := os.Stat(filepath.Join(root, file[1])); err != nil && !hasFile(t, file[1]) {
			t.Errorf("%s mentions the file %s: %v", source, file[1], err)
		}
	}
	return names
}

func hasFile(t *testing.T, name string) (found bool) {
	t.Helper()
	for _, dir := range []string{"cmd", "internal", "web/static/src", "web/templates"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			found = found || strings.HasSuffix(filepath.ToSlash(path), "/"+name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func sources(t *testing.T) (packages, tests map[string]bool) {
	t.Helper()
	packages, tests = map[string]bool{}, map[string]bool{}
	isTest := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, dir := range []string{"cmd", "internal", "web", "test"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.Name() == "node_modules" && entry.IsDir() {
				return fs.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			source, err := os.ReadFile(path)
			if strings.HasSuffix(path, "_test.go") {
				for _, match := range isTest.FindAllSubmatch(source, -1) {
					tests[string(match[1])] = true
				}
				return err
			}
			relative, errRelative := filepath.Rel(root, filepath.Dir(path))
			if errRelative == nil && dir != "test" {
				packages[filepath.ToSlash(relative)] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return packages, tests
}

// Invariant: I47.
func TestSecurityItemsNameTests(t *testing.T) {
	text := readDocument(t, "docs/security.md")
	_, tests := sources(t)
	items := regexp.MustCompile(`(?m)^- \*\*(S\d\d)\*\* (?:.+\n  )*?Tests: (.+(?:\n  .+)*)`).
		FindAllStringSubmatch(text, -1)
	if len(items) != 42 {
		t.Fatalf("docs/security.md has %d items, want 42", len(items))
	}
	for n, item := range items {
		if want := fmt.Sprintf("S%02d", n+1); item[1] != want {
			t.Errorf("item: got %s, want %s", item[1], want)
		}
		for _, file := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(item[2], -1) {
			if _, err := os.Stat(filepath.Join(root, file[1])); err != nil {
				t.Errorf("%s mentions the file %s: %v", item[1], file[1], err)
			}
		}
		if checkNames(t, item[1], item[2], tests) == 0 {
			t.Errorf("%s mentions no test", item[1])
		}
	}
}

func TestDocumentedTargetsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z]+):.*## `).FindAllStringSubmatch(readDocument(t, "Makefile"),
		-1) {
		targets[match[1]] = true
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		t.Run(name, func(t *testing.T) {
			for _, match := range regexp.MustCompile("(?m)(?:^ {4}|`)make ([a-z]+)").FindAllStringSubmatch(readDocument(t,
				name), -1) {
				if !targets[match[1]] {
					t.Errorf("got make %s, which is not a target of the Makefile", match[1])
				}
			}
		})
	}
}

// go install refuses a program whose go.mod has a directive "replace" or "exclude".
func TestGoInstallAcceptsTheModule(t *testing.T) {
	directives := regexp.MustCompile(`(?m)^(?:replace|exclude)\b.*`)
	for _, directive := range directives.FindAllString(readDocument(t, "go.mod"), -1) {
		t.Errorf("go.mod has the directive %q", directive)
	}
}
