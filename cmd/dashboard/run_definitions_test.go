//go:build integration

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	definitionsResource = schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	servicesResource = schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
	}
	widgetsResource = schema.GroupVersionResource{Group: "test.example.com", Version: "v1", Resource: "widgets"}
)

const definitionTimeout = 2 * time.Second

// A new custom resource appears in open pages at once. After the definition of a resource is deleted, the earlier
// cursors of this resource are invalid.
// Invariant: I19.
func TestDefinedResourcesAppearAndDisappear(t *testing.T) {
	admin := adminConfig(t)
	d, o := startReady(t, admin), newAPIClient(t, admin)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	picker, table := dial(ctx, t, d), dial(ctx, t, d)
	picker.Send(`{"op":"subscribe","id":1,"view":"resources"}`)
	picker.UntilContains(`"type":"resources"`, `"ref":"core/v1/pods"`)
	<-time.After(2 * time.Second) // Wait until the program watches CustomResourceDefinitions.

	o.define(t, widgetsDefinition(`{"name":"v1","served":true,"storage":true,"schema":`+anySchema+`}`, ""))
	began := time.Now()
	picker.UntilContains(`"ref":"test.example.com/v1/widgets"`)
	t.Logf("a new kind was sent after %s", time.Since(began))
	if elapsed := time.Since(began); elapsed > definitionTimeout {
		t.Errorf("a new kind was sent after %s, want at most %s", elapsed, definitionTimeout)
	}

	ns := o.namespace(t)
	o.createWidget(t, ns, "w")
	table.Send(`{"op":"subscribe","id":1,"resource":"test.example.com/v1/widgets"}`)
	first := table.UntilContains(`"type":"snapshot"`, `"name":"w"`)

	o.undefine(t)
	began = time.Now()
	table.UntilContains(`"op":"delete"`, `"name":"w"`)
	table.UntilContains(`"state":"absent"`)
	waitUntilGone(picker, `"ref":"test.example.com/v1/widgets"`)
	t.Logf("the removal of the kind was sent after %s", time.Since(began))

	o.define(t, widgetsDefinition(`{"name":"v1","served":true,"storage":true,"schema":`+anySchema+`}`, ""))
	o.createWidget(t, ns, "again")
	began = time.Now()
	table.UntilContains(`"type":"reset"`)
	second := table.UntilContains(`"type":"snapshot"`)
	if !containsEach(second, `"name":"again"`) {
		table.UntilContains(`"name":"again"`)
	}
	t.Logf("the recreated kind was sent after %s", time.Since(began))

	var snapshot struct{ Cursor string }
	if err := json.Unmarshal([]byte(first), &snapshot); err != nil {
		t.Fatal(err)
	}
	lateSocket := dial(ctx, t, d)
	lateSocket.Send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"test.example.com/v1/widgets","cursor":%q}`,
		snapshot.Cursor))
	lateSocket.UntilContains(`"type":"reset"`, "was restarted")

	o.redefine(t,
		widgetsDefinition(`{"name":"v1","served":false,"storage":true,"schema":`+anySchema+
			`},{"name":"v2","served":true,"storage":false,"schema":`+anySchema+`}`, ""))
	began = time.Now()
	text := picker.UntilContains(`"ref":"test.example.com/v2/widgets"`)
	for containsEach(text, `"ref":"test.example.com/v1/widgets"`) {
		text = picker.UntilContains(`"type":"resources"`)
	}
	t.Logf("a new version was sent after %s", time.Since(began))
	if elapsed := time.Since(began); elapsed > definitionTimeout {
		t.Errorf("a new version was sent after %s, want at most %s", elapsed, definitionTimeout)
	}
	table.UntilContains(`"state":"absent"`)
}

// Invariant: I19.
func TestUnreachableAPIsDoNotAffectOthers(t *testing.T) {
	admin := adminConfig(t)
	o := newAPIClient(t, admin)
	const webhook = `,"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],` +
		`"clientConfig":{"service":{"namespace":"default","name":"missing-service"}}}}`
	o.define(t,
		widgetsDefinition(`{"name":"v1","served":true,"storage":true,"schema":`+anySchema+
			`},{"name":"v2","served":true,"storage":false,"schema":`+anySchema+`}`, webhook))
	service := decode(t,
		`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.dead.example.com"},`+
			`"spec":{"group":"dead.example.com","version":"v1",
		"groupPriorityMinimum":100,"versionPriority":100,"insecureSkipTLSVerify":true,`+
			`"service":{"namespace":"default","name":"missing-service"}}}`)
	if _, err := o.dynamic.Resource(servicesResource).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		o.ignoreMissing(t, o.dynamic.Resource(servicesResource).Delete(ctx, service.GetName(), metav1.DeleteOptions{}))
		o.waitUntilUndiscovered(t, "dead.example.com")
	})
	ns := o.namespace(t)
	eventually(t, "a widget can be created", func() error {
		_, err := o.dynamic.Resource(widgetsResource).Namespace(ns).Create(t.Context(), newWidget("w"),
			metav1.CreateOptions{})
		return err
	})

	d := startReady(t, admin)
	eventually(t, "the unavailable API is reported", func() error {
		body := d.get("/api/v1/resources")
		if !containsEach(body, `"group":"dead.example.com"`, `"ref":"core/v1/pods"`,
			`"ref":"test.example.com/v2/widgets"`) {
			return fmt.Errorf("GET /api/v1/resources: got %s", body)
		}
		return nil
	})
	for ref, want := range map[string]string{
		"core/v1/namespaces": `"state":"live"`, "test.example.com/v1/widgets": `"state":"live"`,
		"test.example.com/v2/widgets": "missing-service",
	} {
		t.Run(ref, func(t *testing.T) {
			eventually(t, ref+" has its current state", func() error {
				if body := d.get("/api/v1/snapshot/" + ref); !containsEach(body, want) {
					return fmt.Errorf("snapshot: got %.500s, want it to contain %s", body, want)
				}
				return nil
			})
		})
	}
}

