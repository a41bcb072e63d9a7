//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-chi/chi/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"glasshouse/internal/web"
)

// walker sends requests of every form to all routes, as users with few permissions.
type walker struct {
	*dashboard

	o        *oracle
	own, not string // A namespace that one user may read, and one that no user may read.
	none     string // The token of a user without permissions.
	one      string // The token of a user who may read the ConfigMaps of own.
}

// aim is the object that requests ask for. The object may not exist.
type aim struct{ ref, ns, name string }

// in replaces the words REF, NS and NAME in a request by those of the aim.
func (a aim) in(question string) string {
	return strings.NewReplacer("REF", a.ref, "NS", a.ns, "NAME", a.name).Replace(question)
}

// masked returns a response without the names in the aim, and without values that differ each time: times, versions and
// cursors.
func (a aim) masked(answer string) string {
	answer = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`).ReplaceAllString(answer,
		"TIME")
	answer = regexp.MustCompile(`"rv":\[[^]]*\]`).ReplaceAllString(answer, `"rv":X`)
	answer = regexp.MustCompile(`("(?:rv|resourceVersion|cursor)":|(?:rv|resourceVersion): `+
		`|data-cursor=)(?:"|&#34;)?[^",&\n> ]*(?:"|&#34;)?`).ReplaceAllString(answer, "${1}X")
	answer = regexp.MustCompile(`("path":"/metadata/resourceVersion","value":)"\d+"`).ReplaceAllString(answer, "${1}X")
	answer = regexp.MustCompile(`("\d+":)"\d+"`).ReplaceAllString(answer, "${1}X") // An earlier resourceVersion.
	answer = regexp.MustCompile(`>(\d+[smhd])+<`).ReplaceAllString(answer, ">AGE<")
	return strings.NewReplacer(a.ns, "NS", a.name, "NAME").Replace(answer)
}

// walks returns the requests for each route, by its method and pattern. A route that is missing here has not been
// checked for what it reveals. Requests without a word in capitals reveal nothing about the cluster, or reveal the same
// to all known users.
func walks() map[string][]string {
	list := []string{
		"", "?ns=NS", "?ns=NS&ns=default", "?ns=NS,default", "?labels=app%3DNAME", "?ns=NS&labels=app%3DNAME",
		"?q=NAME", "?ns=NS&q=NAME",
	}
	more := func(with ...string) []string {
		all := slices.Clone(list)
		for _, w := range with {
			all = append(all, "?"+w, "?ns=NS&"+w)
		}
		return all
	}
	under := func(path string, queries []string) []string {
		all := make([]string, len(queries))
		for n, query := range queries {
			all[n] = path + query
		}
		return all
	}
	const snapshot = "/api/v1/snapshot/REF"
	return map[string][]string{
		"GET /": {"/"},
		"GET /r/{group}/{version}/{resource}": under("/r/REF",
			more("sort=-name", "cols=wide", "from=1", "open=NS/NAME", "open=NS/NAME&tab=yaml",
				"open=NS/NAME&tab=logs&container=c")),
		"GET /o/{group}/{version}/{resource}/{namespace}/{name}": {"/o/REF/NS/NAME"},
		"GET /compare": {
			"/compare", "/compare?a=REF/NS/NAME&b=REF/NS/NAME", "/compare?a=REF/NS/NAME",
			"/compare?b=REF/NS/NAME&hide=status",
		},
		"GET /status":           {"/status"},
		"GET /api/openapi.json": {"/api/openapi.json"},
		"GET /api/v1/resources": {"/api/v1/resources"},
		"GET /api/v1/snapshot/{group}/{version}/{resource}": under(snapshot,
			more("fields=metadata.name%3DNAME", "fields=metadata.namespace%3DNS", "limit=1", "view=objects",
				"format=csv", "format=ndjson", "format=yaml", "view=objects&format=ndjson", "view=objects&format=yaml",
				"cols=wide&sort=-name", "wait=1s")),
		"GET /api/v1/object/{group}/{version}/{resource}/{namespace}/{name}": {
			"/api/v1/object/REF/NS/NAME", "/api/v1/object/REF/NS/NAME?format=yaml",
		},
		"GET /api/v1/related/{group}/{version}/{resource}/{namespace}/{name}": {"/api/v1/related/REF/NS/NAME"},
		"GET /api/v1/logs/{namespace}/{name}": {
			"/api/v1/logs/NS/NAME", "/api/v1/logs/NS/NAME?tail=1", "/api/v1/logs/NS/NAME?follow=true",
			"/api/v1/logs/NS/NAME?container=c&previous=true",
		},
		"GET /api/v1/search": {
			"/api/v1/search?q=NAME", "/api/v1/search?q=NS&limit=100",
		},
		"GET /api/v1/status":         {"/api/v1/status"},
		"GET /api/v1/live":           {"/api/v1/live"}, // Not a WebSocket: refused. frames tests messages.
		"GET /static/*":              {"/static/nothing.js"},
		"GET /third-party-notices":   {"/third-party-notices"},
		"GET /healthz":               {"/healthz"},
		"GET /readyz":                {"/readyz"},
		"GET /login":                 {"/login", "/login?to=/r/REF"},
		"POST /login":                nil, // Needs a token; see TestLoginIsOurs.
		"GET /login/callback":        {"/login/callback"},
		"POST /logout":               nil,
		"GET /contexts":              {"/contexts"},
		"POST /contexts":             nil, // Exists only without a login; see TestContextsAreNotOffered.
		"GET /api/v1/contexts":       {"/api/v1/contexts"},
		"POST /api/v1/context":       nil,
		"GET /api/v1/shares":         {"/api/v1/shares"},
		"POST /api/v1/shares":        nil, // See TestSharesThatMakeNoSense and TestSharesAreTheirOwners.
		"DELETE /api/v1/shares/{id}": nil,
		"GET /share":                 {"/share"},
		"POST /share":                nil, // Needs a token; see TestLinksThatShowNothing.
		"POST /share/leave":          nil,
	}
}

