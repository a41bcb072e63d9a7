package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

type kind struct{ group, plural, name string }

func newKind() kind {
	name := fmt.Sprint("fault", time.Now().UnixNano()%1_000_000)
	return kind{group: "faults.example.com", plural: name + "s", name: strings.ToUpper(name[:1]) + name[1:]}
}

func (k kind) ref() string { return k.group + "/v1/" + k.plural }

func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
}

func (w *testbed) createDefinition(k kind) {
	w.t.Helper()
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": k.plural + "." + k.group},
		"spec": map[string]any{
			"group": k.group, "scope": "Namespaced",
			"names": map[string]any{
				"plural": k.plural, "singular": strings.ToLower(k.name), "kind": k.name, "listKind": k.name + "List",
			},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}},
		},
	}}
	_, err := w.Dynamic.Resource(definitions()).Create(w.t.Context(), definition, metav1.CreateOptions{})
	check(w.t, err)
	eventually(w.t, 15*time.Second, "the resource is served", func() error {
		_, err := w.Rows(w.t.Context(), viewer.Rows(k.ref(), w.namespace))
		return err
	})
}

func (w *testbed) deleteDefinition(k kind) {
	w.t.Helper()
	ctx := context.WithoutCancel(w.t.Context())
	err := w.Dynamic.Resource(definitions()).Delete(ctx, k.plural+"."+k.group, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Error(err)
	}
	eventually(w.t, 30*time.Second, "the resource is not served", func() error {
		_, err := w.Dynamic.Resource(definitions()).Get(ctx, k.plural+"."+k.group, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.New("the resource is still served")
	})
}

func (w *testbed) createObjects(k kind, names ...string) {
	w.t.Helper()
	resource := schema.GroupVersionResource{Group: k.group, Version: "v1", Resource: k.plural}
	for _, name := range names {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": k.group + "/v1", "kind": k.name, "metadata": map[string]any{"name": name},
		}}
		// The API server can reject requests for a new kind for a moment.
		eventually(w.t, 10*time.Second, "an object is created", func() error {
			_, err := w.Dynamic.Resource(resource).Namespace(w.namespace).Create(
				w.t.Context(), object, metav1.CreateOptions{},
			)
			return err
		})
	}
}

const kindTimeout = 2 * time.Second

func waitUntilOffered(t *testing.T, picker *viewer.Viewer, k kind, want bool) {
	t.Helper()
	elapsed := eventually(t, 30*time.Second, "the picker is updated", func() error {
		if offered, known := picker.Offers(k.ref()); !known || offered != want {
			return fmt.Errorf("%s in the picker: %t, picker loaded: %t", k.ref(), offered, known)
		}
		return nil
	})
	t.Logf("picker updated (in the picker: %t) after %v", want, elapsed)
	if elapsed > kindTimeout {
		t.Errorf("the picker was updated after %v (in the picker: %t), want at most %v", elapsed, want, kindTimeout)
	}
}

// When clients watch a deleted kind, its rows disappear. If the kind is created again, they receive the new rows.
//
// Invariant: I39.
func TestDefinitionDeletedAndRecreated(t *testing.T) {
	for _, test := range []struct {
		name string
		// down means that the connection to the API server is cut during the deletion, so that no delete event
		// arrives.
		down bool
	}{
		{"watched", false},
		{"while disconnected", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := open(t, options{})
			k := newKind()
			eventually(t, 10*time.Second, "the program is ready", func() error { return ready(t, w.url) })
			picker := w.startViewers(1, viewer.Kinds())[0]
			sleep(time.Second) // Wait until the program watches CustomResourceDefinitions.
			w.createDefinition(k)
			t.Cleanup(func() { w.deleteDefinition(k) })
			waitUntilOffered(t, picker, k, true)
			w.createObjects(k, "a", "b", "c")
			rows := w.startViewers(3, viewer.Rows(k.ref(), w.namespace))
			// This viewer later tries to resume from a cursor (stream position) of the deleted kind.
			disconnected := viewer.New(w.url, viewer.Rows(k.ref(), w.namespace))
			stop := run(t, disconnected.Run)
			all := append([]*viewer.Viewer{disconnected}, rows...)
			waitForState(t, 20*time.Second, "live", all...)
			w.converges(5*time.Second, all...)
			stop()

			if test.down {
				w.up.Cut()
			}
			w.deleteDefinition(k)
			if test.down {
				check(t, w.up.Restore())
			}
			t.Logf("absent after %v", waitForState(t, 15*time.Second, "absent", rows...))
			eventually(t, kindTimeout, "the rows are removed", func() error { return checkNoRows(rows...) })
			waitUntilOffered(t, picker, k, false)

			w.createDefinition(k)
			waitUntilOffered(t, picker, k, true)
			w.createObjects(k, "b", "d")
			run(t, disconnected.Run)
			t.Logf("live after %v", waitForState(t, 60*time.Second, "live", all...))
			w.converges(5*time.Second, all...)
			checkNoFaults(t, append(all, picker)...)
			if n := disconnected.Tally(); n.Resets == 0 {
				t.Errorf("no reset for the cursor of a recreated resource: %+v", n)
			}
		})
	}
}

func checkNoRows(viewers ...*viewer.Viewer) error {
	for i, v := range viewers {
		if n := v.Len(); n > 0 {
			return fmt.Errorf("viewer %d has %d rows, want 0", i, n)
		}
	}
	return nil
}
