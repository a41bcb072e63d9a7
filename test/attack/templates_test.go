package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// templateCanary is a text in a copy of an object, which is in an annotation of a pod template. Guests must not get it.
const templateCanary = "canary-of-a-template"

// plainAnnotations returns annotations whose values are not copies of objects. The program may mask such an annotation
// or show it, but it must do the same in all places.
func plainAnnotations() map[string]string {
	return map[string]string{
		"example.com/plain":  "a plain value of an annotation",
		"example.com/token":  "a-value-that-may-be-a-token",
		"example.com/number": "20261",
		"prometheus.io/path": "/a-path-for-metrics",
		"example.com/config": `{"a setting":"of an application"}`,
	}
}

type template struct {
	resource string // Group, version and plural, such as apps/v1/deployments.
	kind     string
	spec     string // JSON. The method object replaces ANNOTATED with metadata, and POD with fields of a pod spec.
}

func templates() []template {
	const pod = `{"metadata":ANNOTATED,"spec":{POD}}`
	const selector = `"selector":{"matchLabels":{"app":"it"}},"template":` + pod
	const always, never = `,"restartPolicy":"Always"`, `,"restartPolicy":"Never"`
	job := strings.ReplaceAll(`{"template":`+pod+`}`, "POD", "POD"+never)
	return []template{
		{"apps/v1/deployments", "Deployment", `"spec":{` + selector + `}`},
		{"apps/v1/replicasets", "ReplicaSet", `"spec":{` + selector + `}`},
		{"apps/v1/statefulsets", "StatefulSet", `"spec":{"serviceName":"it",` + selector + `}`},
		{"apps/v1/daemonsets", "DaemonSet", `"spec":{` + selector + `}`},
		{"batch/v1/jobs", "Job", `"spec":` + job},
		{"batch/v1/cronjobs", "CronJob", `"spec":{"schedule":"0 0 1 1 *","jobTemplate":{"metadata":ANNOTATED,"spec":` +
			job + `}}`},
		{"core/v1/podtemplates", "PodTemplate", `"template":` + strings.ReplaceAll(pod, "POD", "POD"+always)},
		{
			"attack.example.com/v1/embedders", "Embedder",
			`"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":ANNOTATED}}`,
		},
	}
}

func (t template) object() string {
	copied := `{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"password\":\"` + templateCanary + `\"}}`
	annotations := []string{
		`"example.com/copy":"` + copied + `"`, `"kubectl.kubernetes.io/last-applied-configuration":"` + copied + `"`,
	}
	for name, value := range plainAnnotations() {
		annotations = append(annotations, fmt.Sprintf("%q:%q", name, value))
	}
	annotated := `{"name":"it","labels":{"app":"it"},"annotations":{` + strings.Join(annotations, ",") + `}}`
	pod := `"nodeSelector":{"none":"such"},"containers":[{"name":"c","image":"example.com/c"}]`
	group, version, _ := strings.Cut(t.resource, "/")
	version, _, _ = strings.Cut(version, "/")
	if group != "core" {
		version = group + "/" + version
	}
	return strings.NewReplacer("ANNOTATED", annotated, "POD", pod).
		Replace(`{"apiVersion":"` + version + `","kind":"` + t.kind + `","metadata":ANNOTATED,` + t.spec + `}`)
}

