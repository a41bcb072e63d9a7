//go:build integration

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/glasshouse-project/glasshouse/internal/watch"
)

type parity struct {
	admin      *kubernetes.Clientset
	config     *rest.Config
	cluster    *watch.Cluster
	namespaces []string // Namespaces in which the responses are compared; the last one does not exist.
}

func parityKinds() []string {
	return []string{
		"core/v1/configmaps", "core/v1/services", "core/v1/serviceaccounts", "rbac.authorization.k8s.io/v1/roles",
		"core/v1/namespaces", "core/v1/nodes",
	}
}

func clusterScoped(ref string) bool {
	return ref == "core/v1/namespaces" || ref == "core/v1/nodes"
}

func resourceFor(ref string) schema.GroupVersionResource {
	parts := strings.Split(ref, "/")
	return schema.GroupVersionResource{
		Group: strings.TrimPrefix(parts[0], "core"), Version: parts[1], Resource: parts[2],
	}
}

// With random Roles, a user sees exactly the objects that the API server returns for the user's token.
// Invariant: I18.
func TestPermissionsMatchTheAPIServer(t *testing.T) {
	t.Parallel()
	// The environment variable PARITY sets the number of users, SEED the random seed.
	sets := 100
	if s := os.Getenv("PARITY"); s != "" {
		sets, _ = strconv.Atoi(s)
	}
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // Any number is a valid seed.
	if s := os.Getenv("SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("SEED=%d", seed)
	p := newParity(t)
	users := make([]*parityUser, sets)
	for n := range users {
		users[n] = p.user(t, n, rand.New(rand.NewPCG(seed, uint64(n)))) //nolint:gosec // Not used for a secret.
	}
	p.waitForPermissions(t, users[sets-1])
	compared, refused, objects := 0, 0, 0
	for n, user := range users {
		for _, ref := range parityKinds() {
			for _, s := range p.requests(ref, user.random) {
				got, want := user.seenHere(t, s), user.seenAtAPIServer(t, s)
				for try := 0; try < 3 && got != want; try++ { // Repeat: objects can change between the two requests.
					got, want = user.seenHere(t, s), user.seenAtAPIServer(t, s)
				}
				if got != want {
					t.Errorf("SEED=%d, user %d (%s), %s of %s in %q %s:\ndashboard  %s\nAPI server %s", seed, n, user.rules, s.verb,
						s.ref, s.namespaces, s.name, got, want)
				}
				compared++
				objects += strings.Count(want, " ")
				if want == "forbidden" {
					refused++
				}
			}
		}
	}
	t.Logf("%d sets of permissions, %d requests of which %d were refused, %d objects: no difference", sets, compared,
		refused, objects)
	if refused == 0 || refused == compared || objects == 0 {
		t.Error("the permissions allowed all or none of the requests, so nothing was compared")
	}
}

func newParity(t *testing.T) *parity {
	t.Helper()
	o := newAPIClient(t, adminConfig(t))
	config, err := clientcmd.BuildConfigFromFlags("", adminConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &parity{admin: client, config: config}
	for range 3 {
		ns := o.namespace(t)
		p.namespaces = append(p.namespaces, ns)
		o.apply(t, ns, "one", "1")
		o.apply(t, ns, "two", "1")
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "one"},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}
		if _, err := client.CoreV1().Services(ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.namespaces = append(p.namespaces, "parity-is-not-there")
	p.cluster, err = watch.New(config, watch.Options{Linger: time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	apitest.Run(t, p.cluster.Run)
	eventually(t, "all resources are live", func() error {
		for _, ref := range parityKinds() {
			s, err := p.cluster.For(watch.Viewer{Program: true}).Snapshot(t.Context(), query.Query{Resource: ref},
				10*time.Second)
			if err != nil || s.Status.State != status.Live {
				return fmt.Errorf("%s: %w", ref, err)
			}
		}
		return nil
	})
	return p
}

type parityUser struct {
	access *watch.Access
	client dynamic.Interface
	rules  string
	random *rand.Rand
}

func (p *parity) user(t *testing.T, n int, random *rand.Rand) *parityUser {
	t.Helper()
	ns, name := p.namespaces[0], fmt.Sprintf("parity-%d", n)
	if _, err := p.admin.CoreV1().ServiceAccounts(ns).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	subject := []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: ns}}
	u := &parityUser{random: random}
	for b := range 1 + random.IntN(3) {
		rule := randomRule(random)
		roleName := fmt.Sprintf("%s-%d", name, b)
		role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: roleName}
		if _, err := p.admin.RbacV1().ClusterRoles().Create(t.Context(),
			&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: roleName}, Rules: []rbacv1.PolicyRule{rule}},
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = p.admin.RbacV1().ClusterRoles().Delete(context.WithoutCancel(t.Context()), roleName,
				metav1.DeleteOptions{})
			_ = p.admin.RbacV1().ClusterRoleBindings().Delete(context.WithoutCancel(t.Context()), roleName,
				metav1.DeleteOptions{})
		})
		var err error
		scope := "*"
		if random.IntN(3) == 0 {
			_, err = p.admin.RbacV1().ClusterRoleBindings().Create(t.Context(),
				&rbacv1.ClusterRoleBinding{
					ObjectMeta: metav1.ObjectMeta{Name: roleName}, RoleRef: role,
					Subjects: subject,
				}, metav1.CreateOptions{})
		} else {
			scope = p.namespaces[random.IntN(3)]
			_, err = p.admin.RbacV1().RoleBindings(scope).Create(t.Context(),
				&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: roleName}, RoleRef: role, Subjects: subject},
				metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		u.rules += fmt.Sprintf("%v in %s; ", rule, scope)
	}
	request, err := p.admin.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), name,
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	userConfig := rest.AnonymousClientConfig(p.config)
	userConfig.BearerToken, userConfig.QPS = request.Status.Token, -1
	if u.client, err = dynamic.NewForConfig(userConfig); err != nil {
		t.Fatal(err)
	}
	review, err := p.admin.AuthenticationV1().TokenReviews().Create(t.Context(),
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: request.Status.Token}},
		metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated {
		t.Fatalf("TokenReview does not accept the token: %v", err)
	}
	user := &authz.User{
		Name: review.Status.User.Username, UID: review.Status.User.UID, Groups: review.Status.User.Groups,
		Extra: map[string][]string{},
	}
	for key, values := range review.Status.User.Extra {
		user.Extra[key] = values
	}
	u.access = p.cluster.For(watch.Viewer{User: user})
	return u
}

