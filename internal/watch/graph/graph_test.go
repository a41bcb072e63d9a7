package graph_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

const all = 1 << 30

var (
	pod       = graph.Kind{Kind: "Pod"}
	node      = graph.Kind{Kind: "Node"}
	configMap = graph.Kind{Kind: "ConfigMap"}
	service   = graph.Kind{Kind: "Service"}
)

func newGraph() *graph.Graph {
	return graph.New(func(k graph.Kind) (namespaced, ok bool) { return k != node, true })
}

func podText(labels, owner, nodeName, uses string) string {
	volumes := ""
	if uses != "" {
		volumes = fmt.Sprintf(`,"volumes":[{"name":"v","configMap":{"name":%q}}]`, uses)
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{%s},"ownerReferences":[`+
		`{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%q,"uid":%q}]},"spec":{"nodeName":%q%s}}`,
		labels, owner, owner, nodeName, volumes)
}

func serviceText(selector string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","spec":{"selector":{%s}}}`, selector)
}

// model contains the references of each object. It finds objects by a scan.
type model map[graph.ID]objectrefs.Object

func (m model) scan(include func(id graph.ID, o *objectrefs.Object) bool) (found []string) {
	for id, o := range m {
		if include(id, &o) {
			found = append(found, fmt.Sprint(id))
		}
	}
	slices.Sort(found)
	return found
}

func texts(ids []graph.ID) (found []string) {
	for _, id := range ids {
		found = append(found, fmt.Sprint(id))
	}
	slices.Sort(found)
	return found
}

func wantSame(t *testing.T, what string, got []graph.ID, want []string) {
	t.Helper()
	if !slices.Equal(texts(got), want) {
		t.Fatalf("%s: got %s, want %s", what, texts(got), want)
	}
}

// check compares the result of each lookup of the graph with a scan of the model.
func (m model) check(t *testing.T, g *graph.Graph) {
	t.Helper()
	if g.Objects() != len(m) {
		t.Fatalf("got %d objects, want %d", g.Objects(), len(m))
	}
	for _, ns := range []string{"a", "b"} {
		for n := range 3 {
			name := fmt.Sprint("m", n)
			wantSame(t, "users of "+name, g.Users(graph.NewID(configMap, ns, name), all),
				m.scan(func(id graph.ID, o *objectrefs.Object) bool {
					return id.Namespace() == ns && slices.ContainsFunc(o.Uses, func(r objectrefs.Ref) bool {
						return r.Kind == "ConfigMap" && r.Name == name
					})
				}))
		}
	}
	for n := range 3 {
		name := fmt.Sprint("n", n)
		onNode := m.scan(func(_ graph.ID, o *objectrefs.Object) bool {
			return slices.ContainsFunc(o.Uses, func(r objectrefs.Ref) bool { return r.Kind == "Node" && r.Name == name })
		})
		wantSame(t, "pods on "+name, g.Users(graph.NewID(node, "", name), all), onNode)
		owner := fmt.Sprint("r", n)
		wantSame(t, "owned by "+owner, g.Owned(owner, all), m.scan(func(_ graph.ID, o *objectrefs.Object) bool {
			return slices.ContainsFunc(o.Owners, func(r objectrefs.Ref) bool { return r.UID == owner })
		}))
	}
	for _, kind := range []graph.Kind{pod, service} {
		wantSame(t, "all "+kind.Kind, g.OfKind(kind), m.scan(func(id graph.ID, _ *objectrefs.Object) bool {
			return id.Kind == kind
		}))
	}
	for id, o := range m {
		switch id.Kind {
		case service:
			if (g.Selector(id) == nil) != (o.Selects == nil) {
				t.Fatalf("selector of %v: got %v", id, g.Selector(id))
			}
			if o.Selects == nil {
				continue
			}
			wantSame(t, "selected by "+o.Selects.String(), g.Selected(id.Namespace(), o.Selects, all),
				m.scan(func(other graph.ID, p *objectrefs.Object) bool {
					return other.Kind == pod && other.Namespace() == id.Namespace() && o.Selects.Matches(p.Labels)
				}))
		case pod:
			wantSame(t, "selectors of "+id.Key, g.Selectors(id), m.scan(func(other graph.ID, s *objectrefs.Object) bool {
				return s.Selects != nil && other.Namespace() == id.Namespace() && s.Selects.Matches(o.Labels)
			}))
		}
	}
}

// After any changes, all lookups have the results of a scan of all objects.
func TestLookupsEqualScans(t *testing.T) {
	for seed := range uint64(20) {
		r, g, m := rand.New(rand.NewPCG(seed, 1)), newGraph(), model{}
		pick := func(values ...string) string { return values[r.IntN(len(values))] }
		for range 300 {
			kind, text := pod, podText(
				pick("", `"app":"x"`, `"app":"y"`, `"app":"x","tier":"z"`, `"app":"y","tier":"z"`), pick("r0", "r1", "r2"),
				pick("", "n0", "n1", "n2"), pick("", "m0", "m1", "m2"),
			)
			if r.IntN(4) == 0 {
				kind, text = service, serviceText(pick("", `"app":"x"`, `"tier":"z"`, `"app":"x","tier":"z"`))
			}
			id := graph.NewID(kind, pick("a", "b"), fmt.Sprint("o", r.IntN(12)))
			if r.IntN(4) == 0 {
				g.Remove(id)
				delete(m, id)
			} else {
				o := objectrefs.Of([]byte(text))
				before, existed := m[id]
				encode := func(o objectrefs.Object) string {
					text, _ := json.Marshal([]any{o.Owners, o.Uses, o.Labels})
					return string(text) + selectorText(o.Selects)
				}
				if changed := g.Set(id, &o); kind == pod && changed != (!existed || encode(before) != encode(o)) {
					t.Fatalf("Set(%s) reports %t", text, changed)
				}
				m[id] = o
			}
			m.check(t, g)
		}
		for id := range maps.Clone(m) {
			g.Remove(id)
			delete(m, id)
		}
		m.check(t, g)
		if size := g.Size(); size != 0 {
			t.Errorf("an empty graph has %d entries", size)
		}
	}
}