// frames returns subscriptions of every form and view, by description.
func frames() map[string]string {
	shapes := map[string]string{
		"all": ``, "one namespace": `,"ns":["NS"]`, "several": `,"ns":["NS","default"]`,
		"labels": `,"labels":"app=NAME"`, "labels of one": `,"ns":["NS"],"labels":"app=NAME"`,
		"fields": `,"fields":"metadata.name=NAME"`, "fields of one": `,"ns":["NS"],"fields":"metadata.name=NAME"`,
		"words": `,"q":"NAME"`, "words of one": `,"ns":["NS"],"q":"NAME"`, "watched": `,"ns":["NS"],"watched":true`,
	}
	all := map[string]string{
		"object":               `"resource":"REF","ns":["NS"],"name":"NAME","view":"object"`,
		"changes of an object": `"resource":"REF","ns":["NS"],"name":"NAME","view":"changes"`,
		"log":                  `"resource":"core/v1/pods","view":"log","ns":["NS"],"name":"NAME"`,
	}
	for name, shape := range shapes {
		for _, view := range []string{"rows", "table", "changes", "window"} {
			frame := `"resource":"REF"` + shape + `,"view":"` + view + `"`
			if view == "window" {
				frame += `,"offset":0,"count":100`
			} else if strings.Contains(shape, `"q"`) {
				continue // Text search is only for windows.
			}
			all[name+", "+view] = frame
		}
	}
	return all
}

