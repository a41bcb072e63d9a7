//go:build integration

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/web"
)

type prober struct {
	*dashboard

	api                          *apiClient
	ownNamespace, otherNamespace string // The user of userToken can read only ownNamespace.
	noneToken                    string
	allToken                     string // Token of a user who can read all ConfigMaps and pods; empty in some tests.
	userToken                    string
}

type target struct{ ref, ns, name string }

func (t target) expand(template string) string {
	return strings.NewReplacer("REF", t.ref, "NS", t.ns, "NAME", t.name).Replace(template)
}

// The patterns begin with a literal text, by which the regexp package finds candidates fast. Without such a text, the
// patterns would take most of the time of a test with the race detector.
var (
	versionList  = regexp.MustCompile(`"rv":\[[^]]*\]`)
	versionPatch = regexp.MustCompile(`("path":"/metadata/resourceVersion","value":)"\d+"`)
	// In a change, the member "was" has previous values by index of the patch operation, such as {"0":"811"}.
	versionInWas  = regexp.MustCompile(`("\d+":)"\d+"`)
	latencyMember = regexp.MustCompile(`,"latencyMs":\d+`)
	ageElement    = regexp.MustCompile(`>(\d+[smhd])+( ago by [^<]*)?<`)

	timeAtStart    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	versionAtStart = regexp.MustCompile(`^(?:"|&#34;)?[^",&\n> ]*(?:"|&#34;)?`)
)

// maskTimes replaces the times in a text. It finds them by the letter T between the date and the time of day.
func maskTimes(text string) string {
	const date = len("2006-01-02")
	var out strings.Builder
	for {
		at := strings.IndexByte(text, 'T')
		if at < 0 {
			return out.String() + text
		}
		if at >= date {
			if match := timeAtStart.FindString(text[at-date:]); match != "" {
				out.WriteString(text[:at-date] + "TIME")
				text = text[at-date+len(match):]
				continue
			}
		}
		out.WriteString(text[:at+1])
		text = text[at+1:]
	}
}

func maskVersions(text string) string {
	names := []string{`"rv":`, `"resourceVersion":`, `"cursor":`, "rv: ", "resourceVersion: ", "data-cursor="}
	var out strings.Builder
	for {
		start, end := len(text), len(text)
		for _, name := range names {
			if at := strings.Index(text[:start], name); at >= 0 {
				start, end = at, at+len(name)
			}
		}
		out.WriteString(text[:end])
		if start == end {
			return out.String()
		}
		out.WriteByte('X')
		text = text[end+len(versionAtStart.FindString(text[end:])):]
	}
}

// mask replaces parts of a response with placeholders: the namespace and name of the target, and values that differ
// between requests (times, resourceVersions, cursors, and how long the API server took for the newest discovery).
func (t target) mask(text string) string {
	text = maskTimes(text)
	text = versionList.ReplaceAllString(text, `"rv":X`)
	text = maskVersions(text)
	text = versionPatch.ReplaceAllString(text, "${1}X")
	text = versionInWas.ReplaceAllString(text, "${1}X")
	text = latencyMember.ReplaceAllString(text, "")
	text = ageElement.ReplaceAllString(text, ">AGE$2<")
	return strings.NewReplacer(t.ns, "NS", t.name, "NAME").Replace(text)
}

