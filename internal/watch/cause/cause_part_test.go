package cause_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// manyUses is a cluster in which each object refers to more objects than the rules read.
type manyUses struct{ *cluster }

func (m manyUses) References(id graph.ID) ([]graph.Use, []graph.Owner) {
	uses, owners := m.cluster.References(id)
	for range neighbor.Limit {
		uses = append(uses, graph.Use{Target: graph.NewID(graph.Kind{Kind: "ConfigMap"}, "shop", "x"), Optional: true})
	}
	return uses, owners
}

// unknownConfig is a cluster that contains an object of the kind ProviderConfig which is not known.
type unknownConfig struct{ *cluster }

func (u unknownConfig) Find(id graph.ID) neighbor.Neighbor {
	if id.Name() == "plain" {
		return neighbor.Neighbor{ID: id, Resource: ref(id.Kind)}
	}
	return u.cluster.Find(id)
}

// A text that names a missing object without its namespace possibly means an object to which an unknown object refers.
func TestPartOfUnknownObjects(t *testing.T) {
	for _, test := range []struct{ kind, namespace, name string }{
		{"RecordSet", "", "with-plain"}, {"Zone", "shop", "with-plain"},
	} {
		c, _ := load(t, "testdata/custom-part-of-used-elsewhere.yaml")
		id := graph.NewID(graph.Kind{Group: "dns.gcp.example.org", Kind: test.kind}, test.namespace, test.name)
		for _, limited := range []neighbor.Cluster{manyUses{c}, unknownConfig{c}} {
			if v := cause.Of(limited, c.Find(id)); v != nil && v.Cause != nil {
				t.Errorf("%s in %T: got %s", test.kind, limited, describe(*v))
			}
		}
		if v := cause.Of(c, c.Find(id)); v == nil || v.Cause == nil {
			t.Errorf("%s: got no cause", test.kind)
		}
	}
	c, _ := load(t, "testdata/custom-part-of-used-elsewhere.yaml")
	id := graph.NewID(graph.Kind{Group: "dns.gcp.example.org", Kind: "Zone"}, "shop", "own-namespace")
	if v := cause.Of(manyUses{c}, c.Find(id)); v == nil || v.Cause == nil {
		t.Error("got no cause for a text with the namespace")
	}
}
