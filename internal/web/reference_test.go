package web_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"glasshouse/internal/web"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func reference(t *testing.T) string {
	t.Helper()
	return readFile(t, "../../docs/reference.md")
}

// handler returns all routes of a server that has no cluster.
func handler(t *testing.T) http.Handler {
	t.Helper()
	server, err := web.New(web.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// same compares two sets, and reports the differences.
func same(t *testing.T, what string, got, want map[string]bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !got[name] {
			t.Errorf("%s: %q is missing", what, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if !want[name] {
			t.Errorf("%s: %q does not exist", what, name)
		}
	}
}

type parameter struct {
	Ref      string `json:"$ref"`
	Name, In string
}

// document contains the parts of openapi.json that the tests check.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		Parameters []parameter
		Responses  map[string]any
	}
	Components struct {
		Parameters map[string]parameter
	}
}

// openAPI returns the document as the server sends it.
func openAPI(t *testing.T) (document, []byte) {
	t.Helper()
	recorder := request(t, "/api/openapi.json")
	var d document
	if err := json.Unmarshal(recorder.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d, recorder.Body.Bytes()
}

func request(t *testing.T, target string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	r.Host = "localhost"
	recorder := httptest.NewRecorder()
	handler(t).ServeHTTP(recorder, r)
	return recorder
}

// parameters returns the parameters of a path. Each has the form "in name", such as "query ns".
func (d *document) parameters(path string) map[string]bool {
	names := map[string]bool{}
	for _, operation := range d.Paths[path] {
		for _, p := range operation.Parameters {
			if p.Ref != "" {
				p = d.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
			}
			names[p.In+" "+p.Name] = true
		}
	}
	return names
}

// The API reference and openapi.json contain every route, and no other route.
func TestReferenceHasTheRoutes(t *testing.T) {
	routes, ok := handler(t).(chi.Routes)
	if !ok {
		t.Fatal("the handler is no router")
	}
	want, wantOpenAPI := map[string]bool{}, map[string]bool{}
	err := chi.Walk(routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		want[method+" "+route] = true
		wantOpenAPI[method+" "+strings.Replace(route, "*", "{file}", 1)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	got := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^### ([A-Z]+ /.*)$`).FindAllStringSubmatch(reference(t), -1) {
		got[match[1]] = true
	}
	same(t, "docs/reference.md", got, want)

	d, text := openAPI(t)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi.json is of version %q, want 3.1.0", d.OpenAPI)
	}
	got = map[string]bool{}
	for path, operations := range d.Paths {
		for method := range operations {
			got[strings.ToUpper(method)+" "+path] = true
		}
		named := map[string]bool{}
		for name := range d.parameters(path) {
			if in, name, _ := strings.Cut(name, " "); in == "path" {
				named[name] = true
			}
		}
		inPath := map[string]bool{}
		for _, match := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
			inPath[match[1]] = true
		}
		same(t, "openapi.json, "+path, named, inPath)
	}
	same(t, "openapi.json", got, wantOpenAPI)
	checkReferences(t, text)
}

// checkReferences checks that every $ref in openapi.json has a target, and that every component is used.
func checkReferences(t *testing.T, text []byte) {
	t.Helper()
	var components struct{ Components map[string]map[string]any }
	if err := json.Unmarshal(text, &components); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for kind, named := range components.Components {
		for name := range named {
			there[kind+"/"+name] = true
		}
	}
	// The messages of the WebSocket are not part of any response.
	used := map[string]bool{"schemas/ClientMessage": true, "schemas/ServerMessage": true}
	for _, match := range regexp.MustCompile(`"\$ref": "#/components/([^"]+)"`).FindAllSubmatch(text, -1) {
		used[string(match[1])] = true
	}
	same(t, "openapi.json, components", there, used)
}

// The query parameters of each route that refuses unknown ones are in openapi.json and in the reference. The test finds
// them in the refusal, which lists the known parameters.
func TestReferenceHasTheParameters(t *testing.T) {
	d, _ := openAPI(t)
	for _, path := range []string{
		"/r/{group}/{version}/{resource}", "/compare", "/api/v1/snapshot/{group}/{version}/{resource}",
		"/api/v1/search", "/api/v1/logs/{namespace}/{name}",
	} {
		var p struct{ Detail string }
		if err := json.Unmarshal(request(t, path+"?no-such-parameter=1").Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		_, list, ok := strings.Cut(strings.TrimSuffix(p.Detail, "."), "the parameters are: ")
		if !ok {
			t.Fatalf("%s does not say what it takes: %q", path, p.Detail)
		}
		want := map[string]bool{}
		_, section, _ := strings.Cut(reference(t), "### GET "+path+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		for name := range strings.SplitSeq(list, ", ") {
			want[name] = true
			if !regexp.MustCompile("(?m)^\\| [^|]*`" + name + "`").MatchString(section) {
				t.Errorf("docs/reference.md, %s: %q is missing", path, name)
			}
		}
		got := map[string]bool{}
		for name := range d.parameters(path) {
			if in, name, _ := strings.Cut(name, " "); in == "query" {
				got[name] = true
			}
		}
		same(t, "openapi.json, "+path, got, want)
	}
}

// Some refusals, such as a rate limit, apply to every route. openapi.json lists each of them for each of these routes.
func TestReferenceHasTheRefusals(t *testing.T) {
	h := handler(t)
	refusals := []func(*http.Request){
		func(r *http.Request) { r.RequestURI = "/" + strings.Repeat("a", 17<<10) },
		func(r *http.Request) {
			for n := range 101 {
				r.Header.Add("X-Some", strconv.Itoa(n))
			}
		},
		func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") },
		func(r *http.Request) { r.ContentLength = 65 << 10 },
		func(r *http.Request) { r.RemoteAddr = "192.0.2.99:1" }, // This address has sent too many requests.
		func(r *http.Request) { r.Host = "evil.test" },
	}
	answered := func(method, path string, change func(*http.Request)) string {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Host = "localhost"
		change(r)
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, r)
		return strconv.Itoa(recorder.Code)
	}
	for range 1000 {
		answered(http.MethodGet, "/", func(r *http.Request) { r.RemoteAddr, r.ContentLength = "192.0.2.99:1", 65<<10 })
	}
	d, _ := openAPI(t)
	for path, operations := range d.Paths {
		for method, operation := range operations {
			told := make(map[string]bool)
			for _, change := range refusals {
				status := answered(strings.ToUpper(method), path, change)
				if told[status] = true; operation.Responses[status] == nil {
					t.Errorf("openapi.json, %s %s: it is answered with %s, which is missing", method, path, status)
				}
			}
			if want := []string{"403", "413", "414", "415", "429", "431"}; !slices.Equal(slices.Sorted(maps.Keys(told)),
				want) {
				t.Errorf("%s %s is answered with %v, want %v", method, path, told, want)
			}
		}
	}
}

// The API reference contains the title of every problem in the source code, and no other title.
func TestReferenceHasTheProblems(t *testing.T) {
	want := map[string]bool{}
	for _, folder := range []string{".", "auth", "share", "../watch"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(node ast.Node) bool {
				for _, title := range titlesOf(node) {
					want[title] = true
				}
				return true
			})
		}
	}
	// The function choose builds this title from the name of a parameter.
	delete(want, "Unknown ")
	want["Unknown view"], want["Unknown format"] = true, true

	got := map[string]bool{}
	_, section, _ := strings.Cut(reference(t), "\n## Problem documents\n")
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| \d{3} \| [^|]+ \|$`).FindAllStringSubmatch(section, -1) {
		got[row[1]] = true
	}
	same(t, "docs/reference.md", got, want)
}

// titlesOf returns the titles of problems in a part of the source code. A title is the first argument of the functions
// that create a problem, or the value of the field Title.
func titlesOf(node ast.Node) (titles []string) {
	add := func(e ast.Expr) {
		if sum, ok := e.(*ast.BinaryExpr); ok {
			e = sum.X
		}
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if title, err := strconv.Unquote(literal.Value); err == nil {
				titles = append(titles, title)
			}
		}
	}
	switch node := node.(type) {
	case *ast.CallExpr:
		if f, ok := node.Fun.(*ast.Ident); ok &&
			slices.Contains([]string{"badRequest", "invalid", "unknown"}, f.Name) && len(node.Args) > 1 {
			add(node.Args[0])
		}
	case *ast.KeyValueExpr:
		if key, ok := node.Key.(*ast.Ident); ok && key.Name == "Title" {
			add(node.Value)
		}
	case *ast.AssignStmt:
		for i, left := range node.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && field.Sel.Name == "Title" && i < len(node.Rhs) {
				add(node.Rhs[i])
			}
		}
	}
	return titles
}

// The API reference contains the limits with the values from the source code.
func TestReferenceHasTheLimits(t *testing.T) {
	text := reference(t)
	for _, limit := range []struct{ file, source, says string }{
		{"server.go", "headerTimeout = 10 * time.Second", "| Request headers | 32 KiB, within 10 s |"},
		{"server.go", "maxHeader = 32 << 10", "| Request headers | 32 KiB, within 10 s |"},
		{"limits.go", "maxAddress = 16 << 10", "| A path with its query | 16 KiB |"},
		{"limits.go", "maxFields = 100", "| Header fields of a request | 100 |"},
		{"limits.go", "maxBody = 64 << 10", "| The body of a request | none with GET; 64 KiB elsewhere, within 30 s,"},
		{"server.go", "readTimeout = 30 * time.Second", "64 KiB elsewhere, within 30 s,"},
		{"limits.go", "addressRequests = 1000", "| Requests in flight of one address | 1,000,"},
		{
			"limits.go", "maxBodies, addressBodies = 400, 50",
			"| Bodies that are being read at a time | 400, and 50 of one address,",
		},
		{
			"limits.go", "maxRequests, leastRequests, requestParts, requestMemory = 4096, 256, 8, 64 << 10",
			"| Requests in flight of all together | 4,096 of users and guests, and 4,096 of others or not identified " +
				"yet;",
		},
		{"limits.go", "maxRateWaiters = 1000", "1,000 requests of all addresses wait like this"},
		{
			"listener.go", "maxConnections, addressConnections = 8000, 2000",
			"| Connections | 8,000, and 2,000 of one address.",
		},
		{"listener.go", "maxWaiting = 2000", "| Connections without a request | 2,000."},
		{"listener.go", "minIdle = 5 * time.Second", "down to 5 s"},
		{"server.go", "idleTimeout = 2 * time.Minute", "for 2 minutes,"},
		{"response.go", "reserveTimeout = 10 * time.Second", "waits for 10 s and then gets 429"},
		{"response.go", "stallTimeout = 20 * time.Second", "each 4 KiB of it within 20 s"},
		{"response.go", "pieceBytes = 4 << 10", "each 4 KiB of it within 20 s"},
		{
			"response.go", "least, most = 8 * mebibyte, 256 * mebibyte",
			"an eighth of `--memory-limit`, from 8 to 256 MiB",
		},
		{"../limit/budget.go", "stalledAfter = 500 * time.Millisecond", "not read for 500 ms"},
		{"../limit/budget.go", "leastRate, mostRate = 32 << 10, 1 << 20", "less than 32 KiB a second,"},
		{
			"../limit/budget.go", "leastRate, mostRate = 32 << 10, 1 << 20",
			"doubles for each second that the caller waits, up to 1 MiB a second",
		},
		{"../limit/limiter.go", "overdueAfter = time.Second", "After 1 s, memory is kept for the request"},
		{
			"../limit/budget.go", "callerParts, groupParts = 4, 2",
			"A caller has a quarter of it at most, and the guests of one link half.",
		},
		{"limits.go", "maxStreams = 100", "| Streams of one connection of HTTP/2 | 100 |"},
		{"limits.go", "addressSockets, viewerSockets = 2000, 500", "| WebSockets of one user | 500;"},
		{
			"limits.go", "linkSockets, guestSockets = 2000, 4000",
			"| WebSockets of the guests of one share | 2,000, and of all guests 4,000;",
		},
		{
			"limits.go", "socketSubscriptions = 6",
			"| Subscriptions of all connections of one user, one link, all guests, or one address | 6 for each " +
				"WebSocket that they may have |",
		},
		{"share.go", "maxParts, maxNote = 100, 1000", "| One share | 100 parts, a note of 1,000 bytes |"},
		{
			"share.go", "shortestShare, usualShare, longestShare = time.Minute, 24 * time.Hour, 30 * 24 * time.Hour",
			"from 1 minute to 30 days, and a day where nothing is said |",
		},
		{"share/store.go", "maxShares, maxOfCreator = 1000, 100", "| Shares | 1,000, and 100 of one creator;"},
		{
			"share/audit.go", "guestsEvery, guestsBurst = time.Minute, 1000",
			"there are 1,000 lines at once, and 1 a minute;",
		},
		{
			"share/audit.go", "guestsEvery, guestsBurst = time.Minute, 1000",
			"| Lines of the audit log by who does not log in | 1,000 at once, and 1 a minute, of each share that is " +
				"opened, and as many of all that is refused |",
		},
		{"share/auditfile.go", "auditSize = 10 << 20", "| The audit log | 10 MiB, and as much of the one before |"},
		{"close.go", "statusShareEnded websocket.StatusCode = 4403", "| 4403 | The share has ended,"},
		{"limits.go", "addressSockets, viewerSockets = 2000, 500", "| WebSockets of one address | 2,000;"},
		{"incoming.go", "frameRate, frameBurst = 200, 2000", "whatever is in them | 2,000 at once, and 200 a second;"},
		{"incoming.go", "addressFrames, addressFrameBurst = 2000, 20_000", "20,000 and 2,000 of all of one address;"},
		{"incoming.go", "frameBytes = 4 << 10", "each 4 KiB count as one more;"},
		{
			"limits.go", "Max: max(1, processors/2)",
			"half as many as there are processors for one user, one link or one address,",
		},
		{
			"limits.go", "Max: max(1, processors-1)",
			"and one processor less than there are for all together; at least 1 each.",
		},
		{
			"limits.go", "messageRate, messageBurst = 20, 200",
			"| Messages of one WebSocket from the client | 200 at once, and 20 a second;",
		},
		{"../watch/query.go", "maxTerms = 100", "or words of a text filter | 100 |"},
		{"keypair.go", "lookEvery = time.Second", "Both files are looked at once a second at most"},
		{
			"login.go", "maxLogin = 32 << 10",
			"| The form of a login | 32 KiB, which leads to an address of up to 8 KiB |",
		},
		{"login.go", "maxWay = 8 << 10", "| The form of a login | 32 KiB, which leads to an address of up to 8 KiB |"},
		{"auth/tokens.go", "maxToken = 16 << 10", "| A bearer token | 16 KiB |"},
		{"auth/tokens.go", "maxKept = 1000", "| Tokens of which it is remembered whose they are | 1,000, for 10 s |"},
		{"auth/tokens.go", "keptFor = 10 * time.Second", "It is remembered for 10 s, under a hash"},
		{"auth/tokens.go", "maxAsking = 16", "whose a token is, at a time | 16 |"},
		{"auth/sessions.go", "maxSessions = 1000", "| Sessions | 1,000, and 20 of one user;"},
		{"auth/sessions.go", "maxOfUser = 20", "| Sessions | 1,000, and 20 of one user;"},
		{"auth/login.go", "reviewEvery = 30 * time.Second", "asked every 30 s whether the token is good"},
		{"auth/login.go", "patience = 10 * time.Minute", "does not answer ends it after 10 minutes"},
		{"auth/login.go", "longest = 12 * time.Hour", "or after 12 h where that names none"},
		{
			"auth/oidc.go", "wayFor = 10 * time.Minute",
			"| A login at the OpenID provider | 10 minutes; its answers 10 s each |",
		},
		{
			"auth/oidc.go", "providerTimeout = 10 * time.Second",
			"| A login at the OpenID provider | 10 minutes; its answers 10 s each |",
		},
		{
			"auth/way.go", "maxWays = 10_000",
			"| Logins that come back from it and are let in | 10,000 within 10 minutes |",
		},
		{"auth/proxy.go", "proxyFor = time.Hour", "asked for anew every hour"},
		{"auth/proxy.go", "leastSecret = 16", "the secret, of 16 bytes or more"},
		{"close.go", "statusEnded websocket.StatusCode = 4401", "| 4401 | The login has ended;"},
		{"live.go", "maxSubscriptions = 100", "| Subscriptions of one connection | 100 |"},
		{"live.go", "maxFaults = 100", "| Messages of one connection that make no sense | 100;"},
		{"close.go", "maxSockets = 5000", "| WebSockets of all tabs together | 5,000;"},
		{"close.go", "stopFor = 500 * time.Millisecond", "from 500 to 5,500 ms with 1001"},
		{"close.go", "fullFor = 5 * time.Second", "from 5,000 to 10,000 ms with 1013"},
		{"close.go", "retrySpread = 5 * time.Second", "from 500 to 5,500 ms with 1001"},
		{"../watch/pace.go", "gather = 50 * time.Millisecond", "| Collecting changes under load | 50 ms;"},
		{"live.go", "maxFrame = 32 << 10", "| A frame from the client | 32 KiB;"},
		{"limits.go", "addressRate, addressBurst = 250, 4000", "of one address | 4,000 at once, and 250 a second;"},
		{"limits.go", "oversizedCost = 10", "A request that is refused for its size counts as 10 |"},
		{"limits.go", "addressWait = 10 * time.Second", "What would wait for more than 10 s is answered with 429"},
		{"live.go", "maxDrained = 1 << 20", "A frame beyond 1 MiB"},
		{"live.go", "writeTimeout = 10 * time.Second", "| A message to the client | 10 s "},
		{"live.go", "pingInterval = 25 * time.Second", "| Ping | every 25 s, to be answered within 30 s |"},
		{"live.go", "pongTimeout = 30 * time.Second", "| Ping | every 25 s, to be answered within 30 s |"},
		{"live.go", "pongTimeout = 30 * time.Second", "ends a connection that does not answer within 30 s,"},
		{"../watch/paper.go", "CompressFrom = 1 << 10", "frames of 1 KiB and more"},
		{"live.go", `subprotocol = "glasshouse.v1+json"`, "the subprotocol `glasshouse.v1+json`"},
		{"../related/related.go", "maxNodes = 200", "| Nodes of one graph of relations | 200 |"},
		{
			"../related/related.go", "maxAlike, shareAlike = 20, 120",
			"| Objects of one kind and one owner in it, one by one | 20;",
		},
		{"../related/related.go", "maxKinds, maxReads = 16, 60", "| Kinds that are looked through for it | 16 |"},
		{
			"../related/related.go", "maxKinds, maxReads = 16, 60",
			"| Objects that are looked up for it, one by one | 60;",
		},
		{
			"../related/related.go", "listWait, readWait = 3 * time.Second, 5 * time.Second",
			"3 s are waited for first lists, and 5 s in all",
		},
		{
			"logs.go", "maxLogs = 100",
			"| Logs that are read at a time, by all together, over HTTP and the WebSocket | 100;",
		},
		{
			"limits.go", "viewerLogs, linkLogs, guestLogs = 25, 25, 50",
			"| 100; 25 of them by one user, 25 through one link, and 50 through all links;",
		},
		{
			"../watch/pool.go", "maxFieldScopes, userFieldScopes = 20, 10",
			"of all together | 20; 10 of them of one user,",
		},
		{
			"../watch/pool.go", "linkFieldScopes, guestFieldScopes = 5, 10",
			"of one user, 5 through one link, and 10 through all links;",
		},
		{
			"logs.go", "logTail, maxTail = 500, 5000",
			"| Lines of a log at the start | 500 where `tail` says nothing, 5,000 at most |",
		},
		{"live.go", "writeTimeout = 10 * time.Second", "| Part of a log to a client | 10 s "},
		{"logs.go", "logPatience = 2 * time.Second", "has nothing in it yet is answered after 2 s"},
		{"logs.go", "logPatience = 2 * time.Second", "comes after 2 s at the latest where the log is followed"},
		{"logs.go", "logChunk = 64 << 10", "| Part of a log to a client | 10 s to be written, 64 KiB |"},
		{"snapshot.go", "snapshotWait = 5 * time.Second", "| `wait` | `5s` |"},
		{"snapshot.go", "maxWait = time.Minute", "`0s` to `1m`"},
		{"pages.go", "pageRows = 100", "the first 100 rows"},
		{"../watch/query.go", "maxNamespaces = 200", "| Namespaces of one filter | 200 |"},
		{"../watch/query.go", "maxSelector = 4 << 10", "text filter | 4,096 bytes |"},
		{"../watch/query.go", "len(name) > 253", "| An object's name | 253 characters |"},
		{"../watch/reading.go", "Heartbeat = 15 * time.Second", "| Silence on a subscription | 15 s |"},
		{"../watch/digest.go", "digestEvery = time.Minute", "Comes every 60 s"},
		{"../watch/reading.go", "batch = 1000", "| Changes in one message | 1,000 |"},
		{"../watch/reading.go", "chunk = 128 << 10", "parts of about 128 KiB"},
		{"../watch/reading.go", "chunk = 128 << 10", "a message ends after about 128 KiB"},
		{"../watch/table.go", "chunkRows = 2000", "A part has 2,000 rows at most"},
		{"parts.go", "wholeUpTo, partBytes = 192 << 10, 64 << 10", "A message of more than 192 KiB"},
		{"parts.go", "wholeUpTo, partBytes = 192 << 10, 64 << 10", "about 64 KiB of it"},
		{"../watch/catalog.go", "followAge = 9 * time.Second", "within 10 s elsewhere"},
		{"../watch/rights.go", "reviewEvery = 10 * time.Second", "asked every 10 s"},
		{"../watch/rights.go", "deniedEvery = 30 * time.Second", "every 30 s) whether"},
		{
			"../watch/rights.go", "reviewPace = 10 * time.Millisecond",
			"| Access reviews of single namespaces | 100 a second",
		},
		{"../watch/feed.go", "pollInterval = 30 * time.Second", "listed every 30 s"},
		{
			"../watch/health/health.go", "maxDetails = 20",
			"| The health of an object | 20 details, 1,000 bytes a sentence |",
		},
		{
			"../watch/health/health.go", "maxText = 1000",
			"| The health of an object | 20 details, 1,000 bytes a sentence |",
		},
		{"../watch/search.go", "maxSearch = 320", "| A search | 320 bytes; 100 objects of those that it finds |"},
		{"search.go", "maxSearchLimit = 100", "| A search | 320 bytes; 100 objects of those that it finds |"},
		{"search.go", "searchLimit = 20", "| `limit` | `20` | At most so many objects, up to 100. |"},
		{"../watch/changes.go", "feedChanges = 200", "`changes` | the newest 200, and about 1 MiB |"},
		{"../watch/changes.go", "feedBytes = 1 << 20", "`changes` | the newest 200, and about 1 MiB |"},
		{"../watch/catalog.go", "maxAge = 10 * time.Second", "An answer older than 10 s"},
		{"../watch/cluster.go", "discoveryTimeout = 30 * time.Second", "0 stands for 30 s"},
		{"../watch/window.go", "maxWindow = 1000", "| Rows of a window | 1,000 |"},
		{"../watch/window.go", "maxOffset = 1 << 30", "from 0 to 1,073,741,824"},
		{
			"../watch/rankings.go", "maxRankings = 100",
			"that windows are held of | 100 of one user's, 100 through one link,",
		},
		{"../watch/rankings.go", "maxGuestRankings = 500", "500 through all links, 1,000 in all"},
		{"../watch/rankings.go", "maxAllRankings = 1000", "1,000 in all; one that nobody holds"},
		{
			"../watch/rankings.go", "maxAllRankings = 1000",
			"100 of one viewer's, 500 of all whom something is shared with, and 1,000 in all, of one resource",
		},
		{"../watch/rankings.go", "rankingLinger = 30 * time.Second", "nobody holds goes after 30 s"},
		{"../watch/guard.go", "lookEvery = 10 * time.Second", "asked again every 10 s while"},
		{"../watch/guard.go", "age{10 * time.Second, 10 * time.Second}", "An answer is good for 10 s,"},
		{"../watch/guard.go", "age{2 * time.Second, 45 * time.Second}", "for what goes on 2 s, a refusal 45 s"},
		{
			"../watch/guard.go", "maxLooked = 1000",
			"| Namespaces in which a user's rights are asked for one by one | 1,000;",
		},
		{"../watch/guard.go", "maxRights = 20_000", "| Rights of users that are remembered | 20,000 |"},
		{"../watch/guard.go", "userReviews = 32", "| Access reviews for users on their way at once | 32 for one user,"},
		{"../watch/guard.go", "allReviews = 128", "32 for one user, 128 for all |"},
		{
			"../watch/asked.go", "maxAsked = 500",
			"| Namespaces of one resource that are looked at one by one, where not all may be watched | 500 |",
		},
	} {
		source := strings.Join(strings.Fields(readFile(t, limit.file)), " ")
		if !strings.Contains(source, limit.source) {
			t.Errorf("%s no longer has %q: set docs/reference.md and this test right", limit.file, limit.source)
		}
		if !strings.Contains(text, limit.says) {
			t.Errorf("docs/reference.md does not say %q (%s in %s)", limit.says, limit.source, limit.file)
		}
	}
}
