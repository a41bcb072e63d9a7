package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

func writeSecretFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Without a login, the program listens only on loopback addresses. No configuration accepts every client as a
// logged-in user.
// Invariant: I29.
func TestAuthFlagsAreValidated(t *testing.T) {
	clearEnvironment(t)
	config := unreachableKubeconfig(t)
	validSecretFile := writeSecretFile(t, "0123456789abcdef0123\n")
	for _, test := range []struct {
		name string
		args []string
		want []string
	}{
		{"all IPv4 addresses without --auth", []string{"--listen", "0.0.0.0:0"}, []string{"without a login", "--auth"}},
		{
			"all IPv4 addresses with --auth none",
			[]string{"--listen", "0.0.0.0:0", "--auth", "none"},
			[]string{"without a login", "--auth"},
		},
		{"all IPv6 addresses with --auth none", []string{"--listen", "[::]:0", "--auth=none"}, []string{"--auth"}},
		{"unknown --auth mode", []string{"--auth", "basic"}, []string{
			`--auth is "basic"`, "none, token, oidc, proxy, shared-identity",
		}},
		{"empty --auth", []string{"--auth", ""}, []string{`--auth is ""`}},
		{"audience without --auth token", []string{"--auth-audience", "x"}, []string{
			"--auth-audience requires --auth token; --auth is none",
		}},
		{
			"empty audience",
			[]string{"--auth", "token", "--auth-audience", "a,"},
			[]string{"--auth-audience", "empty"},
		},
		{"oidc without issuer and client ID", []string{"--auth", "oidc"}, []string{"--oidc-issuer", "--oidc-client-id"}},
		{
			"issuer without TLS",
			[]string{"--auth", "oidc", "--oidc-issuer", "http://id.example", "--oidc-client-id", "x"},
			[]string{"--auth oidc", "not an https URL"},
		},
		{"issuer without --auth oidc", []string{"--auth", "token", "--oidc-issuer", "https://id.example"}, []string{
			"--oidc-issuer requires --auth oidc; --auth is token",
		}},
		{
			"--oidc-ca without a PEM certificate",
			[]string{
				"--auth", "oidc", "--oidc-issuer", "https://id.example", "--oidc-client-id", "x", "--oidc-ca",
				validSecretFile,
			},
			[]string{"contains no PEM certificate"},
		},
		{"proxy without peers or a secret", []string{"--auth", "proxy"}, []string{
			"--proxy-peers", "--proxy-secret-file", "X-Forwarded-User",
		}},
		{
			"peers without --auth proxy",
			[]string{"--auth", "token", "--proxy-peers", "10.0.0.0/8"},
			[]string{"--proxy-peers requires --auth proxy"},
		},
		{"secret without --auth proxy", []string{"--proxy-secret-file", validSecretFile}, []string{
			"--proxy-secret-file requires --auth proxy; --auth is none",
		}},
		{
			"peers that contain all IPv4 addresses",
			[]string{"--auth", "proxy", "--proxy-peers", "0.0.0.0/0"},
			[]string{"contains all addresses"},
		},
		{
			"peers that contain all IPv6 addresses",
			[]string{"--auth", "proxy", "--proxy-peers", "10.0.0.0/8,::/0"},
			[]string{"contains all addresses"},
		},
		{"IPv4 loopback peer without a secret", []string{"--auth", "proxy", "--proxy-peers", "127.0.0.1/32"}, []string{
			`--proxy-peers "127.0.0.1/32"`, "port-forward", "--proxy-secret-file",
		}},
		{
			"IPv6 loopback peer without a secret",
			[]string{"--auth", "proxy", "--proxy-peers", "10.0.0.0/8,::1/128"},
			[]string{
				`--proxy-peers "::1/128"`, "port-forward",
			},
		},
		{"peer range that contains loopback", []string{"--auth", "proxy", "--proxy-peers", "64.0.0.0/2"}, []string{
			`--proxy-peers "64.0.0.0/2"`, "port-forward",
		}},
		{"peer address without a prefix length", []string{"--auth", "proxy", "--proxy-peers", "10.0.0.1"}, []string{
			`--proxy-peers "10.0.0.1"`, "192.0.2.7/32",
		}},
		{
			"short secret",
			[]string{"--auth", "proxy", "--proxy-secret-file", writeSecretFile(t, "short\n")},
			[]string{"--auth proxy", "5 bytes", "16"},
		},
		{
			"empty secret",
			[]string{"--auth", "proxy", "--proxy-secret-file", writeSecretFile(t, "\n")},
			[]string{"is empty"},
		},
		{
			"secret with two lines",
			[]string{"--auth", "proxy", "--proxy-secret-file", writeSecretFile(t, "0123456789abcdef\n0123456789abcdef\n")},
			[]string{"one word"},
		},
		{
			"invalid name of a header",
			[]string{"--auth", "proxy", "--proxy-secret-file", validSecretFile, "--proxy-user-header", "X_User"},
			[]string{"not a valid header name"},
		},
		{
			"same header for user and groups",
			[]string{
				"--auth", "proxy", "--proxy-secret-file", validSecretFile, "--proxy-user-header", "X-A",
				"--proxy-groups-header", "x-a",
			},
			[]string{"must differ"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var stdout, stderr console
			if code := run(ctx, append([]string{"--kubeconfig", config}, test.args...), &stdout, &stderr); code != 2 {
				t.Errorf("run: exit code %d, want 2", code)
			}
			for _, want := range test.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr is %q, want it to contain %q", stderr.String(), want)
				}
			}
			if lines := strings.Count(stderr.String(), "\n"); lines != 1 ||
				strings.Contains(stderr.String(), "0123456789abcdef") {
				t.Errorf("stderr is %q, want one line without the secret", stderr.String())
			}
		})
	}
}