const embedder = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
	"metadata":{"name":"embedders.attack.example.com"},
	"spec":{"group":"attack.example.com","scope":"Namespaced",
	"names":{"plural":"embedders","singular":"embedder","kind":"Embedder"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
	"spec":{"type":"object","properties":{"template":{"type":"object","x-kubernetes-embedded-resource":true,
	"x-kubernetes-preserve-unknown-fields":true}}}}}}}]}}`

// create creates an object. If namespace is empty, the object is cluster-scoped. An existing object is not an error.
func (c *content) create(ctx context.Context, resource, namespace, text string) error {
	parts := strings.Split(resource, "/")
	group := strings.Replace(parts[0], "core", "", 1)
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(text)); err != nil {
		return fmt.Errorf("decode an object of %s: %w", resource, err)
	}
	kind := c.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: parts[1], Resource: parts[2]})
	var err error
	if namespace == "" {
		_, err = kind.Create(ctx, object, metav1.CreateOptions{})
	} else {
		_, err = kind.Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
	}
	if err = ignoreExisting(err); err != nil {
		return fmt.Errorf("create an object of %s: %w", resource, err)
	}
	return nil
}

type annotation struct{ path, name, value string }

func annotationsIn(value any, path string) (places []annotation) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			annotations, ok := child.(map[string]any)
			if key != "annotations" || !ok {
				places = append(places, annotationsIn(child, path+"/"+key)...)
				continue
			}
			for name, text := range annotations {
				places = append(places, annotation{path + "/annotations", name, fmt.Sprint(text)})
			}
		}
	case []any:
		for i, child := range value {
			places = append(places, annotationsIn(child, fmt.Sprint(path, "/", i))...)
		}
	}
	return places
}

// checkMasking requires that each annotation in plainAnnotations is readable in all places of the object, or in none.
// A place without the annotation counts as masked.
func (t *tally) checkMasking(kind, body string) {
	t.Helper()
	var object any
	if err := decode(body, &object); err != nil {
		t.Fatal(err)
	}
	found := annotationsIn(object, "")
	paths := map[string]bool{}
	readable := map[string]map[string]bool{}
	for _, location := range found {
		paths[location.path] = true
		if readable[location.name] == nil {
			readable[location.name] = map[string]bool{}
		}
		readable[location.name][location.path] = location.value == plainAnnotations()[location.name]
	}
	t.check(len(paths) >= 2, "%s has annotations in %d places, so the test is not valid", kind, len(paths))
	for name := range plainAnnotations() {
		count := 0
		for path := range paths {
			if readable[name][path] {
				count++
			}
		}
		t.check(count == 0 || count == len(paths), "%s of %s is readable in %d of %d places: %v", name, kind, count,
			len(paths), readable[name])
	}
}

func TestTemplateCopiesAreMaskedForGuests(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		s.check(s.create(p.Context(), "apiextensions.k8s.io/v1/customresourcedefinitions", "", embedder))
		namespace := must(s.Namespace(p.Context()))(p)
		s.check(s.Grant(p.Context(), "system:serviceaccount:"+namespace+":templates", "cluster-admin"))
		var parts []part
		for _, kind := range templates() {
			s.check(eventually(20*time.Second, func() error {
				return s.create(p.Context(), kind.resource, namespace,
					kind.object())
			}))
			parts = append(parts, part{Resource: kind.resource, Namespaces: []string{namespace}})
		}
		shared := *s.content
		shared.creator = must(s.user(p.Context(), namespace, "templates"))(p)
		s.content = &shared
		s.check(eventually(20*time.Second, func() error { // Discovery finds a new resource after some seconds.
			if a := s.do(get("/api/v1/snapshot/attack.example.com/v1/embedders", bearer(s.creator))); a.status != 200 {
				return fmt.Errorf("snapshot of embedders: got status %d, want 200", a.status)
			}
			return nil
		}))
		_, guest := s.share("/r/apps/v1/deployments?ns="+namespace, parts...)
		var leaks []string
		masking := &tally{probe: p}
		for _, kind := range templates() {
			ref := kind.resource + "/" + namespace + "/it"
			for _, path := range []string{
				"/api/v1/object/" + ref, "/api/v1/object/" + ref + "?format=yaml", "/o/" + ref,
				"/api/v1/snapshot/" + kind.resource + "?view=objects&ns=" + namespace,
				"/api/v1/snapshot/" + kind.resource + "?view=rows&ns=" + namespace,
			} {
				a := s.do(get(path, guest))
				if a.status != 200 {
					s.Errorf("GET %s: got status %d %.200s", path, a.status, a.body)
				}
				if strings.Contains(a.body, templateCanary) {
					leaks = append(leaks, kind.kind)
					s.Logf("the response to %s contains the canary", path)
				}
				if a.status == 200 && (strings.HasSuffix(path, ref) && strings.HasPrefix(path, "/api/") ||
					strings.Contains(path, "view=objects")) {
					masking.checkMasking(kind.kind, a.body)
				}
			}
		}
		kinds := distinct(leaks)
		s.require(len(leaks) == 0, "copies in annotations of templates, read by a guest", "0 kinds",
			"%d of %d kinds, %d responses: %s", len(kinds), len(templates()), len(leaks), strings.Join(kinds, " "))
		masking.require("top-level annotations and annotations of templates, read by a guest",
			"masked or readable in all places")
	})
}
