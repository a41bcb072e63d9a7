package fieldmanager_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

type version struct{ text, managed []byte }

func (v *version) newestTime() time.Time {
	if newest, _ := fieldmanager.Newest(v.managed); newest != nil {
		return newest.Time
	}
	return time.Time{}
}

func versions(tb testing.TB, name string) (out []version) {
	tb.Helper()
	file, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		clean, err := redact.New(nil, "", "").Object(nil, []byte(line))
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, version{clean.Text, clean.Managed})
	}
	return out
}

func formatContributions(tb testing.TB, contributions []fieldmanager.Contribution, patch []byte) string {
	tb.Helper()
	paths := pathsOf(tb, patch)
	var s strings.Builder
	for _, share := range contributions {
		fmt.Fprintf(
			&s, "%s %s %s %s:", share.Manager, share.Operation, share.Subresource, share.Time.Format("15:04:05"),
		)
		for _, i := range share.Ops {
			fmt.Fprintf(&s, " %s", paths[i])
		}
		s.WriteString("\n")
	}
	return strings.TrimSpace(s.String())
}

// Attribute finds the authors of changes that were made with curl and recorded from a real API server.
// Invariant: I3.
func TestRecordedChangesHaveTheirAuthors(t *testing.T) {
	const controller, oncall = "kube-controller-manager Update status 14:43:17:", "oncall Apply  14:43:18:"
	for _, test := range []struct {
		name     string
		file     string
		from, to int
		want     string
	}{
		{
			"second manager applies a variable to one container", "apply.jsonl", 1, 2,
			oncall + " replace /metadata/generation replace /metadata/resourceVersion add " +
				"/spec/template/spec/containers/1/env",
		},
		{
			"controller writes the status and an annotation", "apply.jsonl", 0, 1,
			controller + " add /metadata/annotations/deployment.kubernetes.io~1revision replace " +
				"/metadata/resourceVersion replace /status",
		},
		{
			"both changes merged", "apply.jsonl", 0, 2,
			oncall + " replace /metadata/generation replace /metadata/resourceVersion add " +
				"/spec/template/spec/containers/1/env\n" +
				controller + " add /metadata/annotations/deployment.kubernetes.io~1revision replace /status",
		},
		{
			"edit adds an annotation and removes that of another manager", "deployment.jsonl", 0, 1,
			"kubectl-edit Update  14:43:20: replace /metadata/annotations replace /metadata/generation replace " +
				"/metadata/resourceVersion",
		},
		{"Update that only removes fields", "deployment.jsonl", 2, 3, ""},
		{
			"added port and finalizer", "service.jsonl", 0, 1,
			"monitoring Apply  14:43:23: add /metadata/finalizers/1 replace /metadata/resourceVersion add " +
				"/spec/ports/2",
		},
		{"pod is bound without a managedFields entry", "pod.jsonl", 0, 1, ""},
		{
			"kubelet update in the second of the creation", "pod.jsonl", 1, 2,
			"kubelet Update status 14:43:16: replace /metadata/resourceVersion replace /status",
		},
		{
			"the pod runs", "pod.jsonl", 2, 3,
			"kubelet Update status 14:43:17: replace /metadata/resourceVersion replace " +
				"/status/conditions/0/lastTransitionTime replace /status/conditions/1/lastTransitionTime " +
				"replace /status/conditions/2 replace /status/conditions/3 replace /status/containerStatuses " +
				"replace /status/phase",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorded := versions(t, test.file)
			before, after := recorded[test.from], recorded[test.to]
			patch, err := diff.Patch(before.text, after.text)
			if err != nil {
				t.Fatal(err)
			}
			got := formatContributions(t, fieldmanager.Attribute(after.managed, patch, after.text, before.newestTime()), patch)
			if got != test.want {
				t.Errorf("patch %s\ngot  %s\nwant %s", patch, got, test.want)
			}
		})
	}
}

func pathsOf(tb testing.TB, patch []byte) (paths []string) {
	tb.Helper()
	for part := range strings.SplitSeq(string(patch), `{"op":"`) {
		op, rest, ok := strings.Cut(part, `","path":"`)
		path, _, _ := strings.Cut(rest, `"`)
		if ok && slices.Contains([]string{"add", "remove", "replace"}, op) {
			paths = append(paths, op+" "+path)
		}
	}
	return paths
}
