package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

type fakeAPIServer struct {
	*httptest.Server

	inFlight atomic.Int64
}

func newFakeAPIServer(t *testing.T, pod string) *fakeAPIServer {
	t.Helper()
	api := apitest.New(
		t,
		apitest.Kind{Ref: "core/v1/pods", Kind: "Pod", Columns: `[{"name":"Name","type":"string"}]`},
		apitest.Kind{
			Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true, Columns: `[{"name":"Name","type":"string"}]`,
		},
	)
	api.Set("core/v1/namespaces", apitest.Item{Name: "default"})
	api.Set("core/v1/pods", apitest.Item{Namespace: "default", Name: pod})
	u := &fakeAPIServer{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.inFlight.Add(1)
		defer u.inFlight.Add(-1)
		api.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		u.CloseClientConnections()
		u.Close()
	})
	return u
}

func silentAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String()
}

// writeKubeconfig writes a kubeconfig with a context for each key of the map. A value is "URL" or "URL USER", with
// USER as JSON. The current context is "one".
func writeKubeconfig(t *testing.T, servers map[string]string) string {
	t.Helper()
	var clusters, contexts, users []string
	for name, server := range servers {
		server, user, _ := strings.Cut(server, " ")
		if user == "" {
			user = "{}"
		}
		clusters = append(clusters, fmt.Sprintf(`{"name":%q,"cluster":{"server":%q}}`, "of-"+name, server))
		users = append(users, fmt.Sprintf(`{"name":%q,"user":%s}`, name+"-user", user))
		contexts = append(contexts,
			fmt.Sprintf(`{"name":%q,"context":{"cluster":%q,"user":%q}}`, name, "of-"+name, name+"-user"))
	}
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"one","clusters":[%s],"contexts":[%s],`+
		`"users":[%s]}`,
		strings.Join(clusters, ","), strings.Join(contexts, ","), strings.Join(users, ","))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

type runningProgram struct {
	t   *testing.T
	url string
	log *console
}

func startProgram(t *testing.T, args ...string) *runningProgram {
	t.Helper()
	p := &runningProgram{t: t, log: &console{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, append(args, "--listen", "127.0.0.1:0"), io.Discard, p.log) }()
	t.Cleanup(func() {
		cancel()
		select {
		case code := <-ended:
			if code != 0 {
				t.Errorf("the program ended with exit code %d: %s", code, p.log)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("the program did not stop in time: %s", p.log)
		}
	})
	p.waitUntil("the program serves", func() bool {
		match := regexp.MustCompile(`url=(http://\S+)/`).FindStringSubmatch(p.log.String())
		if match != nil {
			p.url = match[1]
		}
		return match != nil
	})
	return p
}

func (p *runningProgram) waitUntil(condition string, isMet func() bool) {
	p.t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !isMet() {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("condition %q was not true within 30 s; log: %s", condition, p.log)
		}
	}
}

