package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"glasshouse/test/faults/cluster"
	"glasshouse/test/faults/viewer"
)

// A right that comes shows within a minute, and one that goes takes the rows with it, also while the watch would go on
// for minutes.
func TestRightGrantedAndRemoved(t *testing.T) {
	t.Parallel()
	c := must(cluster.Open())(t)
	w := open(t, setting{kubeconfig: filepath.Join(c.Dir, "kubeconfig-nobody")})
	check(t, w.Apply(t.Context(), w.namespace, "it", "1"))
	rows := w.look(2, w.rows())
	t.Logf("forbidden after %v", becomes(t, 20*time.Second, "forbidden", rows...))
	began := time.Now()
	pass(2 * time.Second)
	check(t, holdNone(rows...))
	notLive(t, began, time.Now(), rows...)

	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "look"},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: "nobody"}},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: "rbac.authorization.k8s.io", Name: "view"},
	}
	_, err := w.Core.RbacV1().RoleBindings(w.namespace).Create(t.Context(), binding, metav1.CreateOptions{})
	check(t, err)
	t.Logf("granted: live after %v", becomes(t, 60*time.Second, "live", rows...))
	w.converges(5*time.Second, rows...)
	check(t, w.Apply(t.Context(), w.namespace, "it", "2"))
	w.converges(5*time.Second, rows...)

	check(t, w.Core.RbacV1().RoleBindings(w.namespace).Delete(t.Context(), "look", metav1.DeleteOptions{}))
	t.Logf("removed: forbidden after %v", becomes(t, 25*time.Second, "forbidden", rows...))
	eventually(t, 2*time.Second, "the rows go", func() error { return holdNone(rows...) })
	sound(t, rows...)
}

// The same of a right to all namespaces.
func TestRightToAllGrantedAndRemoved(t *testing.T) {
	t.Parallel()
	deployments := viewer.Rows("apps/v1/deployments")
	user := fmt.Sprint("fault-", time.Now().UnixNano())
	w := open(t, setting{args: []string{"--as", user}})
	rows := w.look(2, deployments)
	becomes(t, 20*time.Second, "forbidden", rows...)
	check(t, w.Grant(t.Context(), user, "view"))
	t.Cleanup(func() { check(t, w.Revoke(context.WithoutCancel(t.Context()), user)) })
	t.Logf("granted: live after %v", becomes(t, 60*time.Second, "live", rows...))
	w.converges(5*time.Second, rows...)
	if rows[0].Len() == 0 {
		t.Error("there are no deployments: this test tests nothing")
	}
	check(t, w.Revoke(t.Context(), user))
	t.Logf("removed: forbidden after %v", becomes(t, 25*time.Second, "forbidden", rows...))
	eventually(t, 2*time.Second, "the rows go", func() error { return holdNone(rows...) })
	sound(t, rows...)
}
