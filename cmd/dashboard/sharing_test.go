package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

// The output contains no terminal control characters. The subcommand "create" prints only the link.
// Invariant: I30.
func TestShareCommandSendsRequests(t *testing.T) {
	clearEnvironment(t)
	var requests []string
	status, responseBody := http.StatusCreated, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests = append(requests,
			r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Origin")+string(body))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, responseBody)
	}))
	defer server.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runShare := func(args ...string) (code int, out, err string) {
		t.Helper()
		var stdout, stderr console
		requests = nil
		code = run(t.Context(),
			append([]string{"share"}, append(args, "--server", server.URL+"/base/", "--token-file", token)...), &stdout,
			&stderr)
		return code, stdout.String(), stderr.String()
	}

	responseBody = `{"id":"x","url":"http://h/share#t\u001b[2J","persistent":true}`
	code, out, _ := runShare(
		"create",
		"--resource",
		"core/v1/pods,core/v1/pods/log",
		"--namespace",
		"a",
		"--namespace",
		"b",
		"--labels",
		"app=web",
		"--for",
		"90m",
		"--note",
		"n",
	)
	const part = `"namespaces":["a","b"],"labels":"app=web"}`
	want := `POST /base/api/v1/shares Bearer abc {"parts":[{"resource":"core/v1/pods",` + part +
		`,{"resource":"core/v1/pods/log",` + part +
		`],"to":"/r/core/v1/pods?labels=app%3Dweb\u0026ns=a\u0026ns=b","seconds":5400,"note":"n"}`
	if code != 0 || out != "http://h/share#t\ufffd[2J\n" || len(requests) != 1 || requests[0] != want {
		t.Errorf("share create: exit code %d, stdout %q, requests %q; want request %q", code, out, requests, want)
	}
	responseBody = `{"url":"http://h/share#t","persistent":false}`
	for to, args := range map[string][]string{
		"/o/core/v1/pods/a/web%201": {"--resource", "core/v1/pods", "--namespace", "a", "--name", "web 1"},
		"/o/core/v1/nodes/_/n":      {"--resource", "core/v1/nodes", "--name", "n"},
		"/r/apps/v1/deployments":    {"--resource", "apps/v1/deployments"}, "/r/core/v1/events?ns=a": {
			"--resource", "core/v1/events,core/v1/pods", "--namespace", "a", "--name", "p", "--about", "pod.core/p",
		},
	} {
		t.Run(to, func(t *testing.T) {
			code, out, stderrText := runShare(append([]string{"create"}, args...)...)
			if code != 0 || out != "http://h/share#t\n" || !strings.Contains(stderrText, "--data-dir") ||
				!strings.Contains(requests[0], `"to":"`+to+`","seconds":86400`) {
				t.Errorf("share %q: exit code %d, stdout %q, stderr %q, requests %q", args, code, out, stderrText, requests)
			}
		})
	}

	_, _, _ = runShare("create", "--resource", "apps/v1/deployments,core/v1/events", "--namespace", "a", "--labels",
		"app=web", "--name", "web", "--about", "deployment.apps/web")
	want = `"parts":[{"resource":"apps/v1/deployments","namespaces":["a"],"labels":"app=web","name":"web"},` +
		`{"resource":"core/v1/events","namespaces":["a"],"about":"deployment.apps/web"}],"to":"/o/apps/v1/` +
		`deployments/a/web"`
	if len(requests) != 1 || !strings.Contains(requests[0], want) {
		t.Errorf("share create: got requests %q, want %s in it", requests, want)
	}

	used := time.Now().Add(-3 * time.Minute)
	listed, err := json.Marshal(share.Documents{Shares: []share.Document{
		{
			ID: "id1", To: "/r/core/v1/pods", Expires: time.Now().Add(2*time.Hour + 30*time.Second),
			Note: "a\x1b[2J\nb", Creator: "anna", Viewers: 3, LastUsed: &used,
		}, {ID: "id2", Expires: time.Now().Add(time.Hour)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	status, responseBody = http.StatusOK, string(listed)
	code, out, _ = runShare("list")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 3 ||
		strings.Join(strings.Fields(lines[1]), " ") != "id1 120m 3 3m ago anna /r/core/v1/pods a\ufffd[2J\ufffdb" ||
		!strings.HasPrefix(requests[0], "GET /base/api/v1/shares Bearer abc") {
		t.Errorf("share list: exit code %d, stdout %q", code, out)
	}
	status, responseBody = http.StatusNoContent, ""
	if code, out, _ = runShare("revoke", "id/1"); code != 0 || out != "" ||
		!strings.HasPrefix(requests[0], "DELETE /base/api/v1/shares/id/1 Bearer abc") {
		t.Errorf("share revoke: exit code %d, stdout %q, requests %q", code, out, requests)
	}

	notDashboard := func(status int) string {
		return fmt.Sprintf("dashboard: the response of %s/base/ (status %d) is not from a Glasshouse dashboard; check "+
			"--server\n", server.URL, status)
	}
	for _, test := range []struct {
		status                 int
		responseBody, wantText string
	}{
		{403, `{"title":"Forbidden","detail":"You cannot\u001b[2J."}`, "dashboard: Forbidden: You cannot\ufffd[2J.\n"},
		{404, "<html>", notDashboard(404)},
		{303, "", notDashboard(303)},
		{200, "<html>", "is not from a Glasshouse dashboard"},
	} {
		t.Run(strconv.Itoa(test.status), func(t *testing.T) {
			status, responseBody = test.status, test.responseBody
			if code, out, stderrText := runShare("list"); code != 1 || out != "" ||
				!strings.Contains(stderrText, test.wantText) ||
				len(requests) != 1 {
				t.Errorf("response %d %s: exit code %d, stdout %q, stderr %q, requests %q; want exit code 1 and one "+
					"request", test.status, test.responseBody, code, out, stderrText, requests)
			}
		})
	}
}

// Usage errors are reported before any request is sent.
// Invariant: I30.
func TestShareUsageErrorsSendNoRequest(t *testing.T) {
	home := clearEnvironment(t)
	empty := filepath.Join(home, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"share create, share list or share revoke": {"share"}, "--resource core/v1/pods": {"share", "create"},
		"logs can only be shared together with pods": {
			"share", "create", "--resource", "core/v1/pods/log", "--namespace",
			"a",
		}, "--about applies only to events": {
			"share", "create", "--resource", "core/v1/pods", "--about",
			"pod.core/p",
		}, "share revoke needs 1 argument, the ID of a link; got": {"share", "revoke"},
		"share list takes no arguments; got": {"share", "list", "x"},
		`--server is "localhost:8080"; it must be an http or https URL`: {
			"share", "list", "--server", "localhost:8080",
		},
		"unencrypted": {
			"share", "list", "--server", "http://192.0.2.7", "--token-file", empty,
		},
		`--server is "http://u@h"`:             {"share", "list", "--server", "http://u@h"},
		empty + " is empty":                    {"share", "list", "--token-file", empty},
		"unknown flag: --kubeconfig":           {"share", "list", "--kubeconfig", "x"},
		"--share-admins requires --auth token": {"--kubeconfig", unreachableKubeconfig(t), "--share-admins", "ops"},
		"an empty group": {
			"--kubeconfig", unreachableKubeconfig(t), "--auth", "token", "--share-admins", "a,,b",
		},
	} {
		t.Run(strings.TrimPrefix(want, home), func(t *testing.T) {
			var stdout, stderr console
			if code := run(t.Context(), args, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), want) ||
				strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("%q: exit code %d, stderr %q; want 2 and %q", args, code, stderr.String(), want)
			}
		})
	}
	file := filepath.Join(home, "shares.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr console
	if code := run(t.Context(), []string{"--kubeconfig", unreachableKubeconfig(t), "--data-dir", home}, &stdout,
		&stderr); code != 1 || !strings.Contains(stderr.String(), file) {
		t.Errorf("run with an invalid shares.json: exit code %d, stderr %q; want 1 and the name of the "+
			"file", code, stderr.String())
	}
}

// A lifetime that the server would refuse is reported before any request is sent.
// Invariant: I30.
func TestShareChecksTheLifetime(t *testing.T) {
	clearEnvironment(t)
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"url":"http://h/share#t","persistent":true}`)
	}))
	defer server.Close()
	for lifetime, want := range map[string]string{
		"20s": "got 20s", "0s": "got 0s", "-1h": "got -1h0m0s", "720h1s": "got 720h0m1s", "59.9s": "got 59.9s",
		"1m": "", "24h": "", "720h": "",
	} {
		t.Run(lifetime, func(t *testing.T) {
			var stdout, stderr console
			requests = 0
			code := run(t.Context(), []string{
				"share", "create", "--server", server.URL, "--resource", "core/v1/pods", "--for", lifetime,
			}, &stdout, &stderr)
			if want != "" {
				want = "dashboard: --for must be between 1m and 720h, " + want
			}
			if isRefused := want != ""; isRefused != (code == 2) || isRefused == (requests == 1) ||
				!strings.Contains(stderr.String(), want) {
				t.Errorf("got exit code %d, %d requests, stderr %q; want the error %q", code, requests, stderr.String(), want)
			}
		})
	}
}

// A token is sent only over TLS or to a loopback address.
// Invariant: I30.
func TestShareSendsTheTokenOnlyOverTLS(t *testing.T) {
	home := clearEnvironment(t)
	token := filepath.Join(home, "token")
	if err := os.WriteFile(token, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for server, refused := range map[string]bool{
		"http://glasshouse.example.com": true, "http://192.0.2.7:8080/base": true, "http://[2001:db8::1]:8080": true,
		"http://localhost.example.com": true, "http://0.0.0.0:8080": true,
		"https://glasshouse.example.com": false, "http://localhost:8080": false, "http://127.0.0.1:8080/base": false,
		"http://[::1]:8080": false,
	} {
		t.Run(server, func(t *testing.T) {
			c, err := (&shareSettings{server: server, tokenFile: token}).client()
			if refused != (err != nil && strings.Contains(err.Error(), "unencrypted")) ||
				!refused && (err != nil || c.Token != "abc") {
				t.Errorf("with a token: got %+v, error %v, want refused: %t", c, err, refused)
			}
			if c, err := (&shareSettings{server: server}).client(); err != nil || c.Token != "" {
				t.Errorf("without a token: got %+v, error %v, want no error", c, err)
			}
		})
	}
}

func otherCertificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// --server-ca makes the command trust a private certificate authority. Without a certificate in the file, no request
// is sent.
// Invariant: I30.
func TestShareVerifiesTheServerCertificate(t *testing.T) {
	home := clearEnvironment(t)
	requests := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = io.WriteString(w, `{"shares":[]}`)
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	write := func(name, text string) string {
		file := filepath.Join(home, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ownCertFile, _, _ := writeCertificate(t)
	for name, test := range map[string]struct {
		server, file, want string
		code, requests     int
	}{
		"CA of the server": {server.URL, ownCertFile, "", 0, 1},
		"none":             {server.URL, "", "failed to verify certificate", 1, 0},
		"another":          {server.URL, write("other.pem", otherCertificate(t)), "failed to verify certificate", 1, 0},
		"CA file without a PEM block": {
			server.URL, write("broken.pem", "-----BEGIN CERTIFICATE-----\nx\n"),
			"broken.pem contains no PEM certificate", 2, 0,
		},
		"CA file that does not exist": {server.URL, filepath.Join(home, "missing.pem"), "missing.pem: no such file", 1, 0},
		"CA file without TLS":         {"http://127.0.0.1:1", ownCertFile, "--server-ca requires https", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr console
			requests = 0
			code := run(t.Context(), []string{"share", "list", "--server", test.server, "--server-ca", test.file}, &stdout,
				&stderr)
			stderrText := stderr.String()
			if code != test.code || requests != test.requests || !strings.Contains(stderrText, test.want) ||
				strings.Count(stderrText, "\n") != min(code, 1) {
				t.Errorf("share list: exit code %d, stderr %q, %d requests", code, stderrText, requests)
			}
		})
	}
}

// While another dashboard uses the data directory, the program waits. Then it loads the share links that the other
// dashboard has created.
// Invariant: I30.
func TestProgramWaitsForItsDirectory(t *testing.T) {
	kubeconfig, dir := writeKubeconfig(t, map[string]string{"one": newFakeAPIServer(t, "web-1").URL}), t.TempDir()
	address, end := startAndWait(t, "--kubeconfig", kubeconfig, "--data-dir", dir)
	var link, shareStderr console
	if code := run(t.Context(),
		[]string{"share", "create", "--server", address, "--resource", "core/v1/pods", "--note", "meanwhile"}, &link,
		&shareStderr); code != 0 {
		t.Errorf("share create: exit code %d, want 0: %s", code, shareStderr.String())
	}
	end()
	// Act as another dashboard that has locked the directory, but not yet written the file.
	file, moved := filepath.Join(dir, "shares.json"), filepath.Join(t.TempDir(), "shares.json")
	other, err := share.LockDir(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, moved); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr console
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", "--data-dir", dir}, &stdout,
			&stderr)
	}()
	waitForLog := func(pattern string) string {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(20 * time.Second); ; <-tick.C {
			if found := regexp.MustCompile(pattern).FindStringSubmatch(stderr.String()); found != nil {
				return found[len(found)-1]
			}
			if time.Now().After(deadline) {
				t.Fatalf("the log does not contain %q: %s", pattern, stderr.String())
			}
		}
	}
	waitForLog("another dashboard uses the --data-dir directory")
	if strings.Contains(stderr.String(), "msg=serving") {
		t.Error("the second program serves while the first one uses the directory")
	}
	if err := errors.Join(os.Rename(moved, file), other.Close()); err != nil {
		t.Fatal(err)
	}
	next := waitForLog(`msg=serving url=(\S+)/ `)
	var listed console
	if code := run(t.Context(), []string{"share", "list", "--server", next}, &listed, &shareStderr); code != 0 ||
		!strings.Contains(listed.String(), "meanwhile") {
		t.Errorf("share list: exit code %d, stdout %q, stderr %s; want the link of the first "+
			"program", code, listed.String(), shareStderr.String())
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d, want 0: %s", code, stderr.String())
	}
}
