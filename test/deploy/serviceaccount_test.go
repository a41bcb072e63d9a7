//go:build integration

package deploy

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

// With its service account, the dashboard can perform all its functions, but cannot read Secrets. The dashboard sends
// only GET requests and self-reviews.
//
// Invariant: I46. The program sends the API server only get, list and watch requests, access reviews and token reviews.
// In a cluster, it has no other permissions. By default, it has no permission to read Secrets. It continues to work
// after its service account token has changed. It works through `kubectl port-forward`, and behind a reverse proxy.
// kustomize and Helm create the same objects. The image contains one program.
func TestProgramWithItsServiceAccount(t *testing.T) {
	c := open(t)
	deploy(t, "cluster")
	server, recorded := c.recordingProxy(t)
	p := run(t, kubeconfigOf(t, server, &api.AuthInfo{Token: c.token(t, nil)}))

	p.checkEveryKind()
	var pods corev1.PodList
	if list, err := c.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/name=storefront",
	}); err != nil || len(list.Items) == 0 {
		t.Fatalf("no pods of storefront: error %v", err)
	} else {
		pods = *list
	}
	name := pods.Items[0].Name
	p.waitForContent("/api/v1/logs/shop/"+name+"?tail=1&container="+pods.Items[0].Spec.Containers[0].Name, "level=")
	p.waitForContent("/api/v1/object/core/v1/pods/shop/"+name, `"name":"`+name+`"`)
	p.waitForContent("/api/v1/search?q="+name, name)
	p.waitForContent("/api/v1/related/core/v1/pods/shop/"+name, "ReplicaSet")
	p.waitForContent("/r/core/v1/pods?ns=shop", name)
	p.waitForContent("/o/core/v1/namespaces/_/default", "default")
	p.checkChangeArrives(c)

	if body, status := p.request("/api/v1/object/core/v1/secrets/shop/storefront-tls"); status != http.StatusForbidden {
		t.Errorf("GET Secret: got %d %.300s, want 403", status, body)
	}
	all := recorded.all()
	for _, r := range all {
		switch {
		case strings.HasSuffix(r.path, "/secrets"):
			t.Errorf("the program lists Secrets: %v", r)
		// The dashboard requests a Secret that a viewer opens, or to which a pod refers. The API server must reject this.
		case strings.Contains(r.path, "/secrets/") && r.status != http.StatusForbidden:
			t.Errorf("the program reads a Secret: %v", r)
		case r.method == http.MethodPost && strings.HasPrefix(r.path, "/apis/authorization.k8s.io/v1/selfsubject"):
		case r.method != http.MethodGet:
			t.Errorf("the program sends a request that is not read-only: %v", r)
		}
	}
	if len(all) < 100 {
		t.Errorf("only %d requests are in the audit log, want at least 100", len(all))
	}
	t.Logf("%d requests to the API server", len(all))
}

// With deploy/kustomize/namespaced, the dashboard shows only its own namespace, and reports other data as forbidden.
//
// Invariant: I46.
func TestProgramInOneNamespace(t *testing.T) {
	c := open(t)
	deploy(t, "namespaced")
	server, recorded := c.recordingProxy(t)
	p := run(t, kubeconfigOf(t, server, &api.AuthInfo{Token: c.token(t, nil)}), "--namespace="+variant.Namespace)
	p.waitForContent(
		"/api/v1/snapshot/core/v1/pods", `"namespaces":["glasshouse"]`, `"state":"live"`, `"name":"glasshouse-`,
	)
	p.waitForContent("/api/v1/snapshot/core/v1/pods?ns=shop", `"state":"forbidden"`)
	p.waitForContent("/api/v1/snapshot/core/v1/nodes", `"state":"forbidden"`)
	p.checkChangeArrives(c)
	for _, r := range recorded.all() {
		if strings.Contains(r.path, "/secrets") {
			t.Errorf("the program requests Secrets: %v", r)
		}
	}
}

// checkEveryKind requests each resource that can be listed. It checks the states of the preferred versions: live,
// forbidden, or stale if the resource cannot be watched.
func (p *program) checkEveryKind() {
	p.t.Helper()
	var known struct {
		Resources []struct {
			Ref       string
			Verbs     []string
			Preferred bool
		}
	}
	p.get("/api/v1/resources", &known)
	live := 0
	for _, r := range known.Resources {
		if !slices.Contains(r.Verbs, "list") {
			continue
		}
		if !r.Preferred {
			p.get("/api/v1/snapshot/"+r.Ref+"?limit=1", nil)
			continue
		}
		want := []string{"live"}
		switch {
		case r.Ref == "core/v1/secrets" || strings.Contains(r.Ref, ".example.com/"):
			want = []string{"forbidden"}
		case !slices.Contains(r.Verbs, "watch"):
			want = []string{"stale"} // The dashboard cannot watch the resource, and only lists it at intervals.
		}
		eventually(p.t, r.Ref, func() error {
			var snapshot struct{ State, Reason string }
			p.get("/api/v1/snapshot/"+r.Ref+"?limit=1", &snapshot)
			if !slices.Contains(want, snapshot.State) {
				return fmt.Errorf("state is %s: %s; want %s", snapshot.State, snapshot.Reason, want)
			}
			return nil
		})
		if want[0] == "live" {
			live++
		}
	}
	if live < 50 {
		p.t.Errorf("only %d resources are live, want at least 50", live)
	}
}

func (p *program) checkChangeArrives(c *cluster) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	tab := livetest.OpenTab(ctx, p.t, p.url, livetest.Options{})
	defer tab.Close()
	tab.Send(`{"op":"subscribe","id":1,"resource":"core/v1/configmaps","ns":["` + variant.Namespace + `"]}`)
	tab.UntilContains(`"type":"snapshot"`)
	if _, err := c.CoreV1().ConfigMaps(variant.Namespace).Create(
		ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "created-later"}}, metav1.CreateOptions{},
	); err != nil {
		p.t.Fatal(err)
	}
	tab.UntilContains(`"name":"created-later"`)
}

func (c *cluster) recordingProxy(t *testing.T) (server *httptest.Server, recorded *requests) {
	t.Helper()
	upstream, err := url.Parse(c.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(c.config)) // adds no token: the dashboard sends one
	if err != nil {
		t.Fatal(err)
	}
	recorded = &requests{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
		},
		ModifyResponse: func(r *http.Response) error {
			recorded.add(request{r.Request.Method, r.Request.URL.Path, r.StatusCode})
			return nil
		},
		Transport: transport, FlushInterval: -1,
	}
	server = httptest.NewTLSServer(proxy) // TLS, because the dashboard never sends a token without TLS
	t.Cleanup(server.Close)
	return server, recorded
}