// routeRequests returns example requests for every route. REF, NS and NAME are placeholders for a resource, a namespace
// and an object. A request without a placeholder needs none: its response is the same for all users, or has no data.
func routeRequests() map[string][]string {
	list := []string{
		"", "?ns=NS", "?ns=NS&ns=default", "?ns=NS,default", "?labels=app%3DNAME", "?ns=NS&labels=app%3DNAME",
		"?q=NAME", "?ns=NS&q=NAME",
	}
	withParams := func(params ...string) []string {
		all := slices.Clone(list)
		for _, w := range params {
			all = append(all, "?"+w, "?ns=NS&"+w)
		}
		return all
	}
	withPath := func(path string, queries []string) []string {
		all := make([]string, len(queries))
		for n, query := range queries {
			all[n] = path + query
		}
		return all
	}
	const snapshot = "/api/v1/snapshot/REF"
	return map[string][]string{
		"GET /":               {"/"},
		"GET /ns/{namespace}": {"/ns/NS"},
		"GET /r/{group}/{version}/{resource}": withPath("/r/REF",
			withParams("sort=-name", "cols=wide", "from=1", "open=NS/NAME", "open=NS/NAME&tab=yaml",
				"open=NS/NAME&tab=logs&container=c")),
		"GET /o/{group}/{version}/{resource}/{namespace}/{name}": {"/o/REF/NS/NAME"},
		"GET /compare": {
			"/compare", "/compare?a=REF/NS/NAME&b=REF/NS/NAME", "/compare?a=REF/NS/NAME",
			"/compare?b=REF/NS/NAME&hide=status",
		},
		"GET /status":           {"/status"},
		"GET /api/openapi.json": {"/api/openapi.json"},
		"GET /api/v1/resources": {"/api/v1/resources"},
		"GET /api/v1/snapshot/{group}/{version}/{resource}": withPath(snapshot,
			withParams("fields=metadata.name%3DNAME", "fields=metadata.namespace%3DNS", "limit=1", "view=objects",
				"format=csv", "format=ndjson", "format=yaml", "view=objects&format=ndjson", "view=objects&format=yaml",
				"cols=wide&sort=-name", "wait=1s")),
		"GET /api/v1/object/{group}/{version}/{resource}/{namespace}/{name}": {
			"/api/v1/object/REF/NS/NAME", "/api/v1/object/REF/NS/NAME?format=yaml",
		},
		"GET /api/v1/related/{group}/{version}/{resource}/{namespace}/{name}": {"/api/v1/related/REF/NS/NAME"},
		"GET /api/v1/authors/{group}/{version}/{resource}/{namespace}/{name}": {"/api/v1/authors/REF/NS/NAME"},
		"GET /api/v1/logs/{namespace}/{name}": {
			"/api/v1/logs/NS/NAME", "/api/v1/logs/NS/NAME?tail=1", "/api/v1/logs/NS/NAME?follow=true",
			"/api/v1/logs/NS/NAME?container=c&previous=true",
		},
		"GET /api/v1/search": {
			"/api/v1/search?q=NAME", "/api/v1/search?q=NS&limit=100", "/api/v1/search?q=NAME&resource=core/v1/endpoints",
		},
		"GET /api/v1/problems":       {"/api/v1/problems", "/api/v1/problems?ns=NS"},
		"GET /api/v1/status":         {"/api/v1/status"},
		"GET /api/v1/live":           {"/api/v1/live"}, // Refused, because it is not a WebSocket request.
		"GET /static/*":              {"/static/nothing.js"},
		"GET /third-party-notices":   {"/third-party-notices"},
		"GET /healthz":               {"/healthz"},
		"GET /readyz":                {"/readyz"},
		"GET /login":                 {"/login", "/login?to=/r/REF"},
		"POST /login":                nil, // Requires a token; see TestLoginRequiresOwnOrigin.
		"GET /login/callback":        {"/login/callback"},
		"POST /logout":               nil,
		"GET /contexts":              {"/contexts"},
		"POST /contexts":             nil, // Exists only without a login; see TestContextsAreOfferedOnlyLocally.
		"GET /api/v1/contexts":       {"/api/v1/contexts"},
		"POST /api/v1/context":       nil,
		"GET /api/v1/shares":         {"/api/v1/shares"},
		"POST /api/v1/shares":        nil, // See TestInvalidSharesAreRefused and TestSharesAreManagedByTheirCreators.
		"DELETE /api/v1/shares/{id}": nil,
		"GET /share":                 {"/share"},
		"POST /share":                nil, // Requires a token; see TestInvalidTokensAreAnsweredLikeEndedShares.
		"POST /share/leave":          nil,
	}
}

