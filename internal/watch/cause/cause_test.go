package cause_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/internal/watch/cause"
	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// object is an object of a fixture.
type object struct {
	id      graph.ID
	text    []byte
	created time.Time
	uid     string
	verdict verdict.Packed
}

func (o *object) Verdict() verdict.Packed { return o.verdict }
func (o *object) UID() string             { return o.uid }
func (o *object) Created() time.Time      { return o.created }
func (o *object) JSON() ([]byte, error)   { return o.text, nil }

// ManagedTime returns the newest time in the managedFields.
func (o *object) ManagedTime() (newest time.Time) {
	var of metav1.PartialObjectMetadata
	_ = json.Unmarshal(o.text, &of)
	for _, entry := range of.ManagedFields {
		if entry.Time != nil && entry.Time.After(newest) {
			newest = entry.Time.Time
		}
	}
	return newest
}

// Cell returns the type of a Secret, as in the table of the API server.
func (o *object) Cell(at int) []byte {
	var secret struct{ Type json.RawMessage }
	if at != 1 || json.Unmarshal(o.text, &secret) != nil {
		return nil
	}
	return secret.Type
}

// cluster contains the objects of a fixture. All resources are known completely.
type cluster struct {
	*graph.Graph

	objects  map[graph.ID]*object
	order    []graph.ID
	revisits []time.Time
	named    []graph.ID // The objects that the method Named has returned.
}

func isNamespaced(kind graph.Kind) (namespaced, ok bool) {
	switch kind.Kind {
	case "Node":
		return kind.Group != "", true // Longhorn has another kind with the name Node.
	case "StorageClass", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "IngressClass", "APIService",
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Namespace", "PriorityClass",
		"DeviceClass", "CustomResourceDefinition", "FlowSchema", "PriorityLevelConfiguration", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "VolumeAttributesClass", "IngressClassParams", "GatewayClass",
		"CiliumClusterwideNetworkPolicy", "GlobalNetworkPolicy", "AdminNetworkPolicy", "NodePool", "EC2NodeClass", "Team",
		"Composition", "Function", "CSIDriver", "CSINode", "ServiceCIDR",
		"RuntimeClass", "ClusterPolicy", "ValidatingPolicy", "K8sRequiredLabels", "K8sRequiredOwner",
		"ClusterSecretStore", "CiliumNode", "ResourceFlavor", "ClusterQueue", "ClusterExtension", "RecordSet",
		"ProviderConfig":
		return false, true
	case "Unserved":
		return false, false
	}
	return true, true
}

func ref(kind graph.Kind) string {
	r, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: kind.Group, Version: "v1", Kind: kind.Kind})
	return cmp.Or(kind.Group, "core") + "/v1/" + r.Resource
}

func (c *cluster) Find(id graph.ID) neighbor.Neighbor {
	n := neighbor.Neighbor{ID: id, Presence: neighbor.Missing}
	if _, ok := isNamespaced(id.Kind); ok {
		n.Resource = ref(id.Kind)
	}
	if o := c.objects[id]; o != nil {
		n.Presence, n.Object = neighbor.Present, o
	}
	return n
}

func (c *cluster) All(kind graph.Kind, namespace string, limit int) (found []neighbor.Neighbor) {
	for _, id := range c.order {
		if id.Kind == kind && (id.Namespace() == namespace || namespace == neighbor.AnyNamespace) && len(found) < limit {
			found = append(found, c.Find(id))
		}
	}
	return found
}

// Inheritors returns the objects that inherit directly from an object.
func (c *cluster) Inheritors(id graph.ID, _ int) (inheritors []neighbor.Neighbor, isLimited bool) {
	for _, other := range c.order {
		v := c.objects[other].verdict.Unpack()
		isStep := v.Via != nil && neighbor.IDOf(v.Via) == id
		if isStep || v.Via == nil && v.Cause != nil && neighbor.IDOf(&v.Cause.Object) == id {
			inheritors = append(inheritors, c.Find(other))
		}
	}
	return inheritors, false
}

// now is the time of all fixtures.
var now = time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)

