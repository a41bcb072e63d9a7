//go:build integration

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Invariant: I20.
func TestPermissionChangesAreDetected(t *testing.T) {
	t.Parallel()
	admin := adminConfig(t)
	o := newAPIClient(t, admin)
	firstNS, secondNS := o.namespace(t), o.namespace(t)
	o.apply(t, firstNS, "a", "1")
	o.apply(t, secondNS, "b", "1")
	limited := filepath.Join(filepath.Dir(admin), "kubeconfig-nobody")
	d, _, _ := startProcessWith(t, "--kubeconfig", limited)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	tab := dial(ctx, t, d)
	tab.Send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/configmaps","ns":[%q,%q]}`, firstNS, secondNS))
	tab.UntilContains(`"state":"forbidden"`)

	began := time.Now()
	o.grant(t, firstNS, "list", "watch")
	tab.UntilContains(`"state":"live"`, `"namespaces":["`+firstNS+`"]`)
	tab.UntilContains(`"type":"snapshot"`, `"name":"a"`)
	t.Logf("a new permission was detected after %s", time.Since(began))
	if elapsed := time.Since(began); elapsed > time.Minute {
		t.Errorf("a new permission was detected after %s, want at most 60 s", elapsed)
	}

	began = time.Now()
	revoke := o.grant(t, secondNS, "list", "watch")
	tab.UntilContains(`"op":"add"`, `"name":"b"`)
	t.Logf("another permission was detected after %s", time.Since(began))
	o.apply(t, secondNS, "b", "2")
	tab.UntilContains(`"op":"update"`, `"name":"b"`)

	began = time.Now()
	revoke()
	tab.UntilContains(`"type":"reset"`, "permissions were lost")
	if snapshot := tab.UntilContains(`"type":"snapshot"`); containsEach(snapshot, `"name":"b"`) {
		t.Errorf("the snapshot contains a row of a forbidden namespace: %s", snapshot)
	}
	t.Logf("a revoked permission removed its rows after %s", time.Since(began))
	if elapsed := time.Since(began); elapsed > 15*time.Second {
		t.Errorf("a revoked permission was detected after %s, want at most 15 s", elapsed)
	}
	o.apply(t, firstNS, "a", "2")
	tab.UntilContains(`"op":"update"`, `"name":"a"`)
	if body := d.get("/api/v1/snapshot/core/v1/configmaps?ns=" + firstNS + "&ns=" + secondNS); !containsEach(body,
		`"namespaces":["`+firstNS+`"]`, `"state":"live"`, `"name":"a"`) || containsEach(body, `"name":"b"`) {
		t.Errorf("snapshot: got %s, want only the rows of the permitted namespace", body)
	}
}

// grant lets the demo user "nobody" use verbs on ConfigMaps, until revoke is called.
func (a *apiClient) grant(t *testing.T, ns string, verbs ...string) (revoke func()) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", adminConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: verbs},
		},
	}
	if _, err := client.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return a.grantRole(t, ns)
}

func (a *apiClient) grantRole(t *testing.T, ns string) (revoke func()) {
	t.Helper()
	client, err := kubernetes.NewForConfig(mustConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader",
		},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "nobody"}},
	}
	if _, err := client.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := client.RbacV1().RoleBindings(ns).Delete(t.Context(), "reader", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