// subscriptions returns the JSON members of subscribe messages, which together use all filters and views. The keys
// describe the messages, for test failures.
func subscriptions() map[string]string {
	filters := map[string]string{
		"all": ``, "one namespace": `,"ns":["NS"]`, "several namespaces": `,"ns":["NS","default"]`,
		"labels": `,"labels":"app=NAME"`, "labels, one namespace": `,"ns":["NS"],"labels":"app=NAME"`,
		"fields": `,"fields":"metadata.name=NAME"`, "fields, one namespace": `,"ns":["NS"],"fields":"metadata.name=NAME"`,
		"text": `,"q":"NAME"`, "text, one namespace": `,"ns":["NS"],"q":"NAME"`, "watched": `,"ns":["NS"],"watched":true`,
	}
	all := map[string]string{
		"object":               `"resource":"REF","ns":["NS"],"name":"NAME","view":"object"`,
		"changes of an object": `"resource":"REF","ns":["NS"],"name":"NAME","view":"changes"`,
		"log":                  `"resource":"core/v1/pods","view":"log","ns":["NS"],"name":"NAME"`,
	}
	for name, filter := range filters {
		for _, view := range []string{"rows", "table", "changes", "window"} {
			members := `"resource":"REF"` + filter + `,"view":"` + view + `"`
			if view == "window" {
				members += `,"offset":0,"count":100`
			} else if strings.Contains(filter, `"q"`) {
				continue // Skip this combination: only the view "window" supports text search (q).
			}
			all[name+", "+view] = members
		}
	}
	return all
}

func newProber(t *testing.T) *prober {
	t.Helper()
	return newProberFor(t, startReady(t, adminConfig(t), "--auth", "token"))
}

func newProberFor(t *testing.T, d *dashboard) *prober {
	t.Helper()
	w := &prober{dashboard: d, api: newAPIClient(t, adminConfig(t))}
	w.ownNamespace, w.otherNamespace = w.api.namespace(t), w.api.namespace(t)
	w.noneToken = w.token(t, w.ownNamespace, "none")
	w.userToken = w.token(t, w.ownNamespace, "one", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
	})
	for _, ns := range []string{w.ownNamespace, w.otherNamespace} {
		w.plant(t, ns, plantedName, "0")
	}
	eventually(t, "the permissions of the user are effective", func() error {
		if body, status := w.getAs(w.userToken,
			"/api/v1/object/core/v1/configmaps/"+w.ownNamespace+"/"+plantedName); status != http.StatusOK {
			return fmt.Errorf("GET configmap: got %d %s, want 200", status, body)
		}
		return nil
	})
	return w
}

const plantedName = "planted-here"

func firstDifference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(text string) string { return text[min(len(text), max(0, at-100)):min(len(text), at+200)] }
	return fmt.Sprintf("at %d: %q and %q", at, around(got), around(want))
}

// plantedValue is in each object that the method plant creates. A response with this value reveals such an object.
const plantedValue = "value-that-only-its-owner-can-read"

func (p *prober) plant(t *testing.T, ns, name, value string) {
	t.Helper()
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Data:       map[string]string{"value": value, "treasure": plantedValue},
	}
	_, err := p.api.core.ConfigMaps(ns).Update(t.Context(), configMap, metav1.UpdateOptions{})
	if err != nil {
		_, err = p.api.core.ConfigMaps(ns).Create(t.Context(), configMap, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p *prober) token(t *testing.T, ns, name string, rules ...rbacv1.PolicyRule) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(mustConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Name: name, Namespace: ns}
	if _, err := client.CoreV1().ServiceAccounts(ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(rules) > 0 {
		if _, err := client.RbacV1().Roles(ns).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules},
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: ns}},
		}
		if _, err := client.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	request, err := client.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// getAs sends a GET request with the bearer token. It does not normalize the path.
func (p *prober) getAs(token, path string) (body string, status int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	request.URL.Opaque = path
	request.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatalf("%s: %v", path, err)
	}
	return string(text), response.StatusCode
}

func (p *prober) routes(t *testing.T) (patterns []string) {
	t.Helper()
	server, err := web.New(web.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	routes, ok := handler.(chi.Routes)
	if !ok {
		t.Fatal("the handler is not a chi.Routes")
	}
	err = chi.Walk(routes, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		patterns = append(patterns, method+" "+pattern)
		return nil
	})
	if err != nil || len(patterns) < 20 {
		t.Fatalf("got routes %q, error %v; want at least 20 routes", patterns, err)
	}
	return patterns
}

type backgroundSocket struct {
	*livetest.Tab

	t        *testing.T
	messages chan *livetest.Message
}

