package main

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// root is the repository, seen from this folder.
const root = "../.."

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every flag stands in docs/reference.md with its short form and its default,
// and none that does not exist.
func TestReferenceHasTheFlags(t *testing.T) {
	const home = "/home/somebody"
	t.Setenv("HOME", home)
	t.Setenv("KUBECACHEDIR", "")
	command := newCommand(io.Discard)
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	want := map[string]string{}
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		name := "`--" + flag.Name + "`"
		if flag.Shorthand != "" {
			name += ", `-" + flag.Shorthand + "`"
		}
		want[name] = "none"
		if flag.DefValue != "" && flag.DefValue != "[]" {
			want[name] = "`" + strings.Replace(flag.DefValue, home, "$HOME", 1) + "`"
		}
	})

	got := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`--[^|]+) \\| ([^|]+) \\| [^|]+ \\|$").FindAllStringSubmatch(readDocument(t, "docs/reference.md"), -1) {
		if _, twice := got[row[1]]; twice {
			t.Errorf("docs/reference.md has %s twice", row[1])
		}
		got[row[1]] = row[2]
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("docs/reference.md: the default of %s is %q, want %q", name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/reference.md has %s, which is no flag", name)
		}
	}
}

// ARCHITECTURE.md stays short, tells of every package, and names no test and
// no package that does not exist.
func TestArchitectureIsTrue(t *testing.T) {
	text := readDocument(t, "ARCHITECTURE.md")
	if lines := strings.Count(text, "\n"); lines >= 150 {
		t.Errorf("ARCHITECTURE.md has %d lines, want fewer than 150", lines)
	}
	packages, tests := map[string]bool{}, map[string]bool{}
	isTest := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, folder := range []string{"cmd", "internal", "web", "test"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.Name() == "node_modules" {
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
			if errRelative == nil && folder != "test" {
				packages[filepath.ToSlash(relative)] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("ARCHITECTURE.md does not tell of the package %s", name)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `((?:cmd|internal|web)[^`]*)` \\|").FindAllStringSubmatch(text, -1) {
		if !packages[row[1]] {
			t.Errorf("ARCHITECTURE.md tells of %s, which is no package", row[1])
		}
	}
	for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(text, -1) {
		if !tests[name] {
			t.Errorf("ARCHITECTURE.md names %s, which is no test", name)
		}
	}
}

// The README and CONTRIBUTING name only targets that the Makefile has.
func TestTargetsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z]+):.*## `).FindAllStringSubmatch(readDocument(t, "Makefile"), -1) {
		targets[match[1]] = true
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		for _, match := range regexp.MustCompile("(?m)(?:^ {4}|`)make ([a-z]+)").FindAllStringSubmatch(readDocument(t, name), -1) {
			if !targets[match[1]] {
				t.Errorf("%s says make %s, which the Makefile does not have", name, match[1])
			}
		}
	}
}