func newWalker(t *testing.T) *walker {
	t.Helper()
	d := start(t, adminConfig(t), "--auth", "token")
	w := &walker{dashboard: d, o: newOracle(t, adminConfig(t))}
	w.own, w.not = w.o.namespace(t), w.o.namespace(t)
	w.none = w.token(t, w.own, "none")
	w.one = w.token(t, w.own, "one", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
	})
	for _, ns := range []string{w.own, w.not} {
		w.plant(t, ns, theName, "0")
	}
	eventually(t, "the one has their right", func() error {
		if body, status := w.as(w.one,
			"/api/v1/object/core/v1/configmaps/"+w.own+"/"+theName); status != http.StatusOK {
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
	return w
}

// theName is the name of every planted object. No other name contains it.
const theName = "planted-here"

// differs describes the first difference of two texts.
func differs(one, other string) string {
	at := 0
	for at < min(len(one), len(other)) && one[at] == other[at] {
		at++
	}
	around := func(text string) string { return text[min(len(text), max(0, at-100)):min(len(text), at+200)] }
	return fmt.Sprintf("at %d: %q and %q", at, around(one), around(other))
}

// treasure is a value in every planted object.
const treasure = "seen-where-nobody-may-look"

// plant writes a ConfigMap with a value and the treasure.
func (w *walker) plant(t *testing.T, ns, name, value string) {
	t.Helper()
	made := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Data:       map[string]string{"value": value, "treasure": treasure},
	}
	_, err := w.o.core.ConfigMaps(ns).Update(t.Context(), made, metav1.UpdateOptions{})
	if err != nil {
		_, err = w.o.core.ConfigMaps(ns).Create(t.Context(), made, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// token returns the token of a new service account with permissions in its namespace. Its RoleBinding has the name of
// the account.
func (w *walker) token(t *testing.T, ns, name string, rules ...rbacv1.PolicyRule) string {
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

// as sends a request with a token. It does not normalize the path.
func (w *walker) as(token, path string) (body string, status int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	request.URL.Opaque = path
	request.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return string(text), answer.StatusCode
}

// routes returns all patterns of the server's own route table.
func (w *walker) routes(t *testing.T) (patterns []string) {
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
		t.Fatal("the handler is no router")
	}
	err = chi.Walk(routes, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		patterns = append(patterns, method+" "+pattern)
		return nil
	})
	if err != nil || len(patterns) < 20 {
		t.Fatalf("the routes are %q, %v", patterns, err)
	}
	return patterns
}

// ear is a socket that is read in the background. It collects messages by the id of their subscription.
type ear struct {
	t      *testing.T
	conn   *websocket.Conn
	frames chan string
}

func (w *walker) listen(t *testing.T, token string) *ear {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(w.url, "http://", "ws://", 1)+"/api/v1/live",
		&websocket.DialOptions{
			Subprotocols: []string{"glasshouse.v1+json"}, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
		})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	e := &ear{t, conn, make(chan string, 10_000)}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			_, frame, err := conn.Read(t.Context())
			if err != nil {
				return
			}
			e.frames <- string(frame)
		}
	}()
	t.Cleanup(func() { _ = conn.CloseNow(); <-heard })
	return e
}

func (e *ear) send(frame string) {
	e.t.Helper()
	if err := e.conn.Write(e.t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		e.t.Fatal(err)
	}
}

// hear adds messages to all, by the id of their subscription, until enough returns true and no more arrive for a while.
// It skips heartbeats and digests, which depend on time.
func (e *ear) hear(all map[int][]string, enough func() bool) {
	e.t.Helper()
	const silence = 1500 * time.Millisecond
	deadline := time.After(time.Minute)
	for {
		wait := time.After(silence)
		if !enough() {
			wait = nil
		}
		select {
		case frame := <-e.frames:
			var m struct {
				ID   int
				Type string
			}
			if err := json.Unmarshal([]byte(frame), &m); err != nil {
				e.t.Fatal(err)
			}
			if m.Type != "heartbeat" && m.Type != "digest" {
				all[m.ID] = append(all[m.ID], frame)
			}
		case <-wait:
			return
		case <-deadline:
			e.t.Fatalf("not everything was told within a minute: %v", all)
		}
	}
}