func randomRule(random *rand.Rand) rbacv1.PolicyRule {
	someOf := func(all []string) []string {
		chosen := slices.DeleteFunc(slices.Clone(all), func(string) bool { return random.IntN(2) == 0 })
		if len(chosen) == 0 {
			chosen = all[:1]
		}
		return chosen
	}
	rule := rbacv1.PolicyRule{APIGroups: []string{"", rbacv1.GroupName}, Verbs: someOf([]string{"list", "watch", "get"})}
	for _, ref := range someOf(parityKinds()) {
		rule.Resources = append(rule.Resources, resourceFor(ref).Resource)
	}
	switch random.IntN(6) {
	case 0:
		rule.ResourceNames = []string{"one"}
	case 1:
		rule.Resources = []string{"*"}
	case 2:
		rule.Verbs = []string{"list", "watch", "get"}
	case 3:
		rule.Verbs, rule.Resources = []string{"get"}, []string{"namespaces"}
	}
	return rule
}

// waitForPermissions waits until the permissions of the last created user take effect. This is the case when two
// consecutive responses are equal.
func (p *parity) waitForPermissions(t *testing.T, last *parityUser) {
	t.Helper()
	before := ""
	eventually(t, "the permissions are effective", func() error {
		var all []string
		for _, ref := range parityKinds() {
			all = append(
				all,
				last.seenAtAPIServer(t, parityRequest{ref: ref, verb: "list"}),
				last.seenAtAPIServer(t, parityRequest{
					ref: ref, verb: "list", namespaces: p.namespaces[:1],
				}),
			)
		}
		now := strings.Join(all, ";")
		defer func() { before = now }()
		if now != before {
			return fmt.Errorf("the permissions still change: %s", now)
		}
		return nil
	})
}

type parityRequest struct {
	ref, verb  string
	namespaces []string
	name       string
}

func (p *parity) requests(ref string, random *rand.Rand) []parityRequest {
	if clusterScoped(ref) {
		shapes := []parityRequest{
			{ref: ref, verb: "list"},
			{ref: ref, verb: "watch"},
			{ref: ref, verb: "get", name: "default"},
		}
		if ref != "core/v1/namespaces" {
			return shapes
		}
		// Also request single Namespaces: a Role can allow a get of the Namespace object of its namespace, but no list or
		// watch of all Namespaces.
		for _, name := range p.namespaces {
			shapes = append(shapes, parityRequest{ref: ref, verb: "get", name: name},
				parityRequest{ref: ref, verb: "watch", name: name})
		}
		return shapes
	}
	one, other := p.namespaces[random.IntN(len(p.namespaces))], p.namespaces[random.IntN(3)]
	both := slices.Compact(slices.Sorted(slices.Values([]string{one, other})))
	first, second := []string{one}, []string{other}
	return []parityRequest{
		{ref: ref, verb: "list"},
		{ref: ref, verb: "list", namespaces: first},
		{ref: ref, verb: "list", namespaces: both},
		{ref: ref, verb: "watch", namespaces: first},
		{ref: ref, verb: "watch", namespaces: second, name: "one"},
		{ref: ref, verb: "get", namespaces: first, name: "one"},
		{ref: ref, verb: "get", namespaces: second, name: "two"},
	}
}

