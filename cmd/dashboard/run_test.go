package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

type console struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// clearEnvironment makes the test run without a kubeconfig and service account. It returns the new home directory.
func clearEnvironment(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBERNETES_SERVICE_PORT", "")
	return home
}

func unreachableKubeconfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	const text = `{"apiVersion":"v1","kind":"Config","current-context":"nowhere",
		"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}],
		"contexts":[{"name":"nowhere","context":{"cluster":"c","user":"u","namespace":"team-a"}}],` +
		`"users":[{"name":"u","user":{}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestUsageErrorsPrintOneLine(t *testing.T) {
	home := clearEnvironment(t)
	broken := filepath.Join(home, "broken")
	if err := os.WriteFile(broken, []byte("{clusters: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(home, "empty")
	if err := os.WriteFile(empty, []byte(`{"apiVersion":"v1","kind":"Config"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	usedPort, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = usedPort.Close() }()
	config := unreachableKubeconfig(t)
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"no kubeconfig", nil, 1, []string{
			"no cluster found", filepath.Join(home, "none") + " (does not exist)", "--kubeconfig", "--server",
		}},
		{"kubeconfig without a cluster", []string{"--kubeconfig", empty}, 1, []string{
			"no cluster found", empty + " (contains no cluster)",
		}},
		{"kubeconfig that does not exist", []string{"--kubeconfig", filepath.Join(home, "gone")}, 1, []string{"gone"}},
		{"invalid kubeconfig", []string{"--kubeconfig", broken}, 1, []string{"read the kubeconfig", broken}},
		{
			"context that does not exist",
			[]string{"--kubeconfig", config, "--context", "other"},
			1,
			[]string{"read the kubeconfig", `"other"`},
		},
		{"address without a port", []string{"--kubeconfig", config, "--listen", "127.0.0.1"}, 2, []string{
			`--listen "127.0.0.1" is not an address`, "host:port",
		}},
		{"empty address", []string{"--kubeconfig", config, "--listen", ""}, 2, []string{`--listen "" is not an address`}},
		{
			"all addresses by empty host",
			[]string{"--kubeconfig", config, "--listen", ":8080"},
			2,
			[]string{"without a login", "127.0.0.1"},
		},
		{
			"all IPv4 addresses",
			[]string{"--kubeconfig", config, "--listen", "0.0.0.0:0"},
			2,
			[]string{"without a login"},
		},
		{"all IPv6 addresses", []string{"--kubeconfig", config, "--listen", "[::]:0"}, 2, []string{"without a login"}},
		{
			"address that is not loopback",
			[]string{"--kubeconfig", config, "--listen", "192.0.2.1:80"},
			2,
			[]string{"kubectl port-forward"},
		},
		{
			"name that is not loopback",
			[]string{"--kubeconfig", config, "--listen", "localhost.evil.test:80"},
			2,
			[]string{"without a login"},
		},
		{
			"port out of range",
			[]string{"--kubeconfig", config, "--listen", "127.0.0.1:99999"},
			1,
			[]string{"listen on 127.0.0.1:99999", "--listen"},
		},
		{"port in use", []string{"--kubeconfig", config, "--listen", usedPort.Addr().String()}, 1, []string{
			"listen on " + usedPort.Addr().String(), "address already in use", "--listen",
		}},
		{"allowed host with a scheme", []string{"--kubeconfig", config, "--allowed-host", "https://x.org"}, 2, []string{
			`--allowed-host "https://x.org" is not a host`, "glasshouse.example.org",
		}},
		{"allowed origin without a scheme", []string{"--kubeconfig", config, "--allowed-origin", "x.org"}, 2, []string{
			`--allowed-origin "x.org" is not an origin`, "https://glasshouse.example.org",
		}},
		{"base path with a trailing slash", []string{"--kubeconfig", config, "--base-path", "/x/"}, 2, []string{
			`--base-path "/x/" is not valid`, "/glasshouse",
		}},
		{
			"forwarders that include all addresses",
			[]string{"--kubeconfig", config, "--forwarded-by", "10.0.0.0/8,0.0.0.0/0"},
			2,
			[]string{`--forwarded-by "0.0.0.0/0" contains all addresses`},
		},
		{"forwarder that is not a range", []string{"--kubeconfig", config, "--forwarded-by", "10.0.0.1"}, 2, []string{
			`--forwarded-by "10.0.0.1" is not an address range`, "192.0.2.7/32",
		}},
		{
			"placeholder for the addresses of the Ingress",
			[]string{"--kubeconfig", config, "--forwarded-by", "INGRESS_ADDRESSES"},
			2,
			[]string{
				`--forwarded-by "INGRESS_ADDRESSES" is not an address range`, "192.0.2.7/32",
			},
		},
		{"certificate without a key", []string{"--kubeconfig", config, "--tls-cert", broken}, 2, []string{
			"--tls-cert and --tls-key require each other",
		}},
		{"key without a certificate", []string{"--kubeconfig", config, "--tls-key", broken}, 2, []string{
			"--tls-cert and --tls-key require each other",
		}},
		{
			"invalid certificate",
			[]string{"--kubeconfig", config, "--tls-cert", broken, "--tls-key", broken},
			1,
			[]string{"read the TLS certificate " + broken},
		},
		{"negative number of rows", []string{"--kubeconfig", config, "--page-rows", "-1"}, 2, []string{
			"--page-rows is -1; it must be 0 or more",
		}},
		{
			"metrics without an address",
			[]string{"--kubeconfig", config, "--listen", "127.0.0.1:0", "--metrics-listen", "on"},
			2,
			[]string{`--metrics-listen "on" is not an address`},
		},
		{
			"metrics on a port in use",
			[]string{"--kubeconfig", config, "--listen", "127.0.0.1:0", "--metrics-listen", usedPort.Addr().String()},
			1,
			[]string{"address already in use", "--metrics-listen"},
		},
		{"unknown flag", []string{"--lisen", "127.0.0.1:0"}, 2, []string{
			"unknown flag: --lisen", "see dashboard --help",
		}},
		{"unexpected argument", []string{"serve"}, 2, []string{`unexpected argument "serve"`}},
		{"unknown log level", []string{"--log-level", "loud"}, 2, []string{
			`--log-level is "loud"`, "debug, info, warn or error",
		}},
		{
			"log level that would log requests and responses",
			[]string{"--log-level", "debug-4"},
			2,
			[]string{`--log-level is "debug-4"`},
		},
		{"unknown log format", []string{"--log-format", "xml"}, 2, []string{`--log-format is "xml"`, "text or json"}},
		{"invalid timeout", []string{"--request-timeout", "soon"}, 2, []string{`--request-timeout is "soon"`, "10s or 2m"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var stdout, stderr console
			if code := run(ctx, test.args, &stdout, &stderr); code != test.code {
				t.Errorf("run: exit code %d, want %d", code, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr is %q, want it to contain %q", stderr.String(), want)
				}
			}
			if lines := strings.Count(stderr.String(), "\n"); lines != 1 ||
				!strings.HasPrefix(stderr.String(), "dashboard: ") || stdout.String() != "" {
				t.Errorf("stdout is %q, stderr is %q; want one line on stderr", stdout.String(), stderr.String())
			}
		})
	}
}

