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

	"glasshouse/test/faults/cluster"
)

const configMaps = "core/v1/configmaps"

// content is the data that the attacks try to read. It consists of objects in the demo cluster, and of users who are
// allowed to read some of them.
type content struct {
	*cluster.Cluster

	namespace string // Namespace with many large ConfigMaps.
	hidden    string // Namespace that the restricted user is not allowed to read.
	pod       string // Name of a pod in the namespace shop that writes a log.

	creator      string // Token of a user with the ClusterRole view, who can also read Secrets in content.namespace.
	restricted   string // Token of a user who can only read ConfigMaps in content.namespace.
	unprivileged string // Token of a user without permissions.
	healthyToken string // Token of a user with the ClusterRole view, whose latency is measured.
}

// sizes describes the ConfigMaps to create. The key is the prefix of their names. The first number is their count,
// and the second is the approximate size of each in bytes.
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

// contentOf creates the content in the cluster once for all tests. The tests do not delete it, because the whole demo
// cluster is deleted afterward.
func contentOf(p *probe) *content {
	p.Helper()
	sharedContent.once.Do(func() {
		start := time.Now()
		sharedContent.content, sharedContent.err = makeContent(context.WithoutCancel(p.Context()))
		p.Logf("the content is ready after %v", time.Since(start).Round(time.Millisecond))
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
	pods, err := c.Core.CoreV1().Pods("shop").List(ctx,
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=storefront"})
	if err != nil || len(pods.Items) == 0 {
		return nil, fmt.Errorf("find a pod: %d pods, %w", len(pods.Items), err)
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
		"creator":    {&c.creator, []rbacv1.PolicyRule{read("secrets")}, "view"},
		"healthy":    {&c.healthyToken, nil, "view"},
		"restricted": {&c.restricted, []rbacv1.PolicyRule{read("configmaps")}, ""},
		"nobody":     {&c.unprivileged, nil, ""},
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

// user creates a service account in a namespace, and returns a token for it. If rules are given, user also creates a
// Role with these rules, and binds it to the service account.
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
			return "", fmt.Errorf("give rights to %s: %w", name, err)
		}
	}
	tokenRequest, err := c.Core.CoreV1().ServiceAccounts(namespace).
		CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create a token of %s: %w", name, err)
	}
	return tokenRequest.Status.Token, nil
}

// ignoreExisting returns nil if err reports that an object already exists, and err otherwise. An object exists if the
// same attack has already run on the baseline (another program for comparison).
func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
