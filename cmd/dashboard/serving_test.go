package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func writeCertificate(t *testing.T) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	private, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for name, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: server.Certificate().Raw}, key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust = x509.NewCertPool()
	trust.AddCert(server.Certificate())
	return cert, key, trust
}

// Health probes and metrics are served on a second address, which other machines can reach.
// Invariant: I26.
func TestServingFlagsReachTheServer(t *testing.T) {
	clearEnvironment(t)
	cert, key, trust := writeCertificate(t)
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr console
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{
			"--kubeconfig", unreachableKubeconfig(t), "--listen", "127.0.0.1:0", "--metrics-listen", "0.0.0.0:0",
			"--tls-cert", cert,
			"--tls-key", key, "--base-path", "/glasshouse",
			"--allowed-host", "glasshouse.example.org", "--allowed-origin", "https://proxy.example.org",
		}, &stdout, &stderr)
	}()
	log := regexp.MustCompile(`url=(https://127\.0\.0\.1:\d+/glasshouse/) .*metrics=http://\S+:(\d+)/metrics`)
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !log.MatchString(stderr.String()) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("stderr is %q, want the URLs of the page and the metrics", stderr.String())
		}
	}
	match := log.FindStringSubmatch(stderr.String())
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: trust}, //nolint:gosec // The default minimum is TLS 1.2.
		DisableKeepAlives: true,
	}}
	for _, test := range []struct {
		address, host, origin string
		status                int
	}{
		{match[1] + "healthz", "", "", 200},
		{match[1] + "healthz", "glasshouse.example.org", "https://glasshouse.example.org", 200},
		{match[1] + "healthz", "proxy.example.org", "", 200},
		{match[1] + "healthz", "", "https://proxy.example.org", 200},
		{match[1] + "healthz", "evil.test", "", 403},
		{match[1] + "healthz", "", "https://evil.test", 403},
		{match[1] + "../healthz", "", "", 404},
		{fmt.Sprintf("http://127.0.0.1:%s/healthz", match[2]), "10.0.0.5:9090", "", 200},
		{fmt.Sprintf("http://127.0.0.1:%s/debug/pprof/heap", match[2]), "", "", 404},
	} {
		t.Run(test.address, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.address, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = test.host
			if test.origin != "" {
				request.Header.Set("Origin", test.origin)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != test.status {
				t.Errorf("GET %s with Host %q and Origin %q: got %d %s, %v; want "+
					"%d", test.address, test.host, test.origin, response.StatusCode,
					body, err, test.status)
			}
		})
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d, want 0: %s", code, stderr.String())
	}
}

// In every --auth mode, a proxy in --forwarded-by sets the client address of a request, but never the user.
// Invariant: I26.
func TestForwardedBySetsAddressButNotUser(t *testing.T) {
	clearEnvironment(t)
	for _, test := range []struct{ mode, ranges, forwarded, want string }{
		{"token", "", "192.0.2.7", "127.0.0.1"},
		{"token", "10.0.0.0/8", "192.0.2.7", "127.0.0.1"},
		{"token", "10.0.0.0/8,127.0.0.0/8", "192.0.2.7", "192.0.2.7"},
		{"token", "127.0.0.0/8", "192.0.2.8, 192.0.2.7", "192.0.2.7"},
		{"shared-identity", "127.0.0.0/8", "192.0.2.7", "192.0.2.7"},
		{"none", "127.0.0.0/8", "192.0.2.7", "192.0.2.7"},
	} {
		t.Run(test.mode+" "+test.ranges, func(t *testing.T) {
			data := t.TempDir()
			address, end := startAndWait(t, "--auth", test.mode, "--forwarded-by", test.ranges, "--data-dir", data)
			send := func(method, path, body string) int {
				request, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("X-Forwarded-For", test.forwarded)
				request.Header.Set("X-Forwarded-User", "anna")
				response, err := (&http.Client{
					Timeout:   20 * time.Second,
					Transport: &http.Transport{DisableKeepAlives: true},
				}).Do(request)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				return response.StatusCode
			}
			if status := send(http.MethodPost, "/share", `{"token":"none"}`); status != http.StatusNotFound {
				t.Errorf("POST /share with an unknown token: got status %d, want 404", status)
			}
			if status := send(http.MethodGet, "/api/v1/status",
				""); (status == http.StatusUnauthorized) != (test.mode == "token") {
				t.Errorf("GET /api/v1/status with X-Forwarded-User: got status %d", status)
			}
			end()
			text, err := os.ReadFile(filepath.Join(data, "audit.jsonl"))
			if err != nil || !strings.Contains(string(text), `"event":"refuse","from":"`+test.want+`"`) {
				t.Errorf("audit log: got %s, error %v; want the address %s", text, err, test.want)
			}
		})
	}
}

func startAndWait(t *testing.T, args ...string) (address string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr console
	ended := make(chan int, 1)
	go func() {
		flags := append([]string{"--kubeconfig", unreachableKubeconfig(t), "--listen", "127.0.0.1:0"}, args...)
		ended <- run(ctx, flags, &stdout,
			&stderr)
	}()
	end = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d, want 0: %s", code, stderr.String())
		}
	})
	t.Cleanup(end)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); ; <-tick.C {
		if match := regexp.MustCompile(`msg=serving url=(\S+)/ `).FindStringSubmatch(stderr.String()); match != nil {
			return match[1], end
		}
		if time.Now().After(deadline) {
			t.Fatalf("the program did not start to serve in time: %s", stderr.String())
		}
	}
}

// A warning is logged for each range of trusted proxies that is larger than the pod network of one node.
func TestWideRangesAreWarnedAbout(t *testing.T) {
	clearEnvironment(t)
	const warning = "the range of trusted proxy addresses is wide"
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("one-secret-word-of-32-characters"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want []string // Texts in the log; nil for no warning.
	}{
		{[]string{"--forwarded-by", "10.244.0.0/16"}, []string{
			"flag=--forwarded-by", "range=10.244.0.0/16", "wider_than=/24", "claim any address",
		}},
		{[]string{"--forwarded-by", "192.0.2.7/32,10.0.0.0/23"}, []string{"range=10.0.0.0/23"}},
		{[]string{"--forwarded-by", "2001:db8::/63"}, []string{"range=2001:db8::/63", "wider_than=/64"}},
		{[]string{"--forwarded-by", "10.244.3.0/24,192.0.2.7/32,2001:db8::/64"}, nil},
		{nil, nil},
		{[]string{"--auth", "proxy", "--proxy-peers", "10.244.0.0/16"}, []string{
			"flag=--proxy-peers", "log in as any user",
		}},
		{[]string{"--auth", "proxy", "--proxy-peers", "10.244.0.0/16", "--proxy-secret-file", secret}, []string{
			"flag=--proxy-peers", "claim any address",
		}},
		{[]string{"--auth", "proxy", "--proxy-peers", "10.244.3.0/24"}, nil},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			log := runUntilLogged(t, append([]string{"msg=serving"}, test.want...),
				append([]string{"--kubeconfig", unreachableKubeconfig(t)}, test.args...)...)
			if n := strings.Count(log, warning); n != min(len(test.want), 1) {
				t.Errorf("args %v: got %d warnings in %s", test.args, n, log)
			}
		})
	}
}
