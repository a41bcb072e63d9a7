//go:build integration

package oidc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

type program struct {
	t   *testing.T
	url string
	log *bytes.Buffer
}

func run(t *testing.T, provider *dex, args ...string) *program {
	t.Helper()
	path, kubeconfig := os.Getenv("DASHBOARD"), os.Getenv("KUBECONFIG")
	if path == "" || kubeconfig == "" {
		t.Fatal("DASHBOARD and KUBECONFIG must be the paths of the program and of the kubeconfig; make test sets them")
	}
	folder := t.TempDir()
	write := func(name string, text []byte) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	args = append([]string{
		"--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", "--log-level", "debug", "--auth", "oidc",
		"--oidc-issuer", provider.URL, "--oidc-client-id", client, "--oidc-client-secret-file",
		write("secret", []byte(secret+"\n")),
		"--oidc-ca",
		write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: provider.Certificate().Raw})),
		"--oidc-username-claim", "email",
	}, args...)
	cmd := exec.Command(path, args...) //nolint:gosec // This is the program under test.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p := &program{t: t, log: &bytes.Buffer{}}
	cmd.Stderr = p.log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, errLine := bufio.NewReader(stdout).ReadString('\n')
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // Fails if the process has already ended.
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program ended with error %v", err)
		}
		for _, sensitive := range []string{secret, password, "eyJ"} { // every JWT starts with eyJ
			if strings.Contains(p.log.String(), sensitive) {
				t.Errorf("the log contains %q", sensitive)
			}
		}
		if t.Failed() {
			t.Logf("the program's log:\n%s", p.log)
		}
	})
	match := regexp.MustCompile(` at (http://\S+)/\n`).FindStringSubmatch(line)
	if errLine != nil || match == nil {
		t.Fatalf("the program printed %q, error %v", line, errLine)
	}
	p.url = match[1]
	provider.registerClients(t, p.url+"/login/callback")
	eventually(t, "the API server is reachable", func() error {
		if code, text := (&browser{t: t, client: &http.Client{}}).get(p.url + "/readyz"); code != http.StatusOK {
			return fmt.Errorf("GET /readyz: got %d %s, want 200", code, text)
		}
		return nil
	})
	return p
}

type browser struct {
	t      *testing.T
	client *http.Client
	page   *url.URL
}

func newBrowser(t *testing.T, provider *dex) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{
		t: t, client: &http.Client{Jar: jar, Transport: provider.Client().Transport, Timeout: 30 * time.Second},
	}
}

func (b *browser) do(method, address string, form url.Values) (int, string, http.Header) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	} else {
		request.Body = nil
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	b.page = response.Request.URL
	return response.StatusCode, string(text), response.Header
}

func (b *browser) get(address string) (int, string) {
	b.t.Helper()
	code, text, _ := b.do(http.MethodGet, address, nil)
	return code, text
}

func (b *browser) followRefresh(header http.Header) (int, string, http.Header) {
	b.t.Helper()
	_, to, found := strings.Cut(header.Get("Refresh"), "url=")
	if !found {
		b.t.Fatalf("page %s has no redirect", b.page.Redacted())
	}
	next, err := b.page.Parse(to)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(http.MethodGet, next.String(), nil)
}

func (b *browser) logIn(p *program, path, password string) (int, string) {
	b.t.Helper()
	if code, text := b.get(p.url + path); code != http.StatusUnauthorized || !strings.Contains(text, `name="to"`) {
		b.t.Fatalf("page without a login: got %d %s, want 401 and a form", code, text)
	}
	code, text, header := b.do(http.MethodPost, p.url+"/login", url.Values{"to": {path}})
	if code != http.StatusOK {
		b.t.Fatalf("start of the login: got %d %s, want 200", code, text)
	}
	code, text, _ = b.followRefresh(header)
	action := regexp.MustCompile(`<form method="post" action="([^"]+)"`).FindStringSubmatch(text)
	if code != http.StatusOK || action == nil {
		b.t.Fatalf("page of the provider at %s: got %d %s", b.page.Path, code, text)
	}
	to, err := b.page.Parse(html.UnescapeString(action[1]))
	if err != nil {
		b.t.Fatal(err)
	}
	code, text, header = b.do(http.MethodPost, to.String(), url.Values{"login": {email}, "password": {password}})
	if code != http.StatusOK || b.page.Path != "/login/callback" {
		return code, text
	}
	code, text, _ = b.followRefresh(header)
	return code, text
}

func eventually(t *testing.T, description string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("condition %q was not true within a minute: %v", description, err)
		case <-tick.C:
		}
	}
}
