// Package deploy tests the objects that kustomize and Helm create. Integration tests need .ci/on-demo, and the
// program's path in DASHBOARD.
package deploy

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

const root = "../.."

// The Helm chart and the kustomizations create the same objects, except for the Namespace and Helm's own labels.
//
// Invariant: I46.
func TestChartMatchesKustomization(t *testing.T) {
	for _, name := range variant.Names() {
		t.Run(name, func(t *testing.T) {
			fromKustomize, fromChart := kustomize(t, name), chart(t, name, nil)
			delete(fromKustomize, "Namespace <nil>/glasshouse")
			for _, object := range fromChart {
				removeHelmLabels(object)
			}
			got, want := slices.Sorted(maps.Keys(fromChart)), slices.Sorted(maps.Keys(fromKustomize))
			if !slices.Equal(got, want) {
				t.Fatalf("objects of the chart:\n%s\nobjects of the kustomization:\n%s",
					strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			for _, key := range want {
				if !reflect.DeepEqual(fromChart[key], fromKustomize[key]) {
					t.Errorf("%s differs; chart:\n%s\nkustomization:\n%s",
						key, toYAML(t, fromChart[key]), toYAML(t, fromKustomize[key]))
				}
			}
		})
	}
}

// Every object has the labels that users and selectors need.
//
// Invariant: I46.
func TestObjectsHaveRequiredLabels(t *testing.T) {
	for _, name := range variant.Names() {
		for key, object := range kustomize(t, name) {
			metadata, _ := object["metadata"].(map[string]any)
			labels, _ := metadata["labels"].(map[string]any)
			if labels["app.kubernetes.io/name"] != "glasshouse" ||
				labels["app.kubernetes.io/instance"] != "glasshouse" || labels["app.kubernetes.io/version"] == nil {
				t.Errorf("%s: labels of %s are %v", name, key, labels)
			}
		}
	}
}

// Invariant: I46.
func TestChartRejectsInvalidValues(t *testing.T) {
	for name, test := range map[string]struct {
		values  map[string]any
		wantErr string
	}{
		"unknown value":           {map[string]any{"replicas": 2}, "replicas"},
		"unknown mode":            {map[string]any{"auth": map[string]any{"mode": "off"}}, "mode"},
		"Service without a login": {map[string]any{"service": map[string]any{"enabled": true}}, "auth.mode"},
		"Ingress without a Service": {
			map[string]any{"ingress": map[string]any{"enabled": true}}, "service.enabled",
		},
		"all Secrets of a namespace": {
			map[string]any{"rbac": map[string]any{"secrets": []any{map[string]any{
				"namespace": "shop", "names": []any{},
			}}}},
			"names",
		},
		"wildcard for Secrets": {
			map[string]any{"rbac": map[string]any{"secrets": []any{map[string]any{
				"namespace": "shop", "names": []any{"*"},
			}}}},
			"names",
		},
		"origin that is an address": {
			map[string]any{"allowedOrigins": []any{"https://glasshouse.example.com/"}}, "allowedOrigins",
		},
		"addresses that are not filled in":      {map[string]any{"forwardedBy": []any{variant.Placeholder}}, "forwardedBy"},
		"forwarders that include all addresses": {map[string]any{"forwardedBy": []any{"0.0.0.0/0"}}, "forwardedBy"},
		"groups without a login":                {map[string]any{"shareAdmins": []any{"ops"}}, "shareAdmins"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := variant.Helm(root, "cluster", test.values); err == nil ||
				!strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func kustomize(t *testing.T, name string) variant.Objects {
	t.Helper()
	objects, err := variant.Kustomize(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func chart(t *testing.T, name string, values map[string]any) variant.Objects {
	t.Helper()
	objects, err := variant.Helm(root, name, values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func removeHelmLabels(value any) {
	switch value := value.(type) {
	case map[string]any:
		if labels, ok := value["labels"].(map[string]any); ok {
			delete(labels, "helm.sh/chart")
			delete(labels, "app.kubernetes.io/managed-by")
		}
		for _, inner := range value {
			removeHelmLabels(inner)
		}
	case []any:
		for _, inner := range value {
			removeHelmLabels(inner)
		}
	}
}

func toYAML(t *testing.T, object map[string]any) string {
	t.Helper()
	encoded, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