// The log contains no credentials at any level: neither the program's token nor tokens or cookies of users.
// Invariant: I29.
func TestCredentialsAreNotLogged(t *testing.T) {
	clearEnvironment(t)
	const programToken, validToken, invalidToken = "own-3b1c77ee.token", "good-5f20ad19.token", "bad-aa7310fc.token"
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if !strings.HasSuffix(r.URL.Path, "/tokenreviews") || json.NewDecoder(r.Body).Decode(&review) != nil {
			http.Error(w, "not now", http.StatusInternalServerError)
			return
		}
		spec, _ := review["spec"].(map[string]any)
		review["status"] = map[string]any{
			"authenticated": spec["token"] == validToken, "user": map[string]any{"username": "anna"}, "error": spec["token"],
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	defer api.Close()
	config := filepath.Join(t.TempDir(), "config")
	text := strings.NewReplacer("SERVER", api.URL, "TOKEN", programToken).Replace(
		`{"apiVersion":"v1","kind":"Config","current-context":"x",` +
			`"clusters":[{"name":"c","cluster":{"server":"SERVER"}}],
		"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],` +
			`"users":[{"name":"u","user":{"token":"TOKEN"}}]}`,
	)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr console
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx,
			[]string{"--kubeconfig", config, "--listen", "127.0.0.1:0", "--auth", "token", "--log-level", "debug"},
			&stdout, &stderr)
	}()
	address := ""
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); address == ""; <-tick.C {
		if match := regexp.MustCompile(`msg=serving url=(\S+)/ `).FindStringSubmatch(stderr.String()); match != nil {
			address = match[1]
		}
		if time.Now().After(deadline) {
			t.Fatalf("the program did not start to serve in time: %s", stderr.String())
		}
	}
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	send := func(method, path, form string, headers map[string]string) *http.Response {
		request, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		for _, secret := range []string{programToken, validToken, invalidToken} {
			if err != nil || strings.Contains(string(body), secret) {
				t.Errorf("%s %s: got response %s, error %v; want no token or secret in the response", method, path, body, err)
			}
		}
		return response
	}
	login := send(http.MethodPost, "/login", url.Values{"token": {validToken}}.Encode(), nil)
	cookies := login.Cookies()
	if login.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("POST /login: got status %d, cookies %v; want 303 and one cookie", login.StatusCode, cookies)
	}
	for _, headers := range []map[string]string{
		{"Authorization": "Bearer " + validToken},
		{"Authorization": "Bearer " + invalidToken},
		{"Authorization": "Basic " + invalidToken},
		{"Cookie": cookies[0].String()},
		{"X-Glasshouse-Proxy-Secret": invalidToken},
	} {
		for _, path := range []string{
			"/", "/r/core/v1/pods", "/api/v1/resources", "/api/v1/live", "/api/v1/status", "/nothing", "/readyz",
		} {
			send(http.MethodGet, path, "", headers)
		}
	}
	send(http.MethodPost, "/login", url.Values{"token": {invalidToken}}.Encode(), nil)
	send(http.MethodPost, "/logout", "", map[string]string{"Cookie": cookies[0].String()})
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, secret := range []string{programToken, validToken, invalidToken, cookies[0].Value} {
		if strings.Contains(stderr.String()+stdout.String(), secret) {
			t.Errorf("the output contains the secret %q: %s", secret, stderr.String())
		}
	}
}

func TestLoopbackProxyIsTrustedBySecret(t *testing.T) {
	s := authSettings{
		mode: auth.Proxy, proxyPeers: []string{"127.0.0.1/32", "::1/128"},
		proxySecret: writeSecretFile(t, "0123456789abcdef0123\n"),
	}
	if o, err := s.options(slog.New(slog.DiscardHandler)); err != nil || len(o.Proxy.Peers) != 2 ||
		len(o.Proxy.Secret) != 20 {
		t.Errorf("got options %+v, error %v; want two proxy peers and a secret of 20 bytes", o.Proxy, err)
	}
}
