//go:build integration

// The tests in this file start the program against the demo cluster in KUBECONFIG, and change that cluster. They
// compare the outputs of the program and of the API server.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Invariant: I19. The program serves every resource that can be listed. For each resource, it has as many objects as
// the API server. Resources and versions appear or disappear within 2 s after they are created or removed. An API that
// does not respond affects only its own resources. The page of a missing object shows the object as soon as it is
// created. If the API server is unreachable, pages show since when their data is possibly out of date.
func TestEveryListableKindIsServed(t *testing.T) {
	d := startReady(t, adminConfig(t))
	c := newAPIClient(t, adminConfig(t))
	var answer struct {
		Resources []struct {
			Ref       string
			Verbs     []string
			Preferred bool
		}
		Problems []any
	}
	d.getJSON("/api/v1/resources", &answer)
	if len(answer.Resources) < 60 || len(answer.Problems) > 0 {
		t.Fatalf("got %d resources, problems %v; want at least 60 resources without "+
			"problems", len(answer.Resources), answer.Problems)
	}
	listable := 0
	for _, r := range answer.Resources {
		if !slices.Contains(r.Verbs, "list") || !r.Preferred {
			continue
		}
		listable++
		// Other programs change objects all the time, so repeat until both counts are equal.
		eventually(t, r.Ref+" has the rows that the API server lists", func() error {
			var snapshot struct {
				State, Reason string
				Total         *int
				Columns       []any
			}
			d.getJSON("/api/v1/snapshot/"+r.Ref+"?limit=1", &snapshot)
			want := c.count(t, r.Ref)
			polled := snapshot.State == "stale" && !slices.Contains(r.Verbs, "watch")
			if snapshot.State != "live" && !polled || snapshot.Total == nil || *snapshot.Total != want ||
				len(snapshot.Columns) == 0 {
				return fmt.Errorf("state %s (%s), %s rows, want %d; %d "+
					"columns", snapshot.State, snapshot.Reason, formatCount(snapshot.Total),
					want, len(snapshot.Columns))
			}
			return nil
		})
	}
	if listable < 50 {
		t.Errorf("only %d kinds can be listed, want at least 50", listable)
	}
}

// Invariant: I24. The program starts without its API server, and connects within 15 s after the API server becomes
// reachable. If a watch cannot be resumed, its data is stale until the next list. One kubeconfig context is active, and
// the program neither shows nor keeps data of other contexts. Users can leave an unreachable context. If a context
// cannot be opened, the active context stays active. If the kubeconfig or the service account has a CA file, the
// program sends requests only to an API server whose certificate is from an authority in this file. If the file
// changes, the program trusts the new authorities without a restart. Expired credentials do not count as a revoked
// permission.
func TestProgramWaitsForTheAPIServer(t *testing.T) {
	config := adminConfig(t)
	address, upstream := forwardAddresses(t, config)
	d := startProgramProcess(t, config, "--server", "https://"+address)
	if body, status := d.request("/api/v1/resources"); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, "does not respond") {
		t.Errorf("GET /api/v1/resources without an API server: got %d %s, want 503", status, body)
	}
	if body, status := d.request("/r/core/v1/pods", "Accept", "text/html"); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, "Retrying automatically") {
		t.Errorf("page without an API server: got %d %s, want 503", status, body)
	}
	forward(t, address, upstream)
	eventually(t, "the API server is detected after it starts", func() error {
		if body, status := d.request("/api/v1/snapshot/core/v1/namespaces"); status != http.StatusOK {
			return fmt.Errorf("GET snapshot: got %d %s, want 200", status, body)
		}
		return nil
	})
	if !strings.Contains(d.log(), "cannot read the list of resources from the API server") {
		t.Errorf("the log does not report that the program waits:\n%s", d.log())
	}
}

// Invariant: I20. If the program has permission to list a resource only in some namespaces, the data of these
// namespaces is live. If it has this permission in no namespace, the resource has the state forbidden. The program
// detects new permissions. If it loses a permission, it removes the rows. If rows appear or disappear only because of
// permissions, the program does not report changes of objects.
func TestProgramReadsPermittedNamespaces(t *testing.T) {
	dir := filepath.Dir(adminConfig(t))
	for config, requests := range map[string][]struct{ name, path, want string }{
		"kubeconfig-nobody": {
			{"all namespaces", "/api/v1/snapshot/core/v1/pods", `"state":"forbidden"`},
		},
		"kubeconfig-limited": {
			{"all namespaces", "/api/v1/snapshot/core/v1/pods", `"namespaces":["shop"]`},
			{"own namespace", "/api/v1/snapshot/core/v1/pods?ns=shop", `"state":"live"`},
			{"other namespace", "/api/v1/snapshot/core/v1/pods?ns=data", `"state":"forbidden"`},
		},
	} {
		t.Run(config, func(t *testing.T) {
			d := startReady(t, filepath.Join(dir, config))
			for _, test := range requests {
				if body := d.get(test.path); !strings.Contains(body, test.want) {
					t.Errorf("GET snapshot of %s: got %.300s, want %s", test.name, body, test.want)
				}
			}
		})
	}
}

func formatCount(n *int) string {
	if n == nil {
		return "unknown"
	}
	return strconv.Itoa(*n)
}

func forwardAddresses(t *testing.T, kubeconfig string) (address, upstream string) {
	t.Helper()
	server, err := url.Parse(apiServerHost(t, kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String(), server.Host
}

// forward forwards connections from address to upstream. The function stop closes all of them.
func forward(t *testing.T, address, upstream string) (stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var copies sync.WaitGroup
	copies.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(ctx, "tcp", upstream)
			if err != nil {
				_ = client.Close()
				continue
			}
			copies.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
			copies.Go(func() { _, _ = io.Copy(client, server); _ = client.Close() })
			copies.Go(func() { <-ctx.Done(); _ = client.Close(); _ = server.Close() })
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		_ = listener.Close()
		copies.Wait()
	})
	t.Cleanup(stop)
	return stop
}

func (a *apiClient) ignoreMissing(t *testing.T, err error) {
	t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

func adminConfig(t *testing.T) string {
	t.Helper()
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		t.Fatal("KUBECONFIG must be the path of the demo cluster's kubeconfig; make test sets it")
	}
	return path
}
