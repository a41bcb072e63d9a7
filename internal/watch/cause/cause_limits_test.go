package cause_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// countingCluster counts the searches for objects by name.
type countingCluster struct {
	*cluster

	searches int
}

func (c *countingCluster) Named(by graph.ID, m *neighbor.Mention) []neighbor.Neighbor {
	c.searches++
	return c.cluster.Named(by, m)
}

// An object that uses many objects, each of which refers to many objects, causes only a limited number of searches.
func TestSearchesForReferencesOfReferences(t *testing.T) {
	const count = 100
	used := make([]string, count)
	var text strings.Builder
	text.WriteString("{}\n")
	for n := range used {
		used[n] = fmt.Sprintf("{compositionRef: {name: composition-%d}}", n)
		parts := make([]string, count)
		for m := range parts {
			parts[m] = fmt.Sprintf("{functionRef: {name: function-%d-%d}}", n, m)
		}
		fmt.Fprintf(&text, "---\n{apiVersion: apiextensions.crossplane.io/v1, kind: Composition, "+
			"metadata: {name: composition-%d, uid: c%d}, spec: {pipeline: [%s]}}\n", n, n, strings.Join(parts, ", "))
	}
	text.WriteString("---\n{apiVersion: pkg.crossplane.io/v1, kind: Function, metadata: {name: a, uid: f}}\n" +
		"---\n{apiVersion: example.org/v1, kind: XDatabase, metadata: {name: db, namespace: shop, uid: db}, " +
		"spec: {parts: [" + strings.Join(used, ", ") + "]}, status: {conditions: [{type: Synced, status: 'False', " +
		"reason: ReconcileError, message: the server is busy, lastTransitionTime: '2026-01-01T00:10:00Z'}]}}\n")
	file := filepath.Join(t.TempDir(), "references.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := load(t, file)
	counting := &countingCluster{cluster: c}
	cause.Of(counting, c.Find(graph.NewID(graph.Kind{Group: "example.org", Kind: "XDatabase"}, "shop", "db")))
	if counting.searches < count || counting.searches > 10*count {
		t.Errorf("got %d searches, want %d to %d", counting.searches, count, 10*count)
	}
}