func (p *runningProgram) request(method, path, body string, headers ...string) (int, string) {
	p.t.Helper()
	httpRequest, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		httpRequest.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{
		Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(httpRequest)
	if err != nil {
		p.t.Fatalf("%s %s: no response: %v; log: %s", method, path, err, p.log)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func (p *runningProgram) switchContext(name string) time.Duration {
	p.t.Helper()
	began := time.Now()
	if code, text := p.request(http.MethodPost, "/api/v1/context",
		fmt.Sprintf(`{"name":%q}`, name)); code != http.StatusNoContent {
		p.t.Fatalf("switch to context %s: got %d %s, want 204", name, code, text)
	}
	return time.Since(began)
}

func (p *runningProgram) waitForPod(pod string) {
	p.t.Helper()
	p.waitUntil("the snapshot contains only the pod "+pod, func() bool {
		code, text := p.request(http.MethodGet, "/api/v1/snapshot/core/v1/pods", "")
		return code == http.StatusOK && strings.Contains(text, `"name":"`+pod+`"`) && strings.Count(text, `"uid"`) == 1
	})
}

func (p *runningProgram) clusterID() string {
	p.t.Helper()
	_, text := p.request(http.MethodGet, "/r/core/v1/pods", "", "Accept", "text/html")
	match := regexp.MustCompile(`data-cluster="([0-9a-f]{16})"`).FindStringSubmatch(text)
	if match == nil {
		p.t.Fatalf("the page has no cluster ID: %.2000s", text)
	}
	return match[1]
}

// openSocket opens a WebSocket like a page that shows the cluster with the given ID.
func (p *runningProgram) openSocket(clusterID string) *livetest.Tab {
	p.t.Helper()
	return livetest.OpenTab(p.t.Context(), p.t, p.url, livetest.Options{Query: "cluster=" + clusterID})
}

// readSnapshot subscribes to pods with a cursor, and reads up to the first snapshot with rows. It returns the cursor of
// this snapshot, and the types of the messages before it.
func readSnapshot(tab *livetest.Tab, cursor string) (earlierTypes, snapshotCursor string) {
	tab.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods","cursor":"` + cursor + `"}`)
	for {
		m := tab.Next()
		if m.Type == "snapshot" && len(m.Rows) > 0 {
			return earlierTypes, m.Cursor
		}
		earlierTypes += m.Type + " "
	}
}

// wantSwitchedClose checks that the server closes the connection with the status 4409: another cluster is active.
func wantSwitchedClose(t *testing.T, tab *livetest.Tab) {
	t.Helper()
	if code, reason := tab.WaitForClose(); code != 4409 {
		t.Errorf("socket closed with %d %s, want 4409", code, reason)
	}
}

// After a switch, all watches and sockets of the previous cluster end.
// Invariant: I24.
func TestContextSwitchEndsWatchesAndSockets(t *testing.T) {
	clearEnvironment(t)
	one, two := newFakeAPIServer(t, "pod-of-one"), newFakeAPIServer(t, "pod-of-two")
	p := startProgram(t, "--kubeconfig", writeKubeconfig(t, map[string]string{"one": one.URL, "two": two.URL}))
	const listed = `{"present":%q,"contexts":[{"name":"one","cluster":"of-one","user":"one-user"},{"name":"two",` +
		`"cluster":"of-two","user":"two-user"}]}`
	if code, text := p.request(http.MethodGet, "/api/v1/contexts", ""); code != http.StatusOK ||
		text != fmt.Sprintf(listed, "one") {
		t.Errorf("contexts before the switch: got %d %s", code, text)
	}
	p.waitForPod("pod-of-one")
	if two.inFlight.Load() != 0 {
		t.Error("the second cluster got a request before the switch")
	}
	first := p.clusterID()
	conn := p.openSocket(first)
	_, cursor := readSnapshot(conn, "")

	p.switchContext("two")
	wantSwitchedClose(t, conn)
	p.waitUntil("the requests to the first cluster have ended", func() bool { return one.inFlight.Load() == 0 })
	p.waitForPod("pod-of-two")
	if code, text := p.request(http.MethodGet, "/api/v1/contexts", ""); code != http.StatusOK ||
		text != fmt.Sprintf(listed, "two") {
		t.Errorf("contexts after the switch: got %d %s", code, text)
	}
	if code, text := p.request(http.MethodGet, "/r/core/v1/pods", "", "Accept", "text/html"); code != http.StatusOK ||
		!strings.Contains(text, ">two</a>") || !strings.Contains(text, "pod-of-two") ||
		strings.Contains(text, "pod-of-one") {
		t.Errorf("page after the switch: got %d %s, want only the pod of context two", code, text)
	}
	wantSwitchedClose(t, p.openSocket(first)) // A page from before the switch sends the ID of the first cluster.
	if second := p.clusterID(); second == first {
		t.Errorf("cluster ID of the second cluster is %s, the same as that of the first", second)
	}
	if before, _ := readSnapshot(p.openSocket(p.clusterID()), cursor); !strings.Contains(before, "reset") {
		t.Errorf("cursor of the other cluster: got %q before the snapshot, want a reset", before)
	}
	p.switchContext("one")
	p.waitForPod("pod-of-one")
	if afterReturn := p.clusterID(); afterReturn != first {
		t.Errorf("cluster ID after switching back: got %s, want %s; otherwise open pages cannot resume", afterReturn, first)
	}
	if before, _ := readSnapshot(p.openSocket(first), cursor); !strings.Contains(before, "reset") {
		t.Errorf("cursor from before the switch: got %q before the snapshot, want a reset", before)
	}
}

// Invariant: I24.
func TestUnreachableContextDoesNotBlockOthers(t *testing.T) {
	clearEnvironment(t)
	one := newFakeAPIServer(t, "pod-of-one")
	p := startProgram(t, "--kubeconfig", writeKubeconfig(t, map[string]string{
		"one": one.URL, "gone": "http://127.0.0.1:1", "silent": silentAddress(t),
	}))
	for _, name := range []string{"gone", "silent"} {
		p.waitForPod("pod-of-one")
		if took := p.switchContext(name); took > 5*time.Second {
			t.Errorf("switching to %s took %s, want at most 5 s", name, took)
		}
		code, text := p.request(http.MethodGet, "/r/core/v1/pods", "", "Accept", "text/html")
		if code != http.StatusServiceUnavailable || !strings.Contains(text, "The API server does not respond") ||
			!strings.Contains(text, `href="/contexts"`) || !strings.Contains(text, ">"+name+"</a>") {
			t.Errorf("page of the unreachable cluster %s: got %d %s, want 503 and links to the contexts", name, code, text)
		}
		if code, text := p.request(http.MethodGet, "/contexts", "", "Accept", "text/html"); code != http.StatusOK ||
			strings.Count(text, `name="name"`) != 3 {
			t.Errorf("contexts page: got %d %s, want 200 and three contexts", code, text)
		}
		if took := p.switchContext("one"); took > 5*time.Second {
			t.Errorf("switching back from %s took %s, want at most 5 s", name, took)
		}
	}
	p.waitForPod("pod-of-one")
}

// The error describes why the switch failed. The previous cluster stays active.
// Invariant: I24.
func TestFailedSwitchKeepsTheActiveCluster(t *testing.T) {
	clearEnvironment(t)
	one := newFakeAPIServer(t, "pod-of-one")
	const secure = "https://127.0.0.1:1" // client-go sends no credentials over plain HTTP.
	const failingCommand = ` {"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"false",` +
		`"interactiveMode":"Never"}}`
	const missingCommand = ` {"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"no-such-login",` +
		`"interactiveMode":"Never"}}`
	const unreadableCert = ` {"client-certificate":"/none/cert","client-key":"/none/key"}`
	file := writeKubeconfig(t, map[string]string{
		"one": one.URL, "fails": secure + failingCommand, "missing": secure + missingCommand,
		"unread": secure + unreadableCert,
	})
	p := startProgram(t, "--kubeconfig", file)
	p.waitForPod("pod-of-one")
	conn := p.openSocket(p.clusterID())
	readSnapshot(conn, "")
	for _, test := range []struct {
		method, path, body string
		code               int
		want               []string
	}{
		{"POST", "/api/v1/context", `{"name":"none"}`, 404, []string{"No such context", `no context \"none\"`}},
		{"POST", "/api/v1/context", `{"name":"fails"}`, 502, []string{
			"Context not opened", "one stays active", "executable false failed with exit code 1",
		}},
		{"POST", "/api/v1/context", `{"name":"missing"}`, 502, []string{
			"Context not opened", "no-such-login not found",
		}},
		{"POST", "/api/v1/context", `{"name":"unread"}`, 502, []string{"Context not opened", "/none/cert"}},
		{"POST", "/api/v1/context", `{}`, 400, []string{"Invalid context"}},
		{"POST", "/api/v1/context", `{"name":"one","x":1}`, 400, []string{"Malformed body"}},
		{"POST", "/api/v1/context", `one`, 400, []string{"Malformed body"}},
		{"GET", "/api/v1/context", "", 405, []string{"Read only"}},
		{"POST", "/contexts", "", 400, []string{"Invalid context"}},
	} {
		t.Run(test.method+" "+test.path+" "+test.body, func(t *testing.T) {
			if code, text := p.request(test.method, test.path, test.body); code != test.code || !containsAll(text, test.want) {
				t.Errorf("%s %s %s: got %d %s, want %d with %q", test.method, test.path, test.body, code, text,
					test.code, test.want)
			}
		})
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	if code, text := p.request(http.MethodPost, "/contexts", "name=fails", form...); code != http.StatusBadGateway ||
		!containsAll(text, []string{`role="alert"`, "one stays active", `action="/contexts"`}) {
		t.Errorf("POST /contexts: got %d %s, want 502 with the form and an alert", code, text)
	}
	for _, site := range []string{"cross-site", "same-site"} {
		for _, path := range []string{"/contexts", "/api/v1/context"} {
			t.Run(path+" from "+site, func(t *testing.T) {
				if code, text := p.request(http.MethodPost, path, "name=one",
					append(form, "Sec-Fetch-Site", site)...); code != http.StatusForbidden {
					t.Errorf("got %d %s, want 403", code, text)
				}
			})
		}
	}
	for problem, text := range map[string]string{
		"is no YAML": "{clusters: [", "has no context": `{"apiVersion":"v1","kind":"Config"}`,
	} {
		t.Run(problem, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/api/v1/context", "/contexts"} {
				body := map[string]string{"/contexts": "name=one", "/api/v1/context": `{"name":"one"}`}[path]
				if code, text := p.request(http.MethodPost, path, body, form[:2]...); code != http.StatusServiceUnavailable &&
					code != http.StatusNotFound {
					t.Errorf("POST %s: got %d %s, want 503 or 404", path, code, text)
				}
			}
			if code, text := p.request(http.MethodGet, "/contexts", "", "Accept", "text/html"); !strings.Contains(text,
				">one</a>") {
				t.Errorf("GET /contexts: got %d %s, want the active context in it", code, text)
			}
		})
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if code, text := p.request(http.MethodGet, "/api/v1/contexts", ""); code != http.StatusServiceUnavailable ||
		!strings.Contains(text, "Kubeconfig not readable") {
		t.Errorf("GET /api/v1/contexts without the kubeconfig: got %d %s, want 503", code, text)
	}
	conn.Send(`{"op":"ping","id":2}`)
	conn.Until(2, "pong") // The pong shows that the tab still has its connection.
	if strings.Contains(p.log.String(), "switched to another context") {
		t.Errorf("the log reports a switch to another cluster: %s", p.log)
	}
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// A form switches the context. The kubeconfig is read for each request, so changes to it take effect at once.
// Invariant: I24.
func TestSwitchContextWithoutScript(t *testing.T) {
	clearEnvironment(t)
	one, two := newFakeAPIServer(t, "pod-of-one"), newFakeAPIServer(t, "pod-of-two")
	file := writeKubeconfig(t, map[string]string{"one": one.URL, "two": two.URL})
	p := startProgram(t, "--kubeconfig", file)
	changed, err := os.ReadFile(writeKubeconfig(t, map[string]string{"one": one.URL, "three": two.URL}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, text := p.request(http.MethodGet, "/contexts", "", "Accept", "text/html"); !containsAll(text,
		[]string{`value="three"`, "cluster of-three, user three-user", `aria-current="true">one<`}) ||
		strings.Contains(text, `value="two"`) {
		t.Errorf("the page is %s, want only contexts that exist", text)
	}
	if code, text := p.request(http.MethodPost, "/contexts", "name=three", "Content-Type",
		"application/x-www-form-urlencoded", "Accept", "text/html", "Sec-Fetch-Site",
		"same-origin"); code != http.StatusSeeOther {
		t.Errorf("POST /contexts: got %d %s, want 303", code, text)
	}
	p.waitForPod("pod-of-two")
}

// Invariant: I24.
func TestSwitchesLeakNoGoroutines(t *testing.T) {
	clearEnvironment(t)
	one, two := newFakeAPIServer(t, "pod-of-one"), newFakeAPIServer(t, "pod-of-two")
	p := startProgram(t, "--kubeconfig", writeKubeconfig(t, map[string]string{"one": one.URL, "two": two.URL}))
	names := []string{"one", "two"}
	var previous *livetest.Tab
	switchAndRead := func(n int) {
		p.switchContext(names[n%2])
		if previous != nil {
			wantSwitchedClose(t, previous) // Read the close frame, so that the WebSocket ends at once.
		}
		p.waitForPod("pod-of-" + names[n%2])
		previous = p.openSocket(p.clusterID())
		readSnapshot(previous, "")
	}
	// leastGoroutines returns the lowest number of goroutines within a duration. It returns as soon as the number is
	// at most the parameter enough.
	leastGoroutines := func(within time.Duration, enough int) int {
		p.waitUntil("the requests to the other cluster have ended", func() bool { return two.inFlight.Load() == 0 })
		least := runtime.NumGoroutine()
		for end := time.Now().Add(within); least > enough && time.Now().Before(end); <-time.After(time.Millisecond) {
			least = min(least, runtime.NumGoroutine())
		}
		return least
	}
	switchAndRead(1)
	// Connect to both clusters first, so that the count includes goroutines that start only once.
	switchAndRead(0)
	before := leastGoroutines(time.Second, 0)
	for n := 1; n <= 20; n++ {
		switchAndRead(n)
	}
	// Idle connections can add up to 10 goroutines, which are not a leak.
	if after := leastGoroutines(6*time.Second, before+10); after > before+10 {
		var all strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&all, 1)
		t.Errorf("%d goroutines after 20 switches, %d before:\n%s", after, before, all.String())
	}
}

// Users can switch contexts only if the program has no login, and no flag sets the server, the credentials or the
// impersonated user.
// Invariant: I24.
func TestContextsAreOfferedOnlyLocally(t *testing.T) {
	clearEnvironment(t)
	one := newFakeAPIServer(t, "pod-of-one")
	twoContexts := writeKubeconfig(t, map[string]string{"one": one.URL, "two": one.URL})
	oneContext := writeKubeconfig(t, map[string]string{"one": one.URL})
	for _, test := range []struct {
		name    string
		args    []string
		offered bool
	}{
		{"several", []string{"--kubeconfig", twoContexts}, true},
		{
			"initial context by flag",
			[]string{"--kubeconfig", twoContexts, "--context", "two", "--namespace", "default"},
			true,
		},
		{"single context", []string{"--kubeconfig", oneContext}, false},
		{"--server flag", []string{"--kubeconfig", twoContexts, "--server", one.URL}, false},
		{"--token flag", []string{"--kubeconfig", twoContexts, "--token", "abc"}, false},
		{"--user flag", []string{"--kubeconfig", twoContexts, "--user", "two-user"}, false},
		{"--as flag", []string{"--kubeconfig", twoContexts, "--as", "someone"}, false},
		{"--auth shared-identity", []string{"--kubeconfig", twoContexts, "--auth", "shared-identity"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := startProgram(t, test.args...)
			p.waitForPod("pod-of-one")
			_, page := p.request(http.MethodGet, "/r/core/v1/pods", "", "Accept", "text/html")
			listStatus, _ := p.request(http.MethodGet, "/api/v1/contexts", "")
			pageStatus, _ := p.request(http.MethodGet, "/contexts", "")
			switchStatus, _ := p.request(http.MethodPost, "/api/v1/context", `{"name":"one"}`)
			formStatus, _ := p.request(http.MethodPost, "/contexts", "name=one", "Content-Type",
				"application/x-www-form-urlencoded")
			got, want := fmt.Sprint(strings.Contains(page, "/contexts"), listStatus, pageStatus, switchStatus, formStatus),
				"false 404 404 404 404"
			if test.offered {
				want = "true 200 200 204 303"
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
