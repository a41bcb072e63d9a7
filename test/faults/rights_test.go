package faults

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"glasshouse/test/faults/cluster"
	"glasshouse/test/faults/link"
	"glasshouse/test/faults/viewer"
)

// A granted permission takes effect within a minute. When a permission is revoked, its rows are removed, even if the
// API server continues the watch for minutes.
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

// The same applies to a permission for all namespaces.
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

// The program has permissions in 200 separate namespaces. If one is revoked, its rows are removed within 15 s, for
// every kind. If one is granted, it takes effect within a minute. For this, the program needs 20 access reviews a
// second.
func TestRightsInManyNamespaces(t *testing.T) {
	t.Parallel()
	user := fmt.Sprint("fault-", time.Now().UnixNano())
	w := open(t, setting{args: []string{"--as", user}})
	var names []string
	for n := range 200 {
		names = append(names, fmt.Sprint(user, "-", n))
	}
	bindings := func(ctx context.Context, n int) error {
		_, err := w.Core.RbacV1().RoleBindings(names[n]).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "look"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
			RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: rbacv1.GroupName, Name: "view"},
		}, metav1.CreateOptions{})
		return err
	}
	for n, ns := range names {
		_, err := w.Core.CoreV1().Namespaces().Create(
			t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{},
		)
		check(t, err)
		t.Cleanup(func() {
			check(t, w.Core.CoreV1().Namespaces().Delete(
				context.WithoutCancel(t.Context()), ns, metav1.DeleteOptions{},
			))
		})
		check(t, bindings(t.Context(), n))
	}
	var looks []*viewer.Viewer
	for _, kind := range []string{configMaps, "core/v1/serviceaccounts", "core/v1/resourcequotas"} {
		looks = append(looks, w.look(1, viewer.Rows(kind, names...))...)
	}
	shown := looks[:2] // Each namespace has objects of these two kinds, but no ResourceQuota.
	all := func() (err error) {
		for _, v := range shown {
			if held := len(v.RowsHeld()); held != len(names) {
				err = errors.Join(err, fmt.Errorf("%d rows", held))
			}
		}
		return err
	}
	t.Logf("all is there after %v", eventually(t, 60*time.Second, "all is shown", all))

	reviews := func(r link.Request) bool {
		return strings.HasPrefix(r.Path, "/apis/authorization.k8s.io/v1/selfsubject")
	}
	pass(10 * time.Second) // From the second review on, the program uses rules reviews.
	before := w.gate.Count(reviews)
	pass(20 * time.Second)
	if asked := w.gate.Count(reviews) - before; asked > 20*25 {
		t.Errorf("%d questions in 20 s, want 20 a second, and few for all namespaces", asked)
	} else {
		t.Logf("%.1f questions a second", float64(asked)/20)
	}
	in := func(n int) int {
		count := 0
		for _, v := range shown {
			for _, row := range v.RowsHeld() {
				if row.NS == names[n] {
					count++
				}
			}
		}
		return count
	}
	for n := range 3 {
		check(t, w.Core.RbacV1().RoleBindings(names[n]).Delete(t.Context(), "look", metav1.DeleteOptions{}))
		t.Logf("removed: gone after %v", eventually(t, 15*time.Second, "the rows go", func() error {
			if left := in(n); left > 0 {
				return fmt.Errorf("%d rows are shown of %s", left, names[n])
			}
			return nil
		}))
		if got := in(n + 1); got != len(shown) {
			t.Errorf("of its neighbour %d rows are shown", got)
		}
	}
	for n := range 3 {
		check(t, bindings(t.Context(), n))
	}
	t.Logf("granted: shown after %v", eventually(t, 60*time.Second, "the rows come", all))
	sound(t, looks...)
}