func (p *prober) openSocket(t *testing.T, header http.Header) *backgroundSocket {
	t.Helper()
	e := &backgroundSocket{openTab(t.Context(), t, p.url, header), t, make(chan *livetest.Message, 10_000)}
	readDone := make(chan struct{})
	go func() {
		defer close(readDone)
		for {
			m, err := e.Client.Read(t.Context())
			if err != nil {
				return
			}
			e.messages <- m
		}
	}()
	t.Cleanup(func() { e.Close(); <-readDone })
	return e
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// collect receives messages until isComplete returns true and no message has arrived for 1.5 s.
func (b *backgroundSocket) collect(all map[int][]string, isComplete func() bool) {
	b.t.Helper()
	const quietTime = 1500 * time.Millisecond
	deadline := time.After(time.Minute)
	for {
		wait := time.After(quietTime)
		if !isComplete() {
			wait = nil
		}
		select {
		case m := <-b.messages:
			// Heartbeats and digests do not count, because their number depends on time.
			if m.Type != "heartbeat" && m.Type != "digest" {
				all[m.ID] = append(all[m.ID], string(m.Raw))
			}
		case <-wait:
			return
		case <-deadline:
			b.t.Fatalf("not all messages arrived within a minute: %v", all)
		}
	}
}

// The response is the same whether or not the requested object exists.
// Invariant: I18.
func TestUsersWithoutPermissionsLearnNothing(t *testing.T) {
	w := newProber(t)
	const ref = "core/v1/configmaps"
	existing := target{ref, w.otherNamespace, plantedName}
	targets := map[string]target{
		"no such object":    {ref, w.otherNamespace, "nothing-here"},
		"no such namespace": {ref, "no-" + w.otherNamespace[3:], "nothing-here"},
	}
	byRoute := routeRequests()
	count := 0
	for _, route := range w.routes(t) {
		requests, listed := byRoute[route]
		if !listed {
			t.Errorf("%s is a new route: define here what it shows to each viewer", route)
		}
		delete(byRoute, route)
		for _, request := range requests {
			body, status := w.getAs(w.noneToken, existing.expand(request))
			if strings.Contains(body, plantedValue) {
				t.Errorf("%s reveals the contents of the cluster: %.500s", request, body)
			}
			if strings.Contains(request, "REF") && !strings.HasPrefix(request, "/r/") &&
				!strings.HasPrefix(request, "/compare") && !strings.HasPrefix(request, "/login") &&
				status != http.StatusForbidden {
				t.Errorf("%s: got %d, want 403: %s", request, status, body)
			}
			count++
			if !strings.Contains(request, "NS") && !strings.Contains(request, "NAME") {
				continue
			}
			for description, a := range targets {
				other, otherStatus := w.getAs(w.noneToken, a.expand(request))
				if masked, otherMasked := existing.mask(body), a.mask(other); status != otherStatus || masked != otherMasked {
					t.Errorf("%s: the response differs with %s: got status %d and %d, %s", request, description, status, otherStatus,
						firstDifference(masked, otherMasked))
				}
			}
		}
	}
	for route := range byRoute {
		t.Errorf("%s is not a route any more", route)
	}

	collectMessages := func(a target) map[int][]string {
		e, all, n := w.openSocket(t, bearer(w.noneToken)), make(map[int][]string), 0
		names := slices.Sorted(maps.Keys(subscriptions()))
		for _, name := range names {
			n++
			e.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,%s}`, n, a.expand(subscriptions()[name])))
		}
		e.collect(all, func() bool { return len(all) == n })
		w.plant(t, w.otherNamespace, plantedName, "1")
		e.collect(all, func() bool { return true })
		for id, messages := range all {
			for n := range messages {
				if strings.Contains(messages[n], plantedValue) || !strings.Contains(strings.ToLower(messages[n]), "forbidden") {
					t.Errorf("subscription %s: got %s, want Forbidden without the canary", names[id-1], messages[n])
				}
				messages[n] = a.mask(messages[n])
			}
		}
		return all
	}
	count += len(subscriptions())
	want := collectMessages(existing)
	for description, a := range targets {
		t.Run(description, func(t *testing.T) {
			if got := collectMessages(a); !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("subscriptions received\n%v\nwant the same as with one object\n%v", got, want)
			}
		})
	}
	if count < 100 {
		t.Errorf("only %d requests were compared, want at least 100", count)
	}
	t.Logf("%d requests were compared", count)

	// Also check permitted requests, because the test would otherwise pass if all requests failed.
	if body, status := w.getAs(w.userToken, "/api/v1/snapshot/"+ref+"?view=objects"); status != http.StatusOK ||
		!strings.Contains(body, plantedValue) || strings.Contains(body, w.otherNamespace) {
		t.Errorf("user with access to one namespace: got %d %s, want 200 and only objects of this namespace", status, body)
	}
}
