// Package incidents verifies that the program explains real incidents. Each file of testdata reproduces one incident
// in the demo cluster, and lists the objects that the program must report, each with its cause. Run the test with the
// script .ci/on-demo, which starts the cluster, and with these environment variables:
//
//   - DASHBOARD is the path of the program. Only this variable is required.
//   - GLASSHOUSE_INCIDENT is a regular expression for the names of the fixtures to run.
//   - GLASSHOUSE_INCIDENTS can be "verdicts". The test then compares the verdicts of rows instead of the problems that
//     the program reports. It only prints the result, because rows name no causes.
//
// The test also fails if the program reports a healthy object, or an object that has nothing to do with an incident. It
// prints each other reported object that no fixture lists ("unjudged"), to be judged by a person.
//
// The folder "withheld" can contain more fixtures in the same format. The test only prints their results, because the
// program is not adapted to them.
package incidents

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/glasshouse-project/glasshouse/test/faults/program"
)

// minRecall is the share of expected objects that must be reported with their true cause, in percent.
const minRecall = 95

// The program reports the objects of real incidents with their causes, and no healthy object.
func TestIncidentsAreReportedWithCauses(t *testing.T) {
	start := time.Now()
	fixtures, withheld := must(load("testdata"))(t), must(load("withheld"))(t)
	all := slices.Concat(fixtures, withheld)
	demo := must(read("testdata/demo/broken.yaml", "demo"))(t)
	c := must(open(t.Context()))(t)
	serveMetrics(t, c)
	k, stop := startKubelet(t, c, all)
	p := startProgram(t, c)
	if err := c.createAll(t.Context(), all); err != nil {
		t.Error(err)
	}
	t.Logf("%d fixtures were created after %v", len(all), time.Since(start).Round(time.Second))
	// Controllers react to some moved times by writing new times. The second pass moves these new times.
	for range 2 {
		pause(t, 8*time.Second)
		changed := must(c.age(t.Context(), all))(t)
		t.Logf("moved the times of %d objects", changed)
	}
	ask := problems
	isStrict := os.Getenv("GLASSHOUSE_INCIDENTS") != "verdicts"
	if !isStrict {
		ask = func(ctx context.Context, address string) ([]finding, error) {
			return verdicts(ctx, address, resources(append(slices.Clone(all), demo)))
		}
	}
	owners := c.ownersOf(t.Context())
	rules := comparison{fixtures, append(slices.Clone(withheld), demo), owners, refusesUnrelated && isStrict}
	results := []*result{settle(t, p.URL, ask, &rules)}
	t.Logf("after %v:\n%s", time.Since(start).Round(time.Second), results[0])
	if isStrict {
		// Usually, the program starts after the problems have started. It then reads the kinds in another order.
		later := startProgram(t, c)
		results = append(results, settle(t, later.URL, ask, &rules))
		t.Logf("a program that started later:\n%s", results[1])
	}
	if len(withheld) > 0 {
		t.Run("withheld", func(t *testing.T) {
			rules := comparison{withheld, append(slices.Clone(fixtures), demo), owners, refusesUnrelated && isStrict}
			t.Logf("the withheld fixtures:\n%s", settle(t, p.URL, ask, &rules))
		})
	}
	stop()
	if err := c.verify(t.Context(), all, k); err != nil {
		t.Errorf("the fixtures are not valid: %v", err)
	}
	if !isStrict {
		return
	}
	for _, r := range results {
		if recall := r.recall(); recall < minRecall {
			t.Errorf("got recall %.1f %%, want at least %d %%", recall, minRecall)
		}
		if len(r.wrong) > 0 {
			t.Errorf("got %d objects that are healthy or unrelated to an incident, want none", len(r.wrong))
		}
	}
}