// A user without permissions receives no data from any route or any form of subscription. The response is the same
// whether the requested object exists or not.
func TestNobodyLearnsWhatThereIs(t *testing.T) {
	w := newWalker(t)
	const ref = "core/v1/configmaps"
	there := aim{ref, w.not, theName}
	aims := map[string]aim{
		"no such object": {ref, w.not, "nothing-here"}, "no such namespace": {ref, "no-" + w.not[3:], "nothing-here"},
	}
	walks := walks()
	asked := 0
	for _, route := range w.routes(t) {
		questions, decided := walks[route]
		if !decided {
			t.Errorf("%s is a new route: decide here what it tells to whom", route)
		}
		delete(walks, route)
		for _, question := range questions {
			body, status := w.as(w.none, there.in(question))
			if strings.Contains(body, treasure) {
				t.Errorf("%s tells what there is: %.500s", question, body)
			}
			if strings.Contains(question, "REF") && !strings.HasPrefix(question, "/r/") &&
				!strings.HasPrefix(question, "/compare") && !strings.HasPrefix(question, "/login") &&
				status != http.StatusForbidden {
				t.Errorf("%s: got %d, want 403: %s", question, status, body)
			}
			asked++
			if !strings.Contains(question, "NS") && !strings.Contains(question, "NAME") {
				continue
			}
			for what, a := range aims {
				other, otherStatus := w.as(w.none, a.in(question))
				if one, none := there.masked(body), a.masked(other); status != otherStatus || one != none {
					t.Errorf("%s is another with %s: %d and %d, %s", question, what, status, otherStatus,
						differs(one, none))
				}
			}
		}
	}
	for route := range walks {
		t.Errorf("%s is no route any more", route)
	}

	told := func(a aim) map[int][]string {
		e, all, n := w.listen(t, w.none), make(map[int][]string), 0
		names := slices.Sorted(maps.Keys(frames()))
		for _, name := range names {
			n++
			e.send(fmt.Sprintf(`{"op":"subscribe","id":%d,%s}`, n, a.in(frames()[name])))
		}
		e.hear(all, func() bool { return len(all) == n })
		w.plant(t, w.not, theName, "1")
		e.hear(all, func() bool { return true })
		for id, said := range all {
			for n := range said {
				if strings.Contains(said[n], treasure) || !strings.Contains(said[n], "orbidden") {
					t.Errorf("%s: is told %s", names[id-1], said[n])
				}
				said[n] = a.masked(said[n])
			}
		}
		return all
	}
	asked += len(frames())
	want := told(there)
	for what, a := range aims {
		if got := told(a); !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("with %s subscriptions are told\n%v\nand where there is one\n%v", what, got, want)
		}
	}
	if asked < 100 {
		t.Errorf("only %d questions were asked", asked)
	}
	t.Logf("%d questions", asked)

	// A test in which everything is refused would also pass if nothing worked.
	if body, status := w.as(w.one, "/api/v1/snapshot/"+ref+"?view=objects"); status != http.StatusOK ||
		!strings.Contains(body, treasure) || strings.Contains(body, w.not) {
		t.Errorf("who may look into a namespace is told %d %s", status, body)
	}
}

// Changes that a user may not see affect no response and no message to that user.
func TestNothingIsHeardOfOthers(t *testing.T) {
	w := newWalker(t)
	const ref = "core/v1/configmaps"
	own, foreign := aim{ref, w.own, theName}, aim{ref, w.not, theName}
	questions := []string{
		"/", "/status", "/api/v1/status", "/api/v1/resources", "/api/v1/search?q=planted", "/api/v1/search?q=stir",
		"/readyz",
	}
	for _, some := range walks() {
		for _, q := range some {
			if strings.Contains(q, "REF") || strings.Contains(q, "NS") {
				questions = append(questions, own.in(q), foreign.in(q))
			}
		}
	}
	slices.Sort(questions)
	record := func(busy bool) (told map[int][]string, answers map[string]string) {
		e := w.listen(t, w.one)
		told, answers = make(map[int][]string), make(map[string]string)
		n, lives, pasts := 0, []int{}, []int{}
		for _, a := range []aim{own, foreign} {
			for _, name := range slices.Sorted(maps.Keys(frames())) {
				n++
				frame := a.in(frames()[name])
				e.send(fmt.Sprintf(`{"op":"subscribe","id":%d,%s}`, n, frame))
				if a == own && !strings.Contains(frame, `"view":"log"`) {
					lives = append(lives, n)
				}
				if strings.Contains(frame, `"view":"changes"`) {
					pasts = append(pasts, n)
				}
			}
		}
		n++
		e.send(fmt.Sprintf(`{"op":"subscribe","id":%d,"view":"resources"}`, n))
		e.hear(told, func() bool { return len(told) == n })
		for round := range 4 {
			if busy {
				for m := range 10 {
					w.plant(t, w.not, theName, fmt.Sprint(round, m))
					w.plant(t, w.not, fmt.Sprintf("stir-%d-%d", round, m), "")
				}
			}
			before := make(map[int]int)
			for _, id := range lives {
				before[id] = len(told[id])
			}
			w.plant(t, w.own, theName, strconv.Itoa((round+1)%4)) // The last value equals the first.
			e.hear(told, func() bool {
				return !slices.ContainsFunc(lives, func(id int) bool { return len(told[id]) == before[id] })
			})
		}
		// The snapshots of these views contain earlier changes.
		for _, id := range pasts {
			told[id] = slices.DeleteFunc(told[id], func(said string) bool {
				return strings.Contains(said, `"type":"snapshot"`)
			})
		}
		for id := range told {
			for n := range told[id] {
				if busy && strings.Contains(told[id][n], "stir-") {
					t.Errorf("the subscription %d is told of another's: %s", id, told[id][n])
				}
				told[id][n] = own.masked(told[id][n])
			}
		}
		for _, q := range questions {
			body, status := w.as(w.one, q)
			answers[q] = fmt.Sprint(status, " ", own.masked(body))
		}
		return told, answers
	}
	// Some data is returned only for watched resources, so start the watch first.
	first, heard := w.listen(t, w.one), make(map[int][]string)
	first.send(`{"op":"subscribe","id":1,` + own.in(`"resource":"REF","ns":["NS"],"view":"rows"`) + `}`)
	first.hear(heard, func() bool { return strings.Contains(strings.Join(heard[1], ""), `"type":"snapshot"`) })
	_, _ = record(false) // The first run starts watches. They are running in both of the next runs.
	quiet, quietAnswers := record(false)
	busy, busyAnswers := record(true)
	for id := range quiet {
		if got, want := strings.Join(busy[id], "\n"), strings.Join(quiet[id], "\n"); got != want {
			t.Errorf("subscription %d is told another thing while others are busy, %s", id, differs(got, want))
		}
	}
	for q, want := range quietAnswers {
		if got := busyAnswers[q]; got != want {
			t.Errorf("%s is another after others were busy, %s", q, differs(got, want))
		}
	}
	t.Logf("%d subscriptions and %d questions", len(quiet), len(quietAnswers))
}

