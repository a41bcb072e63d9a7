package seed

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
)

// Access grants the ClusterRole "view" to the user "viewer", and all reads in the namespace to "limited".
func Access(ctx context.Context, client kubernetes.Interface, namespace string) error {
	opts := metav1.ApplyOptions{FieldManager: "demo", Force: true}
	if _, err := client.CoreV1().Namespaces().Apply(ctx, corev1ac.Namespace(namespace), opts); err != nil {
		return fmt.Errorf("create the namespace %s: %w", namespace, err)
	}
	rbac := client.RbacV1()
	role := rbacv1ac.Role("demo-limited", namespace).WithRules(rbacv1ac.PolicyRule().
		WithAPIGroups("*").WithResources("*").WithVerbs("get", "list", "watch"))
	if _, err := rbac.Roles(namespace).Apply(ctx, role, opts); err != nil {
		return fmt.Errorf("bind the role of %s: %w", identity.Limited, err)
	}
	limited := rbacv1ac.RoleBinding("demo-limited", namespace).
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("Role").WithName("demo-limited")).
		WithSubjects(user(identity.Limited))
	if _, err := rbac.RoleBindings(namespace).Apply(ctx, limited, opts); err != nil {
		return fmt.Errorf("bind the role of %s: %w", identity.Limited, err)
	}
	viewer := rbacv1ac.ClusterRoleBinding("demo-viewer").
		WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName("view")).
		WithSubjects(user(identity.Viewer))
	if _, err := rbac.ClusterRoleBindings().Apply(ctx, viewer, opts); err != nil {
		return fmt.Errorf("bind the role of %s: %w", identity.Viewer, err)
	}
	return nil
}

func user(name string) *rbacv1ac.SubjectApplyConfiguration {
	return rbacv1ac.Subject().WithKind(rbacv1.UserKind).WithAPIGroup(rbacv1.GroupName).WithName(name)
}
