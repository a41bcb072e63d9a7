//go:build integration

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	"k8s.io/client-go/tools/clientcmd"
)

func writeUserToken(t *testing.T) (file, token string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(filepath.Dir(adminConfig(t)), "kubeconfig-nobody"))
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(config.BearerToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, config.BearerToken
}

func (d *dashboard) shareCommand(args ...string) string {
	d.t.Helper()
	var stdout, stderr console
	if code := run(d.t.Context(), append([]string{"share"}, append(args, "--server", d.url)...), &stdout,
		&stderr); code != 0 {
		d.t.Fatalf("share %q: exit code %d, want 0: %s", args, code, stderr.String())
	}
	return strings.TrimSpace(stdout.String())
}

func (d *dashboard) openLink(link string) (cookie string) {
	d.t.Helper()
	_, token, _ := strings.Cut(link, "#")
	status, cookie := d.exchange(token)
	if status != http.StatusOK || cookie == "" {
		d.t.Fatalf("open link %s: got status %d, want 200 and a cookie", link, status)
	}
	return cookie
}

func (d *dashboard) exchange(token string) (status int, cookie string) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+"/share",
		strings.NewReader(`{"token":"`+token+`"}`))
	if err != nil {
		d.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	for _, c := range response.Cookies() {
		cookie = c.Name + "=" + c.Value
	}
	return response.StatusCode, cookie
}

func (d *dashboard) dialAsGuest(ctx context.Context, cookie string) *livetest.Tab {
	d.t.Helper()
	return openTab(ctx, d.t, d.url, http.Header{"Cookie": {cookie}, "Origin": {d.url}})
}

// Viewers of a share link lose access within 15 s after the link is revoked, or after its creator loses the permission.
// Invariant: I30.
func TestShareFollowsItsCreatorsPermissions(t *testing.T) {
	t.Parallel()
	o := newAPIClient(t, adminConfig(t))
	ns := o.namespace(t)
	o.apply(t, ns, "a", "c4n4ry-value")
	revoke := o.grant(t, ns, "list", "watch", "get")
	file, _ := writeUserToken(t)
	d, _, _ := startProcessWith(t, "--auth", "token", "--data-dir", filepath.Join(t.TempDir(), "data"))
	var stdout, stderr console
	if code := run(t.Context(),
		[]string{
			"share", "create", "--server", d.url, "--token-file", file, "--resource", "core/v1/pods",
			"--namespace", ns,
		}, &stdout, &stderr); code != 1 ||
		!strings.Contains(stderr.String(), "Forbidden: You cannot list Pods") {
		t.Errorf("share create without permission: exit code %d, stderr %s; want 1 and Forbidden", code, stderr.String())
	}
	link := d.shareCommand("create", "--token-file", file, "--resource", "core/v1/configmaps", "--namespace", ns, "--for",
		"1h")
	if !regexp.MustCompile("^" + d.url + `/share#[\w-]{43}$`).MatchString(link) {
		t.Fatalf("share create printed %q, want a link", link)
	}
	listed := d.shareCommand("list", "--token-file", file)
	match := regexp.MustCompile(`(?m)^(\w+) +\d+m +0 +never +nobody +/r/core/v1/configmaps\?ns=` +
		ns).FindStringSubmatch(listed)
	if match == nil {
		t.Fatalf("share list printed %s, want the new link", listed)
	}
	cookie := d.openLink(link)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tab := d.dialAsGuest(ctx, cookie)
	tab.Send(`{"op":"subscribe","id":1,"resource":"core/v1/configmaps","view":"rows"}`)
	tab.UntilContains(`"type":"snapshot"`, `"name":"a"`)
	text, code := d.request("/api/v1/object/core/v1/configmaps/"+ns+"/a", "Cookie", cookie)
	if code != http.StatusOK || strings.Contains(text, "c4n4ry") || !strings.Contains(text, `"name":"a"`) {
		t.Errorf("guest's snapshot: got %d %s, want the shared object without the masked value", code, text)
	}
	if text, code := d.request("/api/v1/snapshot/core/v1/configmaps?ns=kube-system", "Cookie",
		cookie); code != http.StatusForbidden {
		t.Errorf("guest's snapshot of another namespace: got %d %.300s, want 403", code, text)
	}
	var slowest time.Duration
	for try := range 3 {
		if try > 0 {
			revoke = o.grantRole(t, ns)
			tab = d.dialAsGuest(ctx, cookie)
			eventually(t, "the permission is effective again", func() error {
				if text, code := d.request("/api/v1/snapshot/core/v1/configmaps", "Cookie",
					cookie); code != http.StatusOK {
					return fmt.Errorf("GET snapshot as guest: got %d %s, want 200", code, text)
				}
				return nil
			})
			tab.Send(`{"op":"subscribe","id":1,"resource":"core/v1/configmaps","view":"rows"}`)
			tab.UntilContains(`"type":"snapshot"`, `"name":"a"`)
		}
		revoke()
		began := time.Now()
		stop := make(chan struct{})
		var changing sync.WaitGroup
		changing.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					o.apply(t, ns, "a", fmt.Sprint("value ", n))
				}
			}
		})
		tab.UntilContains(`"state":"forbidden"`)
		took := time.Since(began)
		close(stop)
		changing.Wait()
		slowest = max(slowest, took)
	}
	t.Logf("a guest had access for at most %s after the creator's permission was revoked", slowest)
	if slowest > 15*time.Second {
		t.Errorf("a guest had access for %s after the creator's permission was revoked, want at most 15 s", slowest)
	}
	began := time.Now()
	d.shareCommand("revoke", match[1], "--token-file", file)
	if code, _ := tab.WaitForClose(); code != 4403 || time.Since(began) > 5*time.Second {
		t.Errorf("the guest's socket was closed with %d after %s, want 4403 within 5 s", code, time.Since(began))
	}
	if text, code := d.request("/api/v1/status", "Cookie", cookie); code != http.StatusUnauthorized ||
		!strings.Contains(text, "Link expired") {
		t.Errorf("guest's request after the link expired: got %d %s, want 401", code, text)
	}
}

