//go:build integration

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

type dashboard struct {
	t   *testing.T
	url string
	out *safeBuffer
	// The Cookie header of each request; empty for none.
	cookie string
	// Ends the program. Two programs cannot run at the same time, because each one sets klog's global logger.
	stop func()
}

func startProgramProcess(t *testing.T, kubeconfig string, args ...string) *dashboard {
	t.Helper()
	d := &dashboard{t: t, out: &safeBuffer{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	args = append([]string{"--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0"}, args...)
	go func() { ended <- run(ctx, args, io.Discard, d.out) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case code := <-ended:
			if code != 0 {
				t.Errorf("the program ended with exit code %d, want 0:\n%s", code, d.log())
			}
		case <-time.After(20 * time.Second):
			t.Errorf("the program did not stop in time:\n%s", d.log())
		}
	})
	t.Cleanup(d.stop)
	eventually(t, "the program serves", func() error {
		match := regexp.MustCompile(`url=(http://\S+)/`).FindStringSubmatch(d.log())
		if match == nil {
			return fmt.Errorf("the program's log:\n%s", d.log())
		}
		d.url = match[1]
		return nil
	})
	eventually(t, "the program responds", func() error {
		response, err := http.Get(d.url + "/healthz")
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	return d
}

func startReady(t *testing.T, kubeconfig string, args ...string) *dashboard {
	t.Helper()
	d := startProgramProcess(t, kubeconfig, args...)
	eventually(t, "the API server is reachable", func() error {
		if text, code := d.request("/readyz"); code != http.StatusOK {
			return fmt.Errorf("GET /readyz: got %d %s, want 200", code, text)
		}
		return nil
	})
	return d
}

func (d *dashboard) log() string { return d.out.String() }

func (d *dashboard) request(path string, header ...string) (string, int) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if d.cookie != "" {
		request.Header.Set("Cookie", d.cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(body), response.StatusCode
}

func (d *dashboard) get(path string) string {
	d.t.Helper()
	body, status := d.request(path)
	if status != http.StatusOK {
		d.t.Fatalf("GET %s: got %d %s, want 200", path, status, body)
	}
	return body
}

func (d *dashboard) getJSON(path string, into any) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.get(path)), into); err != nil {
		d.t.Fatalf("GET %s: %v", path, err)
	}
}

type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func eventually(t *testing.T, condition string, check func() error) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("condition %q was not true within 30 s: %v", condition, err)
		case <-time.After(wait):
		}
	}
}

type apiClient struct {
	core    v1.CoreV1Interface
	dynamic dynamic.Interface
}

func newAPIClient(t *testing.T, kubeconfig string) *apiClient {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	core, err := v1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &apiClient{core: core, dynamic: dyn}
}

func apiServerHost(t *testing.T, kubeconfig string) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return config.Host
}

func (a *apiClient) namespace(t *testing.T) string {
	t.Helper()
	created, err := a.core.Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := a.core.Namespaces().Delete(ctx, created.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return created.Name
}

func (a *apiClient) count(t *testing.T, ref string) int {
	t.Helper()
	parts := strings.Split(ref, "/")
	gvr := schema.GroupVersionResource{Group: strings.TrimPrefix(parts[0], "core"), Version: parts[1], Resource: parts[2]}
	list, err := a.dynamic.Resource(gvr).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("list %s: %v", ref, err)
	}
	return len(list.Items)
}

func (a *apiClient) apply(t *testing.T, ns, name, value string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"v": value}}
	_, err := a.core.ConfigMaps(ns).Update(t.Context(), cm, metav1.UpdateOptions{})
	if err != nil {
		_, err = a.core.ConfigMaps(ns).Create(t.Context(), cm, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (a *apiClient) rows(t *testing.T, ns string) map[string]string {
	t.Helper()
	list, err := a.core.ConfigMaps(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for i := range list.Items {
		rows[list.Items[i].Name] = string(list.Items[i].UID) + " " + list.Items[i].ResourceVersion
	}
	return rows
}

func containsEach(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}