func selectorText(s *objectrefs.Selector) string {
	if s == nil {
		return ""
	}
	return s.String()
}

// A lookup never returns more objects than its limit.
func TestLookupsAreLimited(t *testing.T) {
	g := newGraph()
	for n := range 10 {
		o := objectrefs.Of([]byte(podText(`"app":"x"`, "r", "n", "m")))
		g.Set(graph.NewID(pod, "a", strconv.Itoa(n)), &o)
	}
	s := objectrefs.Of([]byte(serviceText(`"app":"x"`)))
	for _, limit := range []int{0, 1, 3, 10, 11} {
		want := min(limit, 10)
		for name, got := range map[string][]graph.ID{
			"users": g.Users(graph.NewID(configMap, "a", "m"), limit), "node": g.Users(graph.NewID(node, "", "n"), limit),
			"owned": g.Owned("r", limit), "selected": g.Selected("a", s.Selects, limit),
		} {
			t.Run(fmt.Sprintf("%s with limit %d", name, limit), func(t *testing.T) {
				if len(got) != want {
					t.Errorf("got %d, want %d", len(got), want)
				}
			})
		}
	}
}

// largeGraph has 100,000 pods of 5,000 ReplicaSets on 1,000 nodes, and 5,000 Services.
func largeGraph() (g *graph.Graph, selector *objectrefs.Selector) {
	g = newGraph()
	for n := range 100_000 {
		app := n / 20
		o := objectrefs.Of([]byte(podText(fmt.Sprintf(`"app":"app-%d"`, app), fmt.Sprint("uid-", app),
			fmt.Sprint("node-", n%1000), fmt.Sprint("map-", app))))
		g.Set(graph.NewID(pod, fmt.Sprint("ns-", app%100), fmt.Sprintf("app-%d-%010d", app, n)), &o)
	}
	for app := range 5000 {
		o := objectrefs.Of([]byte(serviceText(fmt.Sprintf(`"app":"app-%d"`, app))))
		g.Set(graph.NewID(service, fmt.Sprint("ns-", app%100), fmt.Sprint("app-", app)), &o)
		selector = o.Selects
	}
	return g, selector
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// maxBytes limits the memory per object. It includes the object's key (32 bytes). It also includes the object's share
// of the text of its group.
const maxBytes = 107

// maxLookup is the maximum time of a lookup in one direction.
const maxLookup = time.Millisecond

// A large graph takes little memory per object, and a lookup takes less than a millisecond.
func TestLargeGraphs(t *testing.T) {
	before := heap()
	g, selector := largeGraph()
	perObject := float64(heap()-before) / float64(g.Objects())
	t.Logf("%.1f bytes per object", perObject)
	if perObject > maxBytes {
		t.Errorf("got %.1f bytes per object, want at most %d", perObject, maxBytes)
	}
	if testing.Short() {
		return // With the race detector, lookups take longer.
	}
	for name, lookup := range lookups(t, g, selector) {
		fastest := time.Hour // Of many lookups, because another program can delay some of them.
		for range 50 {
			start := time.Now()
			lookup()
			fastest = min(fastest, time.Since(start))
		}
		t.Logf("%s: %v", name, fastest)
		if fastest > maxLookup {
			t.Errorf("%s: got %v, want at most %v", name, fastest, maxLookup)
		}
	}
}

// lookups returns lookups in both directions, and of all objects of a kind.
func lookups(tb testing.TB, g *graph.Graph, selector *objectrefs.Selector) map[string]func() {
	tb.Helper()
	id := graph.NewID(pod, "ns-99", fmt.Sprintf("app-4999-%010d", 99_999))
	if len(g.Selectors(id)) != 1 || len(g.Selected("ns-99", selector, all)) != 20 {
		tb.Fatal("the lookups have no results")
	}
	return map[string]func(){
		"users":     func() { g.Users(graph.NewID(configMap, "ns-99", "map-4999"), all) },
		"node":      func() { g.Users(graph.NewID(node, "", "node-7"), all) },
		"owned":     func() { g.Owned("uid-4999", all) },
		"selected":  func() { g.Selected("ns-99", selector, all) },
		"selectors": func() { g.Selectors(id) },
		"uses":      func() { g.References(id) },
		"kind":      func() { g.OfKind(configMap) },
	}
}

// BenchmarkGraphLookups measures the lookups among 105,000 objects, and fails if one takes too long.
func BenchmarkGraphLookups(b *testing.B) {
	g, selector := largeGraph()
	for name, lookup := range lookups(b, g, selector) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				lookup()
			}
			if each := b.Elapsed() / time.Duration(b.N); each > maxLookup {
				b.Errorf("got %v for a lookup, want at most %v", each, maxLookup)
			}
		})
	}
}
