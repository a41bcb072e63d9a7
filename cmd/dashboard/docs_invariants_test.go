package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type invariant struct {
	statement string
	tests     []string // Names of Go test functions, then paths of the web page's test files.
}

// invariantComment matches comments such as "Invariant: I5, I9." and "Invariant: I5. The writer never waits.".
var invariantComment = regexp.MustCompile(`(?s)\bInvariant: ([A-Z]\d+(?:, [A-Z]\d+)*)\.(.*?)(?:\n\n|\nInvariant: |\z)`)

// With the flag -update ("make generate"), this test writes docs/invariants.md from the comments of the tests.
func TestInvariantsAreCurrent(t *testing.T) {
	const name = "docs/invariants.md"
	want := invariantsDocument(t)
	if *update && !t.Failed() {
		//nolint:gosec // The document is public, so all users may read it.
		if err := os.WriteFile(filepath.Join(root, name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text := readDocument(t, name); text != want {
		t.Errorf("%s is not current: run make generate. The first difference: %s", name,
			firstLineDifference(text, want))
	}
}

func invariantsDocument(t *testing.T) string {
	t.Helper()
	all := readInvariants(t)
	text := strings.Builder{}
	text.WriteString(strings.ReplaceAll(`# Invariants

This page lists what must always be true, and the tests that verify it. "make generate" creates the list from the
comments "Invariant:" above tests. Most tests of "cmd/dashboard" need a cluster, which "make test" starts. Items such as
S08 are requirements of [security.md](security.md). [limits.md](limits.md) lists what the program does not do.

`, `"`, "`"))
	ids := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		na, _ := strconv.Atoi(a[1:])
		nb, _ := strconv.Atoi(b[1:])
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(na, nb))
	})
	for _, id := range ids {
		one := all[id]
		if one.statement == "" {
			t.Errorf("no comment states the invariant %s: write \"Invariant: %s.\" and the statement above one test", id, id)
		}
		writeWrapped(&text, "- **"+id+"** "+one.statement)
		writeWrapped(&text, "  Verified by: "+strings.Join(one.tests, ", "))
	}
	return text.String()
}

func writeWrapped(text *strings.Builder, line string) {
	columns := 0
	for n, word := range strings.Split(line, " ") {
		switch {
		case n > 0 && columns+1+len(word) > 150:
			text.WriteString("\n  ")
			columns = 2
		case n > 0:
			text.WriteByte(' ')
			columns++
		}
		text.WriteString(word)
		columns += len(word)
	}
	text.WriteByte('\n')
}

func readInvariants(t *testing.T) map[string]*invariant {
	t.Helper()
	all := make(map[string]*invariant)
	for _, dir := range []string{"cmd", "internal", "test", "web", "deploy"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Name() == "node_modules" && entry.IsDir(): // SkipDir at a link would skip the rest of web/.
				return fs.SkipDir
			case strings.HasSuffix(path, "_test.go"):
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
				if err != nil {
					return err
				}
				for _, declaration := range file.Decls {
					if f, ok := declaration.(*ast.FuncDecl); ok && f.Doc != nil {
						addInvariants(t, all, f.Doc.Text(), f.Name.Name)
					}
				}
			case strings.HasSuffix(path, ".test.ts"), strings.HasSuffix(path, ".test.tsx"),
				strings.HasSuffix(path, ".test.mjs"):
				source, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				relative, err := filepath.Rel(root, path)
				if err != nil {
					return err
				}
				for _, block := range regexp.MustCompile(`(?m)(?:^// ?.*\n)+`).FindAllString(string(source), -1) {
					comment := regexp.MustCompile(`(?m)^// ?`).ReplaceAllString(block, "")
					addInvariants(t, all, comment, "`"+filepath.ToSlash(relative)+"`")
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func addInvariants(t *testing.T, all map[string]*invariant, comment, test string) {
	t.Helper()
	for {
		match := invariantComment.FindStringSubmatchIndex(comment)
		if match == nil {
			return
		}
		statement := strings.Join(strings.Fields(comment[match[4]:match[5]]), " ")
		for id := range strings.SplitSeq(comment[match[2]:match[3]], ", ") {
			one := all[id]
			if one == nil {
				one = &invariant{}
				all[id] = one
			}
			switch {
			case statement == "" || one.statement != "" && id[0] == 'S':
			case one.statement != "":
				t.Errorf("%s and an earlier test both state the invariant %s", test, id)
			default:
				one.statement = statement
			}
			if !slices.Contains(one.tests, test) {
				one.tests = append(one.tests, test)
			}
		}
		comment = comment[match[5]:]
	}
}

func TestInvariantCommentsAreParsed(t *testing.T) {
	all := make(map[string]*invariant)
	addInvariants(t, all, "Text.\n\nInvariant: I1. One\nstatement.\n\nInvariant: I2, I3.\n", "TestA")
	addInvariants(t, all, "Invariant: I2. Two.\nInvariant: I1, I3.\n", "TestB")
	got := fmt.Sprint(*all["I1"], *all["I2"], *all["I3"])
	if want := "{One statement. [TestA TestB]} {Two. [TestA TestB]} { [TestA TestB]}"; got != want {
		t.Errorf("invariants: got %s, want %s", got, want)
	}
}
