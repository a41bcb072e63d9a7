//go:build integration

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Users need the permission to get pods/log.
// Invariant: I28.
func TestPodLogsMatchTheAPIServer(t *testing.T) {
	d := startReady(t, adminConfig(t))
	c := newAPIClient(t, adminConfig(t))
	pods, err := c.core.Pods("shop").List(t.Context(), metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/name=storefront",
	})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("no pods in the namespace: error %v", err)
	}
	pod := &pods.Items[0]
	path := fmt.Sprintf("/api/v1/logs/shop/%s?container=%s", pod.Name, pod.Spec.Containers[0].Name)

	want, err := c.core.Pods("shop").GetLogs(pod.Name,
		&corev1.PodLogOptions{Container: pod.Spec.Containers[0].Name, Timestamps: true}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := d.get(path + "&timestamps=true&tail=5000")
	withoutEscapes := regexp.MustCompile(`\x1b\[\d+m`).ReplaceAllString(string(want), "")
	if !strings.HasPrefix(got, withoutEscapes) || strings.Count(withoutEscapes, "\n") < 5 {
		t.Errorf("log without escapes: got %s\nwant %s", got, withoutEscapes)
	}
	if tail := d.get(path + "&tail=2"); strings.Count(tail, "\n") != 2 {
		t.Errorf("log with tail=2: got %q, want two lines", tail)
	}
	if previous := d.get(path + "&previous=true"); !strings.Contains(previous, "giving up") {
		t.Errorf("log of the previous instance: got %q, want it to contain \"giving up\"", previous)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+path+"&follow=true&tail=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewReader(response.Body)
	began := time.Now()
	for range 3 {
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "level=") {
			t.Fatalf("next line of the followed log: got %q, error %v", line, err)
		}
	}
	if took := time.Since(began); took < time.Second || took > 10*time.Second {
		t.Errorf("three new lines took %s, want 1 s to 10 s", took)
	}
	cancel()
	if _, err := io.ReadAll(lines); err == nil {
		t.Error("reading a log after cancellation: got io.EOF, want an error")
	}
	for query, wantText := range map[string]string{
		"?container=nope": "nope", "?container=..": "..", "?tail=9999": "5000",
	} {
		t.Run(query, func(t *testing.T) {
			if body, status := d.request("/api/v1/logs/shop/" + pod.Name + query); status < 400 || status >= 500 ||
				!strings.Contains(body, wantText) {
				t.Errorf("got %d %s, want a status of 4xx", status, body)
			}
		})
	}
	if body, status := d.request("/api/v1/logs/shop/none"); status != http.StatusNotFound {
		t.Errorf("pod that does not exist: got %d %s, want 404", status, body)
	}

	d.stop()
	dir := filepath.Dir(adminConfig(t))
	for config, want := range map[string]int{
		"kubeconfig-nobody": 403, "kubeconfig-limited": 200, "kubeconfig-viewer": 200,
	} {
		t.Run(config, func(t *testing.T) {
			d := startReady(t, filepath.Join(dir, config))
			if body, status := d.request(path + "&tail=1"); status != want ||
				want == 403 && !strings.Contains(body, "pods/log") {
				t.Errorf("got %d %s, want %d", status, body, want)
			}
			d.stop()
		})
	}
}
