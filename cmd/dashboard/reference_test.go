package main

import (
	"cmp"
	"flag"
	"fmt"
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

var update = flag.Bool("update", false, "write the table of settings in docs/reference.md anew")

// Every flag stands in docs/reference.md with its short form and its default,
// and none that does not exist: kubectl's in a table of their own, ours in one
// that is made anew by go test ./cmd/dashboard -run TestReferenceHasTheFlags
// -update, which keeps what is said of each.
func TestReferenceHasTheFlags(t *testing.T) {
	const home = "/home/somebody"
	t.Setenv("HOME", home)
	t.Setenv("KUBECACHEDIR", "")
	command := newCommand(io.Discard)
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	text := readDocument(t, "docs/reference.md")
	table := settingsTable(text, command.Flags())
	if !strings.Contains(text, table) {
		if !*update {
			t.Error("the table of settings in docs/reference.md is not current: run this test with -update")
		} else if err := os.WriteFile(filepath.Join(root, "docs/reference.md"), []byte(withTable(text, table)),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[kubectls] != nil {
			name, value := shownFlag(flag)
			want[name] = strings.Replace(value, home, "$HOME", 1)
		}
	})
	got := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`--[^|]+) \\| ([^|]+) \\| [^|]+ \\|$").FindAllStringSubmatch(text,
		-1) {
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
			t.Errorf("docs/reference.md has %s, which is no flag of kubectl's", name)
		}
	}
}

const settingsHead = "| flag | environment | default | meaning |\n| --- | --- | --- | --- |\n"

// settingsTable is the table of our flags; what a text says of one stays.
func settingsTable(text string, flags *pflag.FlagSet) string {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); strings.HasPrefix(line, "| `--") && len(cells) > 2 {
			said[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(cells[len(cells)-1], " |")
		}
	}
	own := ours(flags)
	table := settingsHead
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[kubectls] != nil {
			return
		}
		name, value := shownFlag(flag)
		environment := "none"
		if own[flag.Name] != nil {
			environment = "`" + variable(flag.Name) + "`"
		}
		table += "| " + strings.Join([]string{name, environment, value, cmp.Or(said[name], flag.Usage)}, " | ") + " |\n"
	})
	return table + "\n"
}

// withTable puts the table in the place of the one that a text has.
func withTable(text, table string) string {
	before, after, _ := strings.Cut(text, settingsHead)
	_, after, _ = strings.Cut(after, "\n\n")
	return before + table + after
}

// shownFlag is how a document writes a flag, and its default.
func shownFlag(flag *pflag.Flag) (name, value string) {
	name = "`--" + flag.Name + "`"
	if flag.Shorthand != "" {
		name += ", `-" + flag.Shorthand + "`"
	}
	if flag.DefValue == "" || flag.DefValue == "[]" {
		return name, "none"
	}
	return name, "`" + flag.DefValue + "`"
}

// ARCHITECTURE.md stays short, tells of every package, and names no test and
// no package that does not exist.
func TestArchitectureIsTrue(t *testing.T) {
	text := readDocument(t, "ARCHITECTURE.md")
	if lines := strings.Count(text, "\n"); lines >= 150 {
		t.Errorf("ARCHITECTURE.md has %d lines, want fewer than 150", lines)
	}
	packages, tests := sources(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("ARCHITECTURE.md does not tell of the package %s", name)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `((?:cmd|internal|web)[^`]*)` \\|").FindAllStringSubmatch(text,
		-1) {
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

// sources are the packages, but those of tests alone, and the names of all tests.
func sources(t *testing.T) (packages, tests map[string]bool) {
	t.Helper()
	packages, tests = map[string]bool{}, map[string]bool{}
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
	return packages, tests
}

// docs/security.md has all 42 items in their order, and each names tests that there
// are, or says why there is none.
func TestSecurityIsTrue(t *testing.T) {
	text := readDocument(t, "docs/security.md")
	_, tests := sources(t)
	rows := regexp.MustCompile(`(?m)^\| (S\d\d) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(text, -1)
	if len(rows) != 42 {
		t.Fatalf("it has %d items, want 42", len(rows))
	}
	for n, row := range rows {
		if want := fmt.Sprintf("S%02d", n+1); row[1] != want {
			t.Errorf("%s stands where %s should", row[1], want)
		}
		named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(row[3], -1)
		for _, name := range named {
			if !tests[name] {
				t.Errorf("%s names %s, which is no test", row[1], name)
			}
		}
		files := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1)
		for _, file := range files {
			if _, err := os.Stat(filepath.Join(root, file[1])); err != nil {
				t.Errorf("%s names %s: %v", row[1], file[1], err)
			}
		}
		if len(named)+len(files) == 0 && !strings.HasPrefix(row[3], "no test: ") {
			t.Errorf("%s names no test, and does not say why", row[1])
		}
	}
}

// The README and CONTRIBUTING name only targets that the Makefile has.
func TestTargetsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z]+):.*## `).FindAllStringSubmatch(readDocument(t, "Makefile"),
		-1) {
		targets[match[1]] = true
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		for _, match := range regexp.MustCompile("(?m)(?:^ {4}|`)make ([a-z]+)").FindAllStringSubmatch(readDocument(t,
			name), -1) {
			if !targets[match[1]] {
				t.Errorf("%s says make %s, which the Makefile does not have", name, match[1])
			}
		}
	}
}