// The log, the files and the memory contain no token of a share link and no guest cookie.
// Invariant: I30.
func TestMemoryContainsNoShareTokens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d, metrics, process := startProcessWith(t, "--data-dir", dir)
	eventually(t, "the pods are listed", func() error {
		if text, code := d.request("/api/v1/snapshot/core/v1/pods?limit=1"); code != http.StatusOK {
			return fmt.Errorf("GET snapshot: got %d %s, want 200", code, text)
		}
		return nil
	})
	secrets := make(map[string]string)
	for n := range 5 {
		link := d.shareCommand("create", "--resource", "core/v1/pods", "--note", "canary")
		_, token, _ := strings.Cut(link, "#")
		_, cookie, _ := strings.Cut(d.openLink(link), "=")
		secrets[fmt.Sprint("token ", n)], secrets[fmt.Sprint("cookie ", n)] = token, cookie
	}
	var found []string
	for try := range 4 {
		for n := range 300 {
			d.exchange(strings.Repeat("x", 43))
			if n%10 == 0 {
				d.openLink(d.shareCommand("create", "--resource", "core/v1/nodes"))
				d.shareCommand("list")
				d.request("/api/v1/snapshot/core/v1/pods?view=objects")
			}
			if n == 90 {
				break
			}
		}
		http.DefaultClient.CloseIdleConnections()
		found = nil
		size := 0
		for _, region := range readProcessMemory(t, metrics, process) {
			size += len(region)
			for name, secret := range secrets {
				if bytes.Contains(region, []byte(secret)) {
					found = append(found, name)
				}
			}
		}
		t.Logf("attempt %d: %d MiB of memory contain %q", try, size>>20, found)
		if len(found) == 0 {
			break
		}
	}
	if len(found) > 0 {
		t.Errorf("the process memory contains %q", found)
	}
	d.stop()
	texts := map[string]string{"log": d.log()}
	for _, name := range []string{"shares.json", "audit.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), "canary") {
			t.Fatalf("read %s: error %v, text %.300s", name, err, text)
		}
		texts[name] = string(text)
	}
	for place, text := range texts {
		for name, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains the %s", place, name)
			}
		}
	}
}