func (*cluster) Now() time.Time { return now }

func (c *cluster) RevisitAt(at time.Time) { c.revisits = append(c.revisits, at) }

// Named resolves mentions of the kinds of the fixture's objects, and of some kinds without objects.
func (c *cluster) Named(by graph.ID, m *neighbor.Mention) (found []neighbor.Neighbor) {
	kinds := []graph.Kind{
		{Kind: "ConfigMap"},
		{Group: "resource.k8s.io", Kind: "DeviceClass"},
		{Group: "kueue.x-k8s.io", Kind: "LocalQueue"},
	}
	for _, id := range c.order {
		if !slices.Contains(kinds, id.Kind) {
			kinds = append(kinds, id.Kind)
		}
	}
	served := func(yield func(graph.Kind, string) bool) {
		for _, kind := range kinds {
			plural := path.Base(ref(kind))
			if kind.Kind == "NetworkAttachmentDefinition" {
				plural = "network-attachment-definitions"
			}
			if !yield(kind, plural) {
				return
			}
		}
	}
	for _, kind := range neighbor.Kinds(by, m, served) {
		namespace := ""
		if namespaced, _ := isNamespaced(kind); namespaced {
			if namespace = cmp.Or(m.Namespace, by.Namespace()); namespace == "" {
				continue
			}
		}
		id := graph.NewID(kind, namespace, m.Name)
		c.named = append(c.named, id)
		found = append(found, c.Find(id))
	}
	return found
}

func load(t *testing.T, file string) (c *cluster, want map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c = &cluster{Graph: graph.New(isNamespaced), objects: make(map[graph.ID]*object)}
	header, rest, _ := bytes.Cut(text, []byte("\n---\n"))
	if err := yaml.UnmarshalStrict(header, &want); err != nil {
		t.Fatal(err)
	}
	var evaluator health.Evaluator
	for document := range bytes.SplitSeq(rest, []byte("\n---\n")) {
		o := &object{}
		if o.text, err = yaml.YAMLToJSONStrict(document); err != nil {
			t.Fatalf("%s: %v in %s", file, err, document)
		}
		var meta struct {
			Metadata struct {
				UID               string
				CreationTimestamp time.Time
			}
		}
		if err := json.Unmarshal(o.text, &meta); err != nil {
			t.Fatal(err)
		}
		refs := objectrefs.Of(o.text)
		o.id = graph.NewID(graph.Kind{Group: refs.Group, Kind: refs.Kind}, refs.Namespace, refs.Name)
		o.uid, o.created = meta.Metadata.UID, meta.Metadata.CreationTimestamp
		v := evaluator.Evaluate(o.text, now, now.Add(-time.Minute))
		o.verdict = verdict.Pack(nil, &v)
		c.objects[o.id] = o
		c.order = append(c.order, o.id)
		c.Set(o.id, &refs)
	}
	return c, want
}

// evaluate evaluates all objects until no verdict changes, as the engine does after a change of an object.
func (c *cluster) evaluate(t *testing.T) {
	t.Helper()
	for range 10 {
		changed := false
		for _, id := range c.order {
			o := c.objects[id]
			next := o.verdict.Own()
			if v := cause.Of(c, c.Find(id)); v != nil {
				next = verdict.Inherit(next, v)
			}
			if !next.Same(o.verdict) {
				changed = true
				o.verdict = next
			}
		}
		if !changed {
			return
		}
	}
	t.Fatal("the verdicts do not settle")
}

func describe(v verdict.Verdict) string {
	text := v.Severity.String()
	if v.Cause != nil {
		text += fmt.Sprintf(", %s/%s", v.Cause.Kind, v.Cause.Name)
		if v.Cause.Missing {
			text += " missing"
		}
	}
	if v.Sentence != "" {
		text += ": " + v.Sentence
	}
	return text
}

