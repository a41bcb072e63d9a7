package seed_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/seed"
)

func load(t *testing.T) []seed.Item {
	t.Helper()
	items, err := seed.Workload(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// The workload has each resource type that the README of the demo cluster mentions.
func TestWorkloadHasEveryKind(t *testing.T) {
	got := map[string]bool{}
	for _, item := range load(t) {
		got[item.Object.GetKind()] = true
	}
	for _, want := range []string{
		"Namespace", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "HorizontalPodAutoscaler",
		"PodDisruptionBudget", "Service", "Ingress", "IngressClass", "NetworkPolicy", "ConfigMap", "Secret",
		"PersistentVolumeClaim", "PersistentVolume", "StorageClass", "ServiceAccount",
		"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
		"ResourceQuota", "LimitRange", "PriorityClass", "CustomResourceDefinition", "Backup", "FeatureFlag", "Pod",
	} {
		if !got[want] {
			t.Errorf("no %s in the workload", want)
		}
	}
}

func TestWorkloadHasEveryState(t *testing.T) {
	got := map[string]bool{}
	for _, item := range load(t) {
		template, _, _ := unstructured.NestedStringMap(
			item.Object.Object, "spec", "template", "metadata", "annotations",
		)
		got[template["demo.glasshouse/state"]] = true
		if item.Delete {
			got["terminating"] = len(item.Object.GetFinalizers()) > 0
		}
	}
	for _, want := range []string{
		"crashloop", "image-pull", "oom-killed", "not-ready", "init-stuck", "fails", "terminating",
	} {
		if !got[want] {
			t.Errorf("no pod in state %s", want)
		}
	}
}

func TestWorkloadHasManyAuthors(t *testing.T) {
	authors := map[string]int{}
	for _, item := range load(t) {
		authors[item.Manager]++
	}
	const want = 5
	if len(authors) < want || authors[""] > 0 {
		t.Errorf("authors: got %v, want at least %d, all with a name", slices.Collect(maps.Keys(authors)), want)
	}
	if authors["kubectl-client-side-apply"] == 0 {
		t.Error("no object has the field manager of client-side kubectl apply")
	}
}

// Each object is defined in only one file. Otherwise, its field manager would depend on the order of concurrent
// requests.
func TestWorkloadIsUnambiguous(t *testing.T) {
	seen := map[string]bool{}
	for _, item := range load(t) {
		o := item.Object
		key := strings.Join([]string{o.GetKind(), o.GetNamespace(), o.GetName()}, "/")
		if seen[key] {
			t.Errorf("%s occurs twice", key)
		}
		seen[key] = true
	}
}

func TestRelativeTimesAreResolved(t *testing.T) {
	now := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	items, err := seed.Workload(now)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, item := range items {
		text, ok, _ := unstructured.NestedString(item.Object.Object, "status", "lastRunTime")
		if !ok {
			continue
		}
		checked++
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || at.After(now) || now.Sub(at) > 30*24*time.Hour {
			t.Errorf("%s ran last at %q (error %v); current time is %v", item.Object.GetName(), text, err, now)
		}
	}
	if checked == 0 {
		t.Error("no backup has run")
	}
}

// Each secret value contains the words "not a real", because the repository is public.
func TestSecretsAreFake(t *testing.T) {
	harmless := map[string]bool{"username": true, "admin-user": true, "endpoint": true}
	for _, item := range load(t) {
		if item.Object.GetKind() != "Secret" {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(item.Object.Object, "stringData")
		for key, value := range data {
			if !harmless[key] && !strings.Contains(value, "not-a-real") && !strings.Contains(value, "not a real") {
				t.Errorf("secret %s: %s does not state that it is fake", item.Object.GetName(), key)
			}
		}
	}
}
