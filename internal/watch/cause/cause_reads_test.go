package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// counter counts how often the rules list all objects of a kind, and how often they decode an object.
type counter struct {
	*cluster

	lists, reads int
	counted      graph.ID
}

type countedObject struct {
	neighbor.Object

	reads *int
}

func (o countedObject) JSON() ([]byte, error) {
	*o.reads++
	return o.Object.JSON() //nolint:wrapcheck // A test.
}

func (c *counter) All(kind graph.Kind, namespace string, limit int) []neighbor.Neighbor {
	if namespace == neighbor.AnyNamespace {
		c.lists++
	}
	return c.cluster.All(kind, namespace, limit)
}

func (c *counter) Find(id graph.ID) neighbor.Neighbor {
	n := c.cluster.Find(id)
	if id == c.counted {
		n.Object = countedObject{n.Object, &c.reads}
	}
	return n
}

// A Gateway without the name of a Secret needs no list of all Services.
func TestGatewayWithoutCredentialReadsNoServices(t *testing.T) {
	for name, want := range map[string]bool{"web": true, "url": false} {
		t.Run(name, func(t *testing.T) {
			fixture, _ := load(t, "testdata/istio-credential.yaml")
			c := &counter{cluster: fixture}
			kind := graph.Kind{Group: "networking.istio.io", Kind: "Gateway"}
			cause.Of(c, c.Find(graph.NewID(kind, "shop", name)))
			if (c.lists > 0) != want {
				t.Errorf("got %d lists, want lists: %t", c.lists, want)
			}
		})
	}
}

// The annotation of a Service is decoded once, even if many paths of an Ingress lead to the Service.
func TestServiceOfManyPathsIsReadOnce(t *testing.T) {
	reads := make(map[int]int)
	for _, paths := range []int{1, 500} {
		fixture, _ := load(t, "testdata/ingress-configuration-missing.yaml")
		c := &counter{cluster: fixture, counted: graph.NewID(graph.Kind{Kind: "Service"}, "shop", "found")}
		ingress := c.objects[graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, "shop", "found")]
		backend := `{"backend": {"service": {"name": "found", "port": {"number": 80}}}}`
		list := strings.Repeat(backend+", ", paths-1) + backend
		ingress.text = fmt.Appendf(nil, `{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": `+
			`{"name": "found", "namespace": "shop"}, "spec": {"rules": [{"http": {"paths": [%s]}}]}}`, list)
		cause.Of(c, c.Find(ingress.id))
		reads[paths] = c.reads
	}
	if reads[1] != 2 || reads[500] != 501 { // The ports of the Service are decoded for each path.
		t.Errorf("got %v, want one read for each path, and one for the annotation", reads)
	}
}
