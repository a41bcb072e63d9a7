//go:build integration

package oidc

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// namespace creates a namespace with a ConfigMap for this test, and returns a client with the admin's permissions.
func namespace(t *testing.T) (*kubernetes.Clientset, string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	created, err := admin.CoreV1().Namespaces().Create(
		t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "oidc-"}}, metav1.CreateOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := admin.CoreV1().Namespaces().Delete(ctx, created.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	if _, err := admin.CoreV1().ConfigMaps(created.Name).Create(
		t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "of-the-test"}}, metav1.CreateOptions{},
	); err != nil {
		t.Fatal(err)
	}
	return admin, created.Name
}

// A user who logs in at Dex can read exactly the objects that RBAC permits.
//
// Invariant: I29.
func TestDexUserReadsOnlyPermittedObjects(t *testing.T) {
	t.Parallel()
	admin, ns := namespace(t)
	provider := newDex(t, time.Hour)
	p := run(t, provider)
	b := newBrowser(t, provider)
	page := "/r/core/v1/configmaps?ns=" + ns
	if _, text := b.logIn(p, page, "wrong"); !strings.Contains(text, "Invalid") ||
		b.page.Host == strings.TrimPrefix(p.url, "http://") {
		t.Errorf("wrong password: got page %s: %s", b.page, text)
	}
	code, text := b.logIn(p, page, password)
	if code != http.StatusForbidden || b.page.Path+"?"+b.page.RawQuery != page ||
		!strings.Contains(text, "Logged in as "+email) || strings.Contains(text, "of-the-test") {
		t.Errorf("page without permissions at %s: got status %d, want 403 at %s with %q and without the ConfigMap: %s",
			b.page, code, page, "Logged in as "+email, text)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "anna"}, RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view",
		},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: email}},
	}
	if _, err := admin.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the permission is effective", func() error {
		if code, text := b.get(p.url + "/api/v1/snapshot/core/v1/configmaps?ns=" + ns); code != http.StatusOK ||
			!strings.Contains(text, "of-the-test") {
			return fmt.Errorf("GET snapshot: got %d %s, want 200", code, text)
		}
		return nil
	})
	if code, text := b.get(p.url + "/api/v1/snapshot/core/v1/configmaps"); code != http.StatusOK ||
		strings.Count(text, `"uid"`) != strings.Count(text, `"ns":"`+ns+`"`) {
		t.Errorf("snapshot of all namespaces: got %d %s, want only those of %s", code, text, ns)
	}
	for _, path := range []string{
		"/api/v1/snapshot/core/v1/configmaps?ns=kube-system", "/api/v1/snapshot/core/v1/secrets?ns=" + ns,
	} {
		if code, text := b.get(p.url + path); code != http.StatusForbidden {
			t.Errorf("GET %s: got %d %s, want 403", path, code, text)
		}
	}
	if code, _ := newBrowser(t, provider).get(p.url + page); code != http.StatusUnauthorized {
		t.Errorf("GET page from another browser: got %d, want 401", code)
	}
}

// Invariant: I29.
func TestSocketEndsWithItsToken(t *testing.T) {
	t.Parallel()
	const lifetime = 15 * time.Second
	provider := newDex(t, lifetime)
	p := run(t, provider)
	b := newBrowser(t, provider)
	b.logIn(p, "/status", password)
	issued := time.Now()
	if b.page.Path != "/status" {
		t.Fatalf("page after the login: got %s, want /status", b.page)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := livetest.Dial(ctx, p.url, livetest.Options{HTTP: b.client, Header: http.Header{"Origin": {p.url}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	code, reason := conn.WaitForClose(ctx)
	elapsed := time.Since(issued)
	t.Logf("socket closed %s after the login; token lifetime is %s", elapsed, lifetime)
	if code != 4401 {
		t.Errorf("socket closed with %d %s, want 4401", code, reason)
	}
	// The variable issued is up to 5 s later than the time at which the provider issued the token. So the socket can
	// close up to 5 s before issued plus the lifetime.
	if elapsed > lifetime+5*time.Second || elapsed < lifetime-5*time.Second {
		t.Errorf("socket closed %s after the login, want %s (up to 5 s later)", elapsed, lifetime)
	}
	if code, text := b.get(p.url + "/status"); code != http.StatusUnauthorized {
		t.Errorf("page after the session ended: got %d %s, want 401", code, text)
	}
}

// The dashboard rejects ID tokens for another client or of another provider.
//
// Invariant: I29.
func TestTokensForOtherClients(t *testing.T) {
	t.Parallel()
	provider, otherProvider := newDex(t, time.Hour), newDex(t, time.Hour)
	p := run(t, provider)
	otherProvider.registerClients(t, p.url+"/login/callback")
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		code    int
	}{
		{"own client", provider.handler.ServeHTTP, http.StatusOK},
		{"other client", func(w http.ResponseWriter, r *http.Request) {
			if query := r.URL.Query(); query.Get("client_id") == client {
				query.Set("client_id", otherClient)
				r.URL.RawQuery = query.Encode()
			}
			if id, secret, ok := r.BasicAuth(); ok && id == client {
				r.SetBasicAuth(otherClient, secret)
			}
			provider.handler.ServeHTTP(w, r)
		}, http.StatusUnauthorized},
		{"other issuer", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/") {
				provider.handler.ServeHTTP(w, r)
				return
			}
			// The response includes the signing keys of the first provider, so the signature is valid.
			otherProvider.handler.ServeHTTP(w, r)
		}, http.StatusUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			provider.setHandler(test.handler)
			b := newBrowser(t, provider)
			code, text := b.logIn(p, "/status", password)
			if code != test.code ||
				code != http.StatusOK && !strings.Contains(text, "ID token of the provider could not be verified") {
				t.Errorf("callback: got page %s with status %d, want %d: %s", b.page, code, test.code, text)
			}
			if code, _ := b.get(p.url + "/status"); code != test.code {
				t.Errorf("page after the callback: got status %d, want %d", code, test.code)
			}
		})
	}
}