// Each fixture file lists the expected verdicts of some objects, by "Kind/name", and then the objects themselves.
func TestFixturesHaveExpectedVerdicts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("got fixtures %s, error %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			for name, order := range map[string]func([]graph.ID){
				"in order": func([]graph.ID) {}, "reversed": slices.Reverse[[]graph.ID],
			} {
				t.Run(name, func(t *testing.T) {
					c, want := load(t, file)
					order(c.order)
					c.evaluate(t)
					for _, id := range c.order {
						v := c.objects[id].verdict.Unpack()
						if text, ok := want[id.Kind.Kind+"/"+id.Name()]; ok && text != describe(v) {
							t.Errorf("%s/%s:\ngot  %s\nwant %s", id.Kind.Kind, id.Name(), describe(v), text)
						}
						c.checkSources(t, id, &v)
						delete(want, id.Kind.Kind+"/"+id.Name())
					}
					if len(want) > 0 {
						t.Errorf("the fixture has no objects %v", want)
					}
				})
			}
		})
	}
}

// checkSources checks that the sources of an inherited verdict include all objects that its texts name.
//
// Invariant: I18.
func (c *cluster) checkSources(t *testing.T, id graph.ID, v *verdict.Verdict) {
	t.Helper()
	if !c.objects[id].verdict.IsInherited() {
		return
	}
	if !v.Sources.Within(func(resource, _ string) bool { return resource != "" }) {
		t.Errorf("%v: the sources of %q are %q, so restricted viewers never get the sentence", id, v.Sentence, v.Sources)
	}
	own := c.objects[id].verdict.Own().Unpack()
	texts := v.Sentence
	if v.Cause != nil {
		texts += " " + v.Cause.Sentence
		if v.Cause.Resource != "" && !v.Sources.Contains(v.Cause.Resource, v.Cause.Namespace) {
			t.Errorf("%v: the sources %q do not include the cause %+v", id, v.Sources, v.Cause.Object)
		}
	}
	for _, other := range c.order {
		name := other.Name()
		isNamed := len(name) > 2 && strings.Contains(texts, name) && !strings.Contains(own.Sentence, name)
		if isNamed && other != id && !v.Sources.Contains(ref(other.Kind), other.Namespace()) &&
			!bytes.Contains(c.objects[id].text, []byte(name)) {
			t.Errorf("%v: %q names %v, but the sources are %q", id, texts, other, v.Sources)
		}
	}
}

// If a built-in resource is the source of a sentence, permit.CauseResources must contain it. Otherwise, no permission
// for it would be reviewed, and restricted viewers would never get the sentence.
func TestSourcesAreReviewed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var reviewed []string // "GROUP RESOURCE", without the version: it is v1 in all fixtures.
	for _, r := range permit.CauseResources() {
		reviewed = append(reviewed, cmp.Or(r.Group, "core")+" "+r.Resource)
	}
	for _, file := range files {
		c, _ := load(t, file)
		c.evaluate(t)
		for _, id := range c.order {
			c.objects[id].verdict.Unpack().Sources.Within(func(ref, _ string) bool {
				part := strings.Split(ref, "/")
				isBuiltIn := len(part) == 3 && (part[0] == "core" || resource.IsBuiltIn(part[0]))
				if isBuiltIn && !slices.Contains(reviewed, part[0]+" "+part[2]) {
					t.Errorf("%s: %s is a source, but not a cause resource", file, ref)
				}
				return true
			})
		}
	}
}

// A verdict whose sentence is based only on its object has the source Own, and needs no permission for other objects.
// The source of an inherited verdict is the object from which it is inherited. Viewers need permission to read that
// object.
func TestVerdictFromOwnContentHasOnlySourceOwn(t *testing.T) {
	for file, test := range map[string]struct {
		kind            graph.Kind
		namespace, name string
		want            verdict.Sources
	}{
		"policy-parameters-unserved": {
			graph.Kind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}, "", "limits", verdict.Own,
		},
		"webhook-service-port": {
			graph.Kind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"},
			"", "expired", verdict.Own,
		},
		"service-manual-endpoints": {graph.Kind{Kind: "Service"}, "shop", "numeric", verdict.Own},
		"custom-kind-unserved":     {graph.Kind{Group: "example.com", Kind: "Widget"}, "shop", "one", verdict.Own},
		"custom-kind-unserved-inheritor": {
			graph.Kind{Group: "example.com", Kind: "Widget"}, "shop", "two", "example.com/v1/widgets shop",
		},
	} {
		t.Run(file, func(t *testing.T) {
			c, _ := load(t, "testdata/"+strings.TrimSuffix(file, "-inheritor")+".yaml")
			c.evaluate(t)
			o := c.objects[graph.NewID(test.kind, test.namespace, test.name)]
			if v := o.verdict.Unpack(); !o.verdict.IsInherited() || v.Sources != test.want {
				t.Errorf("got sources %q of %s, want %q", v.Sources, describe(v), test.want)
			}
		})
	}
}

