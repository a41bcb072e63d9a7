package cluster

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Grant binds a user to a ClusterRole for all namespaces.
func (c *Cluster) Grant(ctx context.Context, user, role string) error {
	_, err := c.Core.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: rbacv1.GroupName, Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("grant %s to %s: %w", role, user, err)
	}
	return nil
}

// Revoke removes the binding that Grant created. A missing binding is not an error.
func (c *Cluster) Revoke(ctx context.Context, user string) error {
	err := c.Core.RbacV1().ClusterRoleBindings().Delete(ctx, user, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("revoke the permissions of %s: %w", user, err)
	}
	return nil
}