func TestVersionAndHelpGoToStdout(t *testing.T) {
	clearEnvironment(t)
	for _, test := range []struct{ flag, want string }{
		{"--version", `^dashboard \S+\n$`},
		{"--help", `(?s)^dashboard serves a page .*--kubeconfig string .*--listen string`},
	} {
		t.Run(test.flag, func(t *testing.T) {
			var stdout, stderr console
			code := run(t.Context(), []string{test.flag}, &stdout, &stderr)
			if !regexp.MustCompile(test.want).MatchString(stdout.String()) || code != 0 || stderr.String() != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and stdout %s", code, stdout.String(), stderr.String(),
					test.want)
			}
		})
	}
}

// The program starts even if its API server does not respond. It exits with code 0 when canceled.
func TestStartsAndStopsWithoutAPIServer(t *testing.T) {
	clearEnvironment(t)
	for _, test := range []struct{ format, metrics, want string }{
		{"text", "", `msg=serving url=http://127\.0\.0\.1:\d+/ cluster=nowhere server=http://127\.0\.0\.1:1\n`},
		{
			"json", "127.0.0.1:0",
			`"msg":"serving","url":"http://127\.0\.0\.1:\d+/","cluster":"nowhere","server":"http://127\.0\.0\.1:1",` +
				`"metrics":"(http://127\.0\.0\.1:\d+/metrics)"}`,
		},
	} {
		t.Run(test.format, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var stdout, stderr console
			ended := make(chan int, 1)
			go func() {
				ended <- run(ctx,
					[]string{
						"--kubeconfig", unreachableKubeconfig(t), "--listen", "127.0.0.1:0", "--metrics-listen", test.metrics,
						"--log-format", test.format,
					}, &stdout, &stderr)
			}()
			log := regexp.MustCompile(test.want)
			deadline := time.After(20 * time.Second)
			tick := time.NewTicker(5 * time.Millisecond)
			for !log.MatchString(stderr.String()) {
				select {
				case <-tick.C:
				case code := <-ended:
					t.Fatalf("the program ended with exit code %d: %s", code, stderr.String())
				case <-deadline:
					t.Fatalf("stderr is %q, want a match of %s", stderr.String(), test.want)
				}
			}
			tick.Stop()
			if test.metrics != "" {
				wantMetrics(t, log.FindStringSubmatch(stderr.String())[1])
			}
			cancel()
			select {
			case code := <-ended:
				if code != 0 || !strings.Contains(stderr.String(), "stopped") {
					t.Errorf("exit code %d, stderr %s; want 0 and \"stopped\"", code, stderr.String())
				}
			case <-time.After(20 * time.Second):
				t.Fatal(fmt.Sprint("the program did not stop in time: ", stderr.String()))
			}
		})
	}
}

func wantMetrics(t *testing.T, address string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{
		Timeout:   20 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true},
	}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK ||
		!strings.Contains(string(body), "\nglasshouse_sockets 0\n") {
		t.Errorf("GET /metrics: got %d %s, error %v", response.StatusCode, body, err)
	}
}