// An object is evaluated again when its result changes with time only: when a certificate expires, or when a new object
// is old enough.
func TestTimeDependentVerdictsAreRevisited(t *testing.T) {
	webhook := graph.Kind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}
	mutating := graph.Kind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}
	service, pod := graph.Kind{Kind: "Service"}, graph.Kind{Kind: "Pod"}
	apis := graph.Kind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	for _, test := range []struct {
		file string
		id   graph.ID
		want string // The time of the next evaluation; empty for none.
	}{
		{"webhook-service-port", graph.NewID(webhook, "", "renewed"), "2036-01-01T00:00:00Z"},
		{"webhook-service-port", graph.NewID(webhook, "", "expired"), ""},
		{"service-manual-endpoints", graph.NewID(service, "shop", "new"), "2026-01-01T01:05:00Z"},
		{"service-manual-endpoints", graph.NewID(service, "shop", "numeric"), ""},
		{"node-interruptions", graph.NewID(graph.Kind{Kind: "Node"}, "", "flapping"), "2026-01-01T01:25:00Z"},
		{"node-interruptions", graph.NewID(graph.Kind{Kind: "Node"}, "", "calm"), ""},
		{"pod-excluded-by-anti-affinity", graph.NewID(pod, "shop", "unmatched"), "2026-01-01T01:01:00Z"},
		{"pod-excluded-by-anti-affinity", graph.NewID(pod, "shop", "import"), ""},
		{"pod-pools-unfit", graph.NewID(pod, "shop", "unknown"), ""},
		{"pod-pools-unfit", graph.NewID(pod, "shop", "node-exists"), ""},
		{"pod-node-left-tainted", graph.NewID(pod, "shop", "just-tainted"), "2026-01-01T01:40:00Z"},
		{"pod-node-left-tainted", graph.NewID(pod, "shop", "waits"), ""},
		{"api-service-unanswered", graph.NewID(apis, "", "v1.first-check.example.com"), "2026-01-01T01:00:30Z"},
		{"api-service-unanswered", graph.NewID(apis, "", "v1.starting.example.com"), "2026-01-01T01:06:00Z"},
		{"api-service-unanswered", graph.NewID(apis, "", "v1.served.example.com"), ""},
		{"webhook-network-policy", graph.NewID(mutating, "", "uncalled"), "2026-01-01T01:05:00Z"},
		{"webhook-network-policy", graph.NewID(mutating, "", "open"), ""},
	} {
		t.Run(test.id.Name(), func(t *testing.T) {
			c, _ := load(t, "testdata/"+test.file+".yaml")
			cause.Of(c, c.Find(test.id))
			var got []string
			for _, at := range c.revisits {
				got = append(got, at.UTC().Format(time.RFC3339))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got revisits at %q, want %q", got, test.want)
			}
		})
	}
}

// A pod that is excluded by another pod is evaluated again when the other pod, its node or the selected namespace
// changes.
func TestExcludedPodDependsOnExcludingPod(t *testing.T) {
	c, _ := load(t, "testdata/pod-excluded-by-anti-affinity.yaml")
	pod := graph.Kind{Kind: "Pod"}
	cause.Of(c, c.Find(graph.NewID(pod, "shop", "report")))
	for _, id := range []graph.ID{
		graph.NewID(pod, "shop", "alone"), graph.NewID(graph.Kind{Kind: "Node"}, "", "n1"),
		graph.NewID(graph.Kind{Kind: "Namespace"}, "", "shop"),
	} {
		if !slices.Contains(c.named, id) {
			t.Errorf("got %v, want also %v", c.named, id)
		}
	}
}