// A path is decoded only once. However its escapes are written, it gives no access to an object of a namespace that the
// user may not read.
func TestNoWayAround(t *testing.T) {
	w := newWalker(t)
	w.plant(t, w.own, "configmaps", "0") // The object has the same name as its resource.
	const ref = "core/v1/configmaps"
	for _, way := range []string{
		"/OWN/../NOT/NAME", "/OWN/..%2fNOT/NAME", "/OWN%2f..%2fNOT/NAME", "/OWN/%2e%2e/NOT/NAME",
		"/OWN/%2e%2e%2fNOT%2fNAME", "/OWN/%252e%252e%252fNOT%252fNAME", "//NOT/NAME", "/OWN//NOT/NAME",
		"/OWN/NAME/../../NOT/NAME",
		"/OWN%00/../NOT/NAME", "/NOT%2fNAME/NAME", "/OWN/..;/NOT/NAME", `/OWN/..\NOT\NAME`, "/OWN,NOT/NAME",
		"/_/NOT/NAME", "/_/NAME", "/NOT/configmaps", "/configmaps/NAME", "/HEX/NAME", "/OWN/NAME?ns=NOT",
		"/OWN/NAME%3fns=NOT", "/OWN/NAME%23/NOT",
		"/NOT/NAME/log", "/NOT/NAME?name=NAME&namespace=OWN",
	} {
		for _, route := range []string{"/api/v1/object/", "/o/", "/api/v1/related/", "/api/v1/snapshot/"} {
			path := route + ref +
				strings.NewReplacer("OWN", w.own, "NOT", w.not, "HEX", "%74"+w.not[1:], "NAME", theName).Replace(way)
			body, status := w.as(w.one, path)
			theirs := regexp.MustCompile(`"?namespace"?: ?"?` + w.not).MatchString(body)
			hers := regexp.MustCompile(`"?namespace"?: ?"?` + w.own).MatchString(body)
			if theirs || strings.Contains(body, treasure) && !hers {
				t.Errorf("%s: got %d %.500s", path, status, body)
			}
		}
	}
	if body, status := w.as(w.one, "/api/v1/object/"+ref+"/"+w.own+"/configmaps"); status != http.StatusOK ||
		!strings.Contains(body, treasure) {
		t.Errorf("an object that is called as its resource is: got %d %s", status, body)
	}
}
