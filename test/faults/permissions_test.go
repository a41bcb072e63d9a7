package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/test/faults/link"
	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

// A permission for all namespaces takes effect within a minute. After its revocation, clients lose the rows. The
// program must remove them itself, because the API server can continue a watch for minutes.
//
// Invariant: I39.
func TestClusterPermissionGrantedAndRevoked(t *testing.T) {
	t.Parallel()
	deployments := viewer.Rows("apps/v1/deployments")
	user := fmt.Sprint("fault-", time.Now().UnixNano())
	w := open(t, options{args: []string{"--as", user}})
	rows := w.startViewers(2, deployments)
	waitForState(t, 20*time.Second, "forbidden", rows...)
	start := time.Now()
	sleep(2 * time.Second)
	check(t, checkNoRows(rows...))
	checkNotLive(t, start, time.Now(), rows...)
	check(t, w.Grant(t.Context(), user, "view"))
	t.Cleanup(func() { check(t, w.Revoke(context.WithoutCancel(t.Context()), user)) })
	t.Logf("granted: live after %v", waitForState(t, 60*time.Second, "live", rows...))
	w.converges(5*time.Second, rows...)
	if rows[0].Len() == 0 {
		t.Error("the cluster has no Deployments, so the test is not valid")
	}
	check(t, w.Revoke(t.Context(), user))
	t.Logf("removed: forbidden after %v", waitForState(t, 25*time.Second, "forbidden", rows...))
	eventually(t, 2*time.Second, "the rows are removed", func() error { return checkNoRows(rows...) })
	checkNoFaults(t, rows...)
}

// The program checks 200 namespaces with at most 28 access reviews per second. Rows disappear within 15 s of a
// revocation.
//
// Invariant: I39.
func TestPermissionsInManyNamespaces(t *testing.T) {
	t.Parallel()
	user := fmt.Sprint("fault-", time.Now().UnixNano())
	w := open(t, options{args: []string{"--as", user}})
	var names []string
	for n := range 200 {
		names = append(names, fmt.Sprint(user, "-", n))
	}
	grant := func(ctx context.Context, n int) error {
		_, err := w.Core.RbacV1().RoleBindings(names[n]).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
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
		check(t, grant(t.Context(), n))
	}
	var viewers []*viewer.Viewer
	for _, kind := range []string{configMaps, "core/v1/serviceaccounts", "core/v1/resourcequotas"} {
		viewers = append(viewers, w.startViewers(1, viewer.Rows(kind, names...))...)
	}
	// The third viewer has no rows, because no namespace has a ResourceQuota.
	withRows := viewers[:2]
	allShown := func() (err error) {
		for _, v := range withRows {
			if rowCount := len(v.Rows()); rowCount != len(names) {
				err = errors.Join(err, fmt.Errorf("got %d rows", rowCount))
			}
		}
		return err
	}
	t.Logf("all rows were shown after %v", eventually(t, 60*time.Second, "all rows are shown", allShown))

	reviews := func(r link.Request) bool {
		return strings.HasPrefix(r.Path, "/apis/authorization.k8s.io/v1/selfsubject")
	}
	// The first review of a namespace is a SelfSubjectAccessReview. Wait until only SelfSubjectRulesReviews follow,
	// and count those.
	sleep(10 * time.Second)
	before := w.gate.Count(reviews)
	sleep(20 * time.Second)
	// 200 permitted namespaces every 10 s, and 200 namespaces without permission for other resources every 30 s, together
	// need 26.7 reviews a second.
	if sent := w.gate.Count(reviews) - before; sent > 20*28 {
		t.Errorf("got %d access reviews in 20 s, want at most 28 a second", sent)
	} else {
		t.Logf("%.1f access reviews a second", float64(sent)/20)
	}
	rowsIn := func(n int) int {
		count := 0
		for _, v := range withRows {
			for _, row := range v.Rows() {
				if row.NS == names[n] {
					count++
				}
			}
		}
		return count
	}
	for n := range 3 {
		check(t, w.Core.RbacV1().RoleBindings(names[n]).Delete(t.Context(), "reader", metav1.DeleteOptions{}))
		t.Logf("removed: rows were removed after %v", eventually(t, 15*time.Second, "the rows are removed", func() error {
			if remaining := rowsIn(n); remaining > 0 {
				return fmt.Errorf("got %d rows of %s, want 0", remaining, names[n])
			}
			return nil
		}))
		if got := rowsIn(n + 1); got != len(withRows) {
			t.Errorf("got %d rows of the next namespace, want all of them", got)
		}
	}
	for n := range 3 {
		check(t, grant(t.Context(), n))
	}
	t.Logf("granted: rows were shown after %v", eventually(t, 60*time.Second, "the rows appear", allShown))
	checkNoFaults(t, viewers...)
}