func startProgram(t *testing.T, c *testCluster) *program.Program {
	t.Helper()
	p := must(program.Start(t.Context(), program.Options{
		Path: os.Getenv("DASHBOARD"), Args: []string{"--kubeconfig", c.Kubeconfig},
	}))(t)
	t.Cleanup(func() {
		if err := p.Stop(20 * time.Second); err != nil {
			t.Errorf("the program ended with error %v:\n%s", err, p.Log())
		}
	})
	return p
}

// settle reads the program's report every 3 s for up to a minute. It stops earlier if the report contains all expected
// objects and no healthy ones, or if the result has not changed for 15 s.
func settle(
	t *testing.T, address string, ask func(context.Context, string) ([]finding, error), rules *comparison,
) *result {
	t.Helper()
	var last *result
	started, changed := time.Now(), time.Now()
	for {
		r := rules.compare(must(ask(t.Context(), address))(t))
		if last == nil || r.String() != last.String() {
			changed = time.Now()
		}
		last = r
		if r.isPerfect() || time.Since(changed) > 15*time.Second || time.Since(started) > time.Minute {
			return r
		}
		pause(t, 3*time.Second)
	}
}

// startKubelet creates the nodes of the fixtures, and runs their pods until the test ends.
func startKubelet(t *testing.T, c *testCluster, fixtures []*fixture) (k *kubelet, stop func()) {
	t.Helper()
	k = &kubelet{
		core: c.Core, states: make(map[string]map[string]podState), reported: make(map[types.UID]map[string]any),
	}
	node := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": defaultNode},
	}}
	nodes := []*unstructured.Unstructured{node}
	for _, f := range fixtures {
		k.states[f.namespace] = map[string]podState{"completed": {Phase: "Succeeded"}}
		maps.Copy(k.states[f.namespace], f.Pods)
		for i := range f.documents {
			switch o := f.documents[i].object; {
			case o == nil:
			case isNode(o):
				nodes = append(nodes, o)
			case o.GetKind() == "Namespace":
				k.states[o.GetName()] = k.states[f.namespace]
			}
		}
	}
	for _, node := range nodes {
		if err := c.addNode(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		k.nodes = append(k.nodes, node.GetName())
		if node.GetAnnotations()["incidents/dead"] != "" {
			k.dead = append(k.dead, node.GetName())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		k.run(ctx, func(err error) { t.Logf("the kubelet: %v", err) })
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return k, stop
}

// pause gives controllers time to react. No signal shows when all of them have reacted.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// TestFixturesAreConsistent verifies the fixtures without a cluster.
func TestFixturesAreConsistent(t *testing.T) {
	fixtures := slices.Concat(must(load("testdata"))(t), must(load("withheld"))(t))
	incidents, healthy := 0, 0
	fixtureOf := make(map[string]string) // Maps each APIService name to its fixture. Two fixtures must not share a name.
	for _, f := range fixtures {
		if len(f.Expect) > 0 {
			incidents++
		}
		healthy += len(f.Healthy)
		for i := range f.documents {
			o := f.documents[i].object
			// An Event about a node is in the namespace default, but its name starts with the namespace of the fixture.
			isOwn := o == nil || o.GetNamespace() == "" || strings.HasPrefix(o.GetNamespace(), f.namespace) ||
				o.GetKind() == "Event" && strings.HasPrefix(o.GetName(), f.namespace)
			if !isOwn {
				t.Errorf("%s: %s %s is in namespace %s", f.name, o.GetKind(), o.GetName(), o.GetNamespace())
			}
			if o == nil || o.GetKind() != "APIService" {
				continue
			}
			if other := fixtureOf[o.GetName()]; other != "" {
				t.Errorf("%s: APIService %s is also in %s, and all fixtures share one cluster", f.name, o.GetName(), other)
			}
			fixtureOf[o.GetName()] = f.name
		}
	}
	if os.Getenv("GLASSHOUSE_INCIDENT") == "" && (incidents < 70 || healthy < 25) {
		t.Errorf("got %d incidents and %d healthy objects, want at least 70 and 25", incidents, healthy)
	}
}