const anySchema = `{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`

func widgetsDefinition(versions, conversion string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",` +
		`"metadata":{"name":"widgets.test.example.com"},
		"spec":{"group":"test.example.com","scope":"Namespaced",` +
		`"names":{"plural":"widgets","singular":"widget","kind":"Widget"},"versions":[` + versions + `]` + conversion + `}}`
}

func decode(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func (a *apiClient) define(t *testing.T, text string) {
	t.Helper()
	eventually(t, "the definition can be created", func() error {
		_, err := a.dynamic.Resource(definitionsResource).Create(t.Context(), decode(t, text), metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		a.ignoreMissing(t,
			a.dynamic.Resource(definitionsResource).Delete(ctx, "widgets.test.example.com", metav1.DeleteOptions{}))
		a.waitUntilUndiscovered(t, "test.example.com")
	})
}

// waitUntilUndiscovered waits until API discovery no longer contains the API group. This can take a moment after the
// deletion of the group.
func (a *apiClient) waitUntilUndiscovered(t *testing.T, group string) {
	t.Helper()
	eventually(t, "discovery does not contain "+group, func() error {
		text, err := a.core.RESTClient().Get().AbsPath("/apis").
			SetHeader("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").
			DoRaw(context.WithoutCancel(t.Context()))
		if err == nil && containsEach(string(text), `"`+group+`"`) {
			err = errors.New("discovery still contains the group")
		}
		return err
	})
}

func (a *apiClient) redefine(t *testing.T, text string) {
	t.Helper()
	u := decode(t, text)
	current, err := a.dynamic.Resource(definitionsResource).Get(t.Context(), u.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	u.SetResourceVersion(current.GetResourceVersion())
	if _, err := a.dynamic.Resource(definitionsResource).Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (a *apiClient) undefine(t *testing.T) {
	t.Helper()
	if err := a.dynamic.Resource(definitionsResource).Delete(t.Context(), "widgets.test.example.com",
		metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition is deleted", func() error {
		_, err := a.dynamic.Resource(definitionsResource).Get(t.Context(), "widgets.test.example.com",
			metav1.GetOptions{})
		if err == nil {
			return errors.New("the definition still exists")
		}
		return nil
	})
}

func newWidget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "test.example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
	}}
}

func (a *apiClient) createWidget(t *testing.T, ns, name string) {
	t.Helper()
	eventually(t, "a widget can be created", func() error {
		_, err := a.dynamic.Resource(widgetsResource).Namespace(ns).Create(t.Context(), newWidget(name),
			metav1.CreateOptions{})
		return err
	})
}

// waitUntilGone reads messages that list the resources, until one does not contain the given text.
func waitUntilGone(tab *livetest.Tab, part string) {
	for containsEach(tab.UntilContains(`"type":"resources"`), part) {
	}
}
