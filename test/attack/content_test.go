package attack

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/glasshouse-project/glasshouse/test/faults/cluster"
)

const (
	configMaps = "core/v1/configmaps"
	// sameName is the name of a ConfigMap in the visible and in the hidden namespace. The name is that of the resource,
	// because a server that confuses the parts of a path would find such an object.
	sameName = "configmaps"
)

// content is the data that the attacks try to read, and the users with permissions for parts of it.
type content struct {
	*cluster.Cluster

	namespace string
	hidden    string // Namespace without permissions for the restricted user.
	pod       string

	creator      string // Token with the ClusterRole view. It can also read Secrets in content.namespace.
	restricted   string // Token that can only read ConfigMaps in content.namespace.
	unprivileged string
	healthyToken string // Token with the ClusterRole view, for latency measurements.
}

// sizes returns, by name prefix, the number of ConfigMaps and the size of each in bytes.
func sizes() map[string][2]int {
	return map[string][2]int{
		"huge":  {2, 1000 << 10},
		"large": {200, 100 << 10},
		"small": {shortOrFull(500, 2000), 200},
	}
}

var sharedContent struct {
	once    sync.Once
	content *content
	err     error
}

// contentOf creates the content once for all tests. It is deleted with the demo cluster.
func contentOf(p *probe) *content {
	p.Helper()
	sharedContent.once.Do(func() {
		start := time.Now()
		sharedContent.content, sharedContent.err = makeContent(context.WithoutCancel(p.Context()))
		p.Logf("the content was created in %v", time.Since(start).Round(time.Millisecond))
	})
	return must(sharedContent.content, sharedContent.err)(p)
}

func makeContent(ctx context.Context) (c *content, err error) {
	c = &content{}
	if c.Cluster, err = cluster.Open(); err != nil {
		return nil, err
	}
	for _, name := range []*string{&c.namespace, &c.hidden} {
		if *name, err = c.Namespace(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.makeConfigMaps(ctx); err != nil {
		return nil, err
	}
	for namespace, value := range map[string]string{c.namespace: "visible-value", c.hidden: "hidden-value"} {
		if err := c.Apply(ctx, namespace, sameName, value); err != nil {
			return nil, err
		}
	}
	pods, err := c.Core.CoreV1().Pods("shop").List(ctx,
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=storefront"})
	if err != nil || len(pods.Items) == 0 {
		return nil, fmt.Errorf("list pods: got %d pods, error %w", len(pods.Items), err)
	}
	c.pod = pods.Items[0].Name
	return c, c.makeUsers(ctx)
}

func (c *content) makeConfigMaps(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, 16)
	var making sync.WaitGroup
	for kind, size := range sizes() {
		for i := range size[0] {
			making.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				cm := &corev1.ConfigMap{Data: map[string]string{"text": strings.Repeat(
					fmt.Sprintf("%s %d ", kind, i), size[1]/10,
				)}}
				cm.Name, cm.Labels = fmt.Sprint(kind, "-", i), map[string]string{"size": kind}
				if _, err := c.Core.CoreV1().ConfigMaps(c.namespace).Create(
					ctx, cm, metav1.CreateOptions{},
				); err != nil {
					cancel(fmt.Errorf("create %s: %w", cm.Name, err))
				}
			})
		}
	}
	making.Wait()
	return context.Cause(ctx)
}

func (c *content) makeUsers(ctx context.Context) (err error) {
	read := func(resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{"get", "list", "watch"}}
	}
	for name, user := range map[string]struct {
		token *string
		rules []rbacv1.PolicyRule
		role  string
	}{
		"creator":      {&c.creator, []rbacv1.PolicyRule{read("secrets")}, "view"},
		"healthy":      {&c.healthyToken, nil, "view"},
		"restricted":   {&c.restricted, []rbacv1.PolicyRule{read("configmaps")}, ""},
		"unprivileged": {&c.unprivileged, nil, ""},
	} {
		if *user.token, err = c.user(ctx, c.namespace, name, user.rules...); err != nil {
			return err
		}
		if user.role != "" {
			if err := c.Grant(
				ctx, fmt.Sprintf("system:serviceaccount:%s:%s", c.namespace, name), user.role,
			); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *content) user(
	ctx context.Context, namespace, name string, rules ...rbacv1.PolicyRule,
) (token string, err error) {
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
	account := &corev1.ServiceAccount{ObjectMeta: meta}
	if _, err = c.Core.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("create the user %s: %w", name, err)
	}
	if len(rules) > 0 {
		role := &rbacv1.Role{ObjectMeta: meta, Rules: rules}
		_, err = c.Core.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{})
		if err == nil {
			_, err = c.Core.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
				ObjectMeta: meta,
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
				Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: namespace}},
			}, metav1.CreateOptions{})
		}
		if err != nil {
			return "", fmt.Errorf("grant permissions to %s: %w", name, err)
		}
	}
	tokenRequest, err := c.Core.CoreV1().ServiceAccounts(namespace).
		CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create a token of %s: %w", name, err)
	}
	return tokenRequest.Status.Token, nil
}

// ignoreExisting returns nil if an object already exists: if the tests run on two programs (see BASELINE), the first
// run can have created the object.
func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
