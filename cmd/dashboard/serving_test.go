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
	"testing"
	"time"
)

// written is a certificate for 127.0.0.1 with its key, as files, and who trusts it.
func written(t *testing.T) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	private, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	cert, key = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: server.Certificate().Raw}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust = x509.NewCertPool()
	trust.AddCert(server.Certificate())
	return cert, key, trust
}

// The flags reach the server: it serves over TLS, under its path, to the names
// that are allowed; and its probes answer on an address that is not loopback.
func TestServing(t *testing.T) {
	away(t)
	cert, key, trust := written(t)
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr console
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{
			"--kubeconfig", nowhere(t), "--listen", "127.0.0.1:0", "--metrics-listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--base-path", "/glasshouse",
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
			t.Fatalf("it says %q", stderr.String())
		}
	}
	found := log.FindStringSubmatch(stderr.String())
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, DisableKeepAlives: true}} //nolint:gosec // TLS 1.2 is the least by itself.
	for _, test := range []struct {
		address, host, origin string
		status                int
	}{
		{found[1] + "healthz", "", "", 200},
		{found[1] + "healthz", "glasshouse.example.org", "https://glasshouse.example.org", 200},
		{found[1] + "healthz", "proxy.example.org", "", 200},
		{found[1] + "healthz", "", "https://proxy.example.org", 200},
		{found[1] + "healthz", "evil.test", "", 403},
		{found[1] + "healthz", "", "https://evil.test", 403},
		{found[1] + "../healthz", "", "", 404},
		{fmt.Sprintf("http://127.0.0.1:%s/healthz", found[2]), "10.0.0.5:9090", "", 200},
		{fmt.Sprintf("http://127.0.0.1:%s/debug/pprof/heap", found[2]), "", "", 404},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = test.host
		if test.origin != "" {
			request.Header.Set("Origin", test.origin)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close() // It was read.
		if err != nil || answer.StatusCode != test.status {
			t.Errorf("%s of %q by %q: got %d %s, %v; want %d", test.address, test.host, test.origin, answer.StatusCode, body, err, test.status)
		}
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("it ends with %d: %s", code, stderr.String())
	}
}
