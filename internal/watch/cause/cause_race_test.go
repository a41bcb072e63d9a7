package cause_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

// vanishing is a cluster in which an object is deleted during an evaluation, after a number of reads of this object.
type vanishing struct {
	*cluster

	id    graph.ID
	reads int
}

func (v *vanishing) isDeleted(id graph.ID) bool {
	if id != v.id {
		return false
	}
	v.reads--
	return v.reads < 0
}

func (v *vanishing) Find(id graph.ID) neighbor.Neighbor {
	n := v.cluster.Find(id)
	if v.isDeleted(id) {
		n.Presence, n.Object = neighbor.Missing, nil
	}
	return n
}

func (v *vanishing) Selector(id graph.ID) *objectrefs.Selector {
	if v.isDeleted(id) {
		return nil
	}
	return v.cluster.Selector(id)
}

// The objects of a cluster change while the rules read them.
func TestRulesTolerateVanishingObjects(t *testing.T) {
	const maxReads = 10
	for _, test := range []struct {
		file, pod string
		vanishing graph.ID
	}{
		{"pod-environment-key-skipped", "checkout", graph.NewID(graph.Kind{Kind: "ConfigMap"}, "shop", "settings")},
		{"pod-peers-unpublished", "ring-a", graph.NewID(graph.Kind{Kind: "Service"}, "shop", "ring")},
	} {
		t.Run(test.file, func(t *testing.T) {
			c, _ := load(t, "testdata/"+test.file+".yaml")
			pod := c.Find(graph.NewID(graph.Kind{Kind: "Pod"}, "shop", test.pod))
			for reads := range maxReads {
				cause.Of(&vanishing{c, test.vanishing, reads}, pod) // Must not panic.
			}
		})
	}
}