func (u *parityUser) seenHere(t *testing.T, s parityRequest) string {
	t.Helper()
	switch s.verb {
	case "list":
		snapshot, err := u.access.Snapshot(t.Context(), query.Query{Resource: s.ref, Namespaces: s.namespaces},
			10*time.Second)
		switch outcome := outcomeOf(err); {
		case outcome == "not found":
			return "" // "Not found" is reported only to users who can know whether the namespace exists.
		case err != nil:
			return outcome
		}
		var out strings.Builder
		for _, o := range snapshot.Objects {
			out.WriteString(" " + o.Namespace() + "/" + o.Name())
		}
		return out.String()
	case "get":
		_, err := u.access.Object(t.Context(), s.ref, strings.Join(s.namespaces, ""), s.name)
		return outcomeOf(err)
	}
	view := stream.Rows
	if s.name != "" {
		view = stream.Object
	}
	sub, err := u.access.Subscribe(t.Context(), query.Query{Resource: s.ref, Namespaces: s.namespaces, Name: s.name},
		view, "")
	if err != nil {
		return outcomeOf(err)
	}
	defer sub.Close()
	message, err := sub.Next(t.Context())
	if err == nil && strings.Contains(string(message), `"state":"forbidden"`) {
		return "forbidden"
	}
	return outcomeOf(err)
}

// seenAtAPIServer returns the API server's response to a request with the user's token.
func (u *parityUser) seenAtAPIServer(t *testing.T, s parityRequest) string {
	t.Helper()
	client := u.client.Resource(resourceFor(s.ref))
	switch s.verb {
	case "get":
		_, err := client.Namespace(strings.Join(s.namespaces, "")).Get(t.Context(), s.name, metav1.GetOptions{})
		return outcomeOf(err)
	case "watch":
		options := metav1.ListOptions{Limit: 1}
		if s.name != "" {
			options.FieldSelector = "metadata.name=" + s.name
		}
		if _, err := client.Namespace(strings.Join(s.namespaces, "")).List(t.Context(), options); err != nil {
			return outcomeOf(err)
		}
		options.Limit = 0
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		w, err := client.Namespace(strings.Join(s.namespaces, "")).Watch(ctx, options)
		if err == nil {
			w.Stop()
		}
		return outcomeOf(err)
	}
	namespaces := s.namespaces
	if len(namespaces) == 0 {
		// First list all namespaces at once. If the API server refuses that, combine the lists of each namespace.
		list, err := client.List(t.Context(), metav1.ListOptions{})
		if err == nil {
			out := []string{}
			for i := range list.Items {
				out = append(out, " "+list.Items[i].GetNamespace()+"/"+list.Items[i].GetName())
			}
			return sortedKeys(out)
		}
		if clusterScoped(s.ref) {
			return outcomeOf(err)
		}
		namespaces = u.allNamespaces(t)
	}
	refused := 0
	out := make([][]string, len(namespaces))
	refusals := make([]bool, len(namespaces))
	var group errgroup.Group
	group.SetLimit(4)
	for n, ns := range namespaces {
		group.Go(func() error {
			list, err := client.Namespace(ns).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				refusals[n] = true
				return nil //nolint:nilerr // A refused request is a valid result.
			}
			for i := range list.Items {
				out[n] = append(out[n], " "+ns+"/"+list.Items[i].GetName())
			}
			return nil
		})
	}
	_ = group.Wait() // No function of the group returns an error.
	for _, isRefused := range refusals {
		if isRefused {
			refused++
		}
	}
	if refused == len(namespaces) {
		return "forbidden"
	}
	return sortedKeys(slices.Concat(out...))
}

func (u *parityUser) allNamespaces(t *testing.T) (names []string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(mustConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func mustConfig(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", adminConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func sortedKeys(keys []string) string {
	slices.SortFunc(keys, func(a, b string) int {
		return slices.Compare(strings.SplitN(strings.TrimSpace(a), "/", 2),
			strings.SplitN(strings.TrimSpace(b), "/", 2))
	})
	return strings.Join(keys, "")
}

// outcomeOf returns the same text for equivalent errors of this program and of the API server.
func outcomeOf(err error) string {
	problem := new(status.Problem)
	switch {
	case err == nil:
		return "allowed"
	case apierrors.IsForbidden(err), asProblem(err, &problem) && problem.Cause == status.Refused:
		return "forbidden"
	case apierrors.IsNotFound(err), asProblem(err, &problem) && problem.Cause == status.Unknown:
		return "not found"
	}
	return err.Error()
}

func asProblem(err error, p **status.Problem) bool { return errors.As(err, p) }