// withoutClasses is a cluster in which the program may not read storage classes.
type withoutClasses struct{ *cluster }

func (c withoutClasses) Find(id graph.ID) neighbor.Neighbor {
	if id.Kind.Kind == "StorageClass" {
		return neighbor.Neighbor{ID: id, Resource: ref(id.Kind)}
	}
	return c.cluster.Find(id)
}

// A claim whose storage class is unknown is never overdue, because it possibly waits for a pod.
func TestClaimOfUnknownClass(t *testing.T) {
	c, _ := load(t, "testdata/claim-not-bound.yaml")
	id := graph.NewID(graph.Kind{Kind: "PersistentVolumeClaim"}, "shop", "data")
	if v := cause.Of(withoutClasses{c}, c.Find(id)); v != nil {
		t.Errorf("got %s", describe(*v))
	}
}

// lateGraph is a cluster whose graph does not contain the owners of objects yet.
type lateGraph struct{ *cluster }

func (lateGraph) References(graph.ID) ([]graph.Use, []graph.Owner) { return nil, nil }
func (lateGraph) Owned(string, int) []graph.ID                     { return nil }

// A pod counts as owned by its StatefulSet even if the graph does not contain the owner references of the pod yet.
func TestOwnedPodInLateGraph(t *testing.T) {
	c, _ := load(t, "testdata/statefulset-pod-name-taken.yaml")
	id := graph.NewID(graph.Kind{Group: "apps", Kind: "StatefulSet"}, "shop", "web")
	if v := cause.Of(lateGraph{c}, c.Find(id)); v != nil {
		t.Errorf("got %s", describe(*v))
	}
}

// usedOften is a cluster in which the limited list of a Service's users contains none of its EndpointSlices.
type usedOften struct{ *cluster }

func (u usedOften) Users(id graph.ID, limit int) []graph.ID {
	if id.Kind.Kind == "Service" {
		return make([]graph.ID, limit)
	}
	return u.cluster.Users(id, limit)
}

// If not all objects that use a Service are known, its Ingress is not reported for a lack of EndpointSlices.
func TestServiceWithManyUsers(t *testing.T) {
	c, _ := load(t, "testdata/ingress-service-without-endpoints.yaml")
	id := graph.NewID(graph.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, "shop", "legacy")
	if v := cause.Of(usedOften{c}, c.Find(id)); v != nil {
		t.Errorf("got %s", describe(*v))
	}
}

// Two objects that own each other recover when the cause of their problem is gone.
func TestOwnersDoNotKeepEachOtherFailed(t *testing.T) {
	for name, remove := range map[string]func(*cluster, *object){
		"deleted": func(c *cluster, o *object) {
			delete(c.objects, o.id)
			c.Remove(o.id)
			c.order = slices.DeleteFunc(c.order, func(id graph.ID) bool { return id == o.id })
		},
		"recovered": func(_ *cluster, o *object) {
			o.verdict = verdict.Pack(nil, &verdict.Verdict{Severity: verdict.OK})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := load(t, "testdata/custom-owned-by-each-other-failed.yaml")
			c.evaluate(t)
			severity := func(kind, name string) verdict.Severity {
				return c.objects[graph.NewID(graph.Kind{Group: "example.com", Kind: kind}, "shop", name)].verdict.Severity()
			}
			if severity("Alpha", "one") != verdict.Degraded || severity("Beta", "two") != verdict.Degraded {
				t.Errorf("got severities %s and %s, want degraded", severity("Alpha", "one"), severity("Beta", "two"))
			}
			remove(c, c.objects[graph.NewID(graph.Kind{Kind: "Pod"}, "shop", "web-1-a")])
			c.evaluate(t)
			if severity("Alpha", "one") != verdict.OK || severity("Beta", "two") != verdict.OK {
				t.Errorf("without the cause: got severities %s and %s, want ok", severity("Alpha", "one"), severity("Beta", "two"))
			}
		})
	}
}
