//go:build integration

package deploy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/glasshouse-project/glasshouse/test/deploy/variant"
)

type program struct {
	t   *testing.T
	url string
}

func run(t *testing.T, kubeconfig string, args ...string) *program {
	t.Helper()
	path := os.Getenv("DASHBOARD")
	if path == "" {
		t.Fatal("DASHBOARD must be the path of the program; make test sets it")
	}
	args = append([]string{"--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0"}, args...)
	cmd := exec.Command(path, args...) //nolint:gosec // This is the program under test.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log bytes.Buffer
	cmd.Stderr = &log // needs no lock: the test reads it only after the process has ended
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
		if t.Failed() {
			t.Logf("the program's log:\n%s", log.String())
		}
	})
	match := regexp.MustCompile(` at (http://\S+)/\n`).FindStringSubmatch(line)
	if errLine != nil || match == nil {
		t.Fatalf("the program printed %q, error %v", line, errLine)
	}
	p := &program{t, match[1]}
	eventually(t, "the API server is reachable", func() error {
		if text, status := p.request("/readyz"); status != http.StatusOK {
			return fmt.Errorf("GET /readyz: got %d %s, want 200", status, text)
		}
		return nil
	})
	return p
}

// token requests a token of the dashboard's service account. If the object that the parameter bound names is deleted,
// the token becomes invalid.
func (c *cluster) token(t *testing.T, bound *authenticationv1.BoundObjectReference) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: bound}}
	response, err := c.CoreV1().ServiceAccounts(variant.Namespace).CreateToken(
		t.Context(), "glasshouse", request, metav1.CreateOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return response.Status.Token
}

func kubeconfigOf(t *testing.T, server *httptest.Server, user *api.AuthInfo) string {
	t.Helper()
	config := api.NewConfig()
	config.Clusters["demo"] = &api.Cluster{
		Server:                   server.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
	config.AuthInfos["account"] = user
	config.Contexts["account"] = &api.Context{Cluster: "demo", AuthInfo: "account"}
	config.CurrentContext = "account"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *program) request(path string) (string, int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body), response.StatusCode
}

func (p *program) get(path string, target any) string {
	p.t.Helper()
	body, status := p.request(path)
	if status != http.StatusOK {
		p.t.Fatalf("GET %s: got %d %s, want 200", path, status, body)
	}
	if target != nil {
		if err := json.Unmarshal([]byte(body), target); err != nil {
			p.t.Fatalf("GET %s: %v", path, err)
		}
	}
	return body
}

func (p *program) waitForContent(path string, parts ...string) {
	p.t.Helper()
	eventually(p.t, path, func() error {
		body, status := p.request(path)
		for _, part := range parts {
			if !strings.Contains(body, part) {
				return fmt.Errorf("got %d %.300s, want %s", status, body, part)
			}
		}
		return nil
	})
}

type requests struct {
	mu   sync.Mutex
	seen []request
}

type request struct {
	method, path string
	status       int
}

func (r *requests) add(sent request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, sent)
}

func (r *requests) all() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}
