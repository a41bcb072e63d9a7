package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

func runUntilLogged(t *testing.T, wants []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, stderr console
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, append([]string{"--listen", "127.0.0.1:0"}, args...), &stdout, &stderr) }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); ; <-tick.C {
		missing := ""
		for _, word := range wants {
			if !strings.Contains(stderr.String(), word) {
				missing = word
			}
		}
		if missing == "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log does not contain %q: %s", missing, stderr.String())
		}
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d, want 0: %s", code, stderr.String())
	}
	return stderr.String()
}

func writeKubeconfigFor(t *testing.T, server string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"x",`+
		`"clusters":[{"name":"c","cluster":{"server":%q}}],
		"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}]}`, server)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Invariant: I26.
func TestLogLinesHaveNoControlCharacters(t *testing.T) {
	clearEnvironment(t)
	const message = "odd \x1b[31mred\x1b]0;title\a\r\nlevel=ERROR " +
		"msg=forged\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\u0085\u009b31m\u2028"
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status, _ := json.Marshal(map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": "Forbidden",
			"code": 403,
		})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write(status)
	}))
	defer api.Close()
	for format, prefix := range map[string]string{"text": "time=", "json": `{"time":`} {
		t.Run(format, func(t *testing.T) {
			log := runUntilLogged(
				t,
				[]string{"odd ", "forged"},
				"--kubeconfig",
				writeKubeconfigFor(t, api.URL),
				"--log-format",
				format,
				"--watch",
				"core/v1/pods",
			)
			for line := range strings.SplitSeq(strings.TrimSuffix(log, "\n"), "\n") {
				if !strings.HasPrefix(line, prefix) || strings.ContainsFunc(line, func(r rune) bool {
					return unicode.IsControl(r) || r == '\u2028'
				}) {
					t.Errorf("line %q contains control characters or has another prefix", line)
				}
			}
		})
	}
}

// Invariant: I24.
func TestUnverifiedCertificatesAreWarnedAbout(t *testing.T) {
	clearEnvironment(t)
	requests := 0
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		http.Error(w, "not now", http.StatusServiceUnavailable)
	}))
	api.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	api.StartTLS()
	defer api.Close()
	const warning = "the certificate of the API server is not verified"
	config := writeKubeconfigFor(t, api.URL)
	if log := runUntilLogged(t, []string{"x509"}, "--kubeconfig", config); strings.Contains(log, warning) || requests > 0 {
		t.Errorf("got %d requests and log %s, want none", requests, log)
	}
	runUntilLogged(
		t, []string{warning, "unable to handle the request"}, "--kubeconfig", config, "--insecure-skip-tls-verify",
	)
}

// The program lowers client-go's log records about interrupted requests from the level error to debug or warning.
func TestInterruptedRequestsAreNotErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"canceled", fmt.Errorf("read a body: %w", context.Canceled), ""},
		{"time limit", fmt.Errorf("read a body: %w", context.DeadlineExceeded), "level=WARN"},
		{"another error", io.ErrUnexpectedEOF, "level=ERROR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			log := slog.New(clientLog{slog.NewTextHandler(&out, nil)}).With("a", 1).WithGroup("request")
			log.Error("Unexpected error when reading response body", "err", test.err)
			if got := out.String(); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("log for the error: got %q, want %q", got, test.want)
			}
		})
	}
}
