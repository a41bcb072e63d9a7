package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	"github.com/spf13/pflag"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/metrics"
)

var update = flag.Bool("update", false, "write the generated parts of docs/reference.md")

// With the flag -update ("make generate"), this test writes the generated parts of docs/reference.md.
// Invariant: I47. The documents match the program.
func TestReferenceIsCurrent(t *testing.T) {
	const name = "docs/reference.md"
	text := readDocument(t, name)
	source := readSource(t)
	current := text
	for part, content := range map[string]string{
		"flags":         flagList(t),
		"kubectl flags": kubectlFlags(t),
		"share flags":   shareFlags(),
		"limits":        source.limits(t),
		"metrics":       metricTables(t),
		"problems":      source.problems(t),
	} {
		current = replacePart(t, current, part, content)
	}
	if *update && !t.Failed() {
		//nolint:gosec // The document is public, so all users may read it.
		if err := os.WriteFile(filepath.Join(root, name), []byte(current), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if current != text && !*update {
		t.Errorf("%s is not current: run make generate. The first difference: %s", name,
			firstLineDifference(text, current))
	}
	for n, line := range strings.Split(current, "\n") {
		if columns := utf8.RuneCountInString(line); columns > 160 {
			t.Errorf("%s, line %d has %d columns, want at most 160", name, n+1, columns)
		}
	}
}

func replacePart(t *testing.T, text, part, content string) string {
	t.Helper()
	begin, end := "<!-- generated: "+part+" -->\n", "<!-- end -->\n"
	before, after, ok := strings.Cut(text, begin)
	_, after, ended := strings.Cut(after, end)
	if !ok || !ended {
		t.Fatalf("docs/reference.md does not have the markers of the part %q", part)
	}
	return before + begin + "\n" + strings.TrimSpace(content) + "\n\n" + end + after
}

func firstLineDifference(text, want string) string {
	lines := strings.Split(text, "\n")
	for n, line := range strings.Split(want, "\n") {
		if n >= len(lines) || lines[n] != line {
			return fmt.Sprintf("line %d should be %q", n+1, line)
		}
	}
	return "the file has more lines than expected"
}

func flagList(t *testing.T) string {
	t.Helper()
	return listFlags(dashboardFlags(t), func(flag *pflag.Flag) bool { return flag.Annotations[kubectlAnnotation] == nil })
}

// kubectlFlags returns the names of the flags that kubectl also has. It omits their descriptions, because kubectl's
// documents and the help of the program contain them.
func kubectlFlags(t *testing.T) string {
	t.Helper()
	var names []string
	dashboardFlags(t).VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[kubectlAnnotation] != nil {
			names = append(names, flagName(flag))
		}
	})
	return item(strings.Join(names, ", "))
}

// dashboardFlags returns the flags of the program. It sets environment variables, so that default values are the same
// on every machine.
func dashboardFlags(t *testing.T) *pflag.FlagSet {
	t.Helper()
	t.Setenv("HOME", "$HOME")
	t.Setenv("KUBECACHEDIR", "")
	command := newCommand(io.Discard)
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	return command.Flags()
}

func shareFlags() string {
	command := newShareCommand()
	all := func(*pflag.Flag) bool { return true }
	parts := []string{"All commands:\n\n" + listFlags(command.PersistentFlags(), all)}
	for _, sub := range command.Commands() {
		part := "`share " + sub.Use + "`: " + sub.Short + ".\n"
		if list := listFlags(sub.Flags(), all); list != "" {
			part += "\n" + list
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n")
}

func listFlags(flags *pflag.FlagSet, include func(*pflag.Flag) bool) (list string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if !include(flag) {
			return
		}
		name := flagName(flag)
		if !slices.Contains([]string{"", "[]", "false"}, flag.DefValue) {
			name += ", default `" + flag.DefValue + "`"
		}
		_, usage := pflag.UnquoteUsage(flag)
		list += item(name + ": " + sentence(usage))
	})
	return list
}

func flagName(flag *pflag.Flag) string {
	name := "`--" + flag.Name + "`"
	if flag.Shorthand != "" {
		name += ", `-" + flag.Shorthand + "`"
	}
	return name
}

func sentence(text string) string {
	text = strings.NewReplacer("*", `\*`, "<", `\<`, "|", `\|`).Replace(strings.TrimSuffix(text, "."))
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// marker matches words that must not start a line, because Markdown would read the line as a list item or heading.
var marker = regexp.MustCompile(`^([-+*>]|#+|\d+[.)])$`)

func item(text string) string {
	lines, line := "", "-"
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 150 && !marker.MatchString(word) {
			lines += line + "\n"
			line = " "
		}
		line += " " + word
	}
	return lines + line + "\n"
}

func metricTables(t *testing.T) string {
	t.Helper()
	// Set every value, because the tables omit metrics without a value.
	status := watch.WatchStatus{Limit: 1, UsedBytes: 1, Entries: []watch.WatchStatusEntry{{
		Resource: "core/v1/pods", Status: status.Status{State: status.Live}, LastEvent: time.Unix(1, 0),
	}}}
	registry, err := metrics.Registry(func() watch.WatchStatus { return status }, func() int { return 0 },
		func() (int, int) { return 0, 0 })
	if err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	var order []string
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "glasshouse_") {
			continue
		}
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+pair.GetName()+"`")
		}
		title := cmp.Or(strings.Join(labels, ", "), "none")
		if tables[title] == "" {
			tables[title] = "Labels: " + title + "\n\n| metric | type | meaning |\n| --- | --- | --- |\n"
			order = append(order, title)
		}
		tables[title] += fmt.Sprintf("| `%s` | %s | %s |\n", family.GetName(),
			strings.ToLower(family.GetType().String()), sentence(family.GetHelp()))
	}
	var text strings.Builder
	for _, title := range order {
		text.WriteString(tables[title] + "\n")
	}
	return text.String()
}
