package web_test

import (
	"encoding/json"
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

	"github.com/glasshouse-project/glasshouse/internal/web"
)

// readPackage returns the source code of a package, without its test files.
func readPackage(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("read %s: got files %v, error %v", folder, files, err)
	}
	var text strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text.WriteString(readFile(t, file))
		}
	}
	return text.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// apiReference returns docs/api.md, the document about the routes and the WebSocket.
func apiReference(t *testing.T) string {
	t.Helper()
	return readFile(t, "../../docs/api.md")
}

func handler(tb testing.TB) http.Handler {
	tb.Helper()
	handler, err := newServerWithoutCluster(tb, web.Options{}).Handler()
	if err != nil {
		tb.Fatal(err)
	}
	return handler
}

// wantSameNames compares the names in a document with the wanted names, and reports the differences.
func wantSameNames(t *testing.T, document string, got, want map[string]bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !got[name] {
			t.Errorf("%s: %q is missing", document, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if !want[name] {
			t.Errorf("%s: %q does not exist", document, name)
		}
	}
}

type parameter struct {
	Ref      string `json:"$ref"`
	Name, In string
}

// document is the part of openapi.json that the tests check.
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

// openAPI returns openapi.json as the server sends it, decoded and as JSON text.
func openAPI(t *testing.T) (document, []byte) {
	t.Helper()
	recorder := responseTo(t, "/api/openapi.json")
	var doc document
	if err := json.Unmarshal(recorder.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, recorder.Body.Bytes()
}

func responseTo(t *testing.T, target string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	r.Host = "localhost"
	recorder := httptest.NewRecorder()
	handler(t).ServeHTTP(recorder, r)
	return recorder
}

// parameters returns the parameters of a path, each in the form "location name", such as "query ns".
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

// docs/api.md and openapi.json contain every route, and no route that does not exist.
//
// Invariant: I47.
func TestReferenceHasTheRoutes(t *testing.T) {
	want, wantOpenAPI := map[string]bool{}, map[string]bool{}
	for _, route := range routeTable(t) {
		want[route.method+" "+route.pattern] = true
		wantOpenAPI[route.method+" "+strings.Replace(route.pattern, "*", "{file}", 1)] = true
	}

	got := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^### ([A-Z]+ /.*)$`).FindAllStringSubmatch(apiReference(t), -1) {
		got[match[1]] = true
	}
	wantSameNames(t, "docs/api.md", got, want)

	d, text := openAPI(t)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi.json has version %q, want 3.1.0", d.OpenAPI)
	}
	got = map[string]bool{}
	for path, operations := range d.Paths {
		for method := range operations {
			got[strings.ToUpper(method)+" "+path] = true
		}
		documented := map[string]bool{}
		for name := range d.parameters(path) {
			if in, name, _ := strings.Cut(name, " "); in == "path" {
				documented[name] = true
			}
		}
		inPath := map[string]bool{}
		for _, match := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
			inPath[match[1]] = true
		}
		wantSameNames(t, "openapi.json, "+path, documented, inPath)
	}
	wantSameNames(t, "openapi.json", got, wantOpenAPI)
	checkReferences(t, text)
}

// checkReferences checks that every $ref in openapi.json has a target, and that every component is referenced.
func checkReferences(t *testing.T, text []byte) {
	t.Helper()
	var components struct{ Components map[string]map[string]any }
	if err := json.Unmarshal(text, &components); err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for kind, group := range components.Components {
		for name := range group {
			defined[kind+"/"+name] = true
		}
	}
	// No response refers to the schemas of WebSocket messages, so count them as used.
	used := map[string]bool{"schemas/ClientMessage": true, "schemas/ServerMessage": true}
	for _, match := range regexp.MustCompile(`"\$ref": "#/components/([^"]+)"`).FindAllSubmatch(text, -1) {
		used[string(match[1])] = true
	}
	wantSameNames(t, "openapi.json, components", defined, used)
}

// openapi.json and docs/api.md contain the query parameters of each route that refuses unknown parameters.
//
// Invariant: I47.
func TestReferenceHasTheParameters(t *testing.T) {
	d, _ := openAPI(t)
	for _, path := range []string{
		"/r/{group}/{version}/{resource}", "/compare", "/api/v1/snapshot/{group}/{version}/{resource}",
		"/api/v1/search", "/api/v1/logs/{namespace}/{name}",
	} {
		t.Run(path, func(t *testing.T) {
			var p struct{ Detail string }
			if err := json.Unmarshal(responseTo(t, path+"?no-such-parameter=1").Body.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			_, list, ok := strings.Cut(strings.TrimSuffix(p.Detail, "."), "the parameters are: ")
			if !ok {
				t.Fatalf("the problem does not list the accepted values: %q", p.Detail)
			}
			want := map[string]bool{}
			_, section, _ := strings.Cut(apiReference(t), "### GET "+path+"\n")
			section, _, _ = strings.Cut(section, "\n### ")
			for name := range strings.SplitSeq(list, ", ") {
				want[name] = true
				if !regexp.MustCompile("(?m)^\\| [^|]*`" + name + "`").MatchString(section) {
					t.Errorf("docs/api.md: %q is missing", name)
				}
			}
			got := map[string]bool{}
			for name := range d.parameters(path) {
				if in, name, _ := strings.Cut(name, " "); in == "query" {
					got[name] = true
				}
			}
			wantSameNames(t, "openapi.json, "+path, got, want)
		})
	}
}

// openapi.json lists the statuses of general refusals, such as a rate limit, for every route.
//
// Invariant: I47.
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
		func(r *http.Request) { r.RemoteAddr = "192.0.2.99:1" }, // This address has used up its rate limit.
		func(r *http.Request) { r.Host = "evil.test" },
	}
	statusOf := func(method, path string, change func(*http.Request)) string {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Host = "localhost"
		change(r)
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, r)
		return strconv.Itoa(recorder.Code)
	}
	for range 1000 {
		statusOf(http.MethodGet, "/", func(r *http.Request) { r.RemoteAddr, r.ContentLength = "192.0.2.99:1", 65<<10 })
	}
	d, _ := openAPI(t)
	for path, operations := range d.Paths {
		for method, operation := range operations {
			statuses := make(map[string]bool)
			for _, change := range refusals {
				status := statusOf(strings.ToUpper(method), path, change)
				if statuses[status] = true; operation.Responses[status] == nil {
					t.Errorf("openapi.json, %s %s: status %s is missing", method, path, status)
				}
			}
			if want := []string{"403", "413", "414", "415", "429", "431"}; !slices.Equal(slices.Sorted(maps.Keys(statuses)),
				want) {
				t.Errorf("%s %s: got statuses %v, want %v", method, path, statuses, want)
			}
		}
	}
}

// The numbers in docs/reference.md and docs/api.md are equal to the constants in the source code.
//
// Invariant: I47.
func TestReferenceHasTheLimits(t *testing.T) {
	// Join all lines, so that line breaks in the documents do not matter.
	text := strings.Join(strings.Fields(readFile(t, "../../docs/reference.md")+apiReference(t)), " ")
	for _, limit := range []struct{ folder, source, want string }{
		{"live", `subprotocol = "glasshouse.v1+json"`, "the subprotocol `glasshouse.v1+json`"},
		{"live", "pingInterval = 25 * time.Second", "The server pings every 25 s."},
		{"live", "pongTimeout = 30 * time.Second", "does not respond within 30 s."},
		{"listen", "WriteTimeout = 10 * time.Second", "takes more than 10 s to read a message or a chunk."},
		{"live", "maxInvalidMessages = 100", "| 1008 | More than 100 invalid messages. |"},
		{"live", "maxDrained = 1 << 20", "| 1009 | A frame of more than 1 MiB. |"},
		{"live", "statusEnded websocket.StatusCode = 4401", "| 4401 | The login has ended."},
		{"live", "statusShareEnded websocket.StatusCode = 4403", "| 4403 | The share link has ended. |"},
		{"live", "stopRetryDelay = 500 * time.Millisecond", "500 to 5,500 ms with 1001"},
		{"live", "retrySpread = 5 * time.Second", "500 to 5,500 ms with 1001"},
		{"live", "fullRetryDelay = 5 * time.Second", "5,000 to 10,000 ms with 1013"},
		{"listen", "AddressWait = 10 * time.Second", "A request beyond the rate waits. After a wait of 10 s, it gets 429."},
		{"request", "MaxBody = 64 << 10", "JSON of at most 64 KiB"},
		{"page", "maxLogin = 32 << 10", "up to 32 KiB), sets the session cookie"},
		{"listen", "statInterval = time.Second", "checks whether the two files have changed, but at most once a second"},
		{"auth", "cacheTTL = 10 * time.Second", "caches the user of a valid token for 10 s, under a hash"},
		{"auth", "reviewInterval = 30 * time.Second", "reviews the bearer token of the session every 30 s"},
		{"auth", "reviewGracePeriod = 10 * time.Minute", "does not respond to the reviews for 10 minutes"},
		{"auth", "defaultLifetime = 12 * time.Hour", "the session ends after 12 h"},
		{"auth", "proxyIdentityTTL = time.Hour", "After an hour, the server ends each WebSocket, and each response"},
		{"auth", "minSecret = 16", "the secret in this file must have at least 16 bytes"},
		{"auth", "providerLoginTimeout = 10 * time.Minute", "only within 10 minutes, and only once"},
		{"api", "maxParts, maxNote = 100, 1000", "1 to 100 parts, each for a different resource"},
		{"api", "maxParts, maxNote = 100, 1000", "one line of at most 1,000 bytes. Guests see it."},
		{"share", "MinLifetime = time.Minute", "60 to 2592000 (30 days); default 86400"},
		{"share", "DefaultLifetime = 24 * time.Hour", "60 to 2592000 (30 days); default 86400"},
		{"share", "MaxLifetime = 30 * 24 * time.Hour", "60 to 2592000 (30 days); default 86400"},
		{"share", "auditSize = 10 << 20", "reaches 10 MiB, the program renames it"},
		{"share", "lockTimeout = 30 * time.Second", "a new program waits up to 30 s for the lock"},
		{"page", "pageRows = 100", "the first 100 rows"},
		{"api", "searchLimit = 20", "| `limit` | `20` | The maximum number of objects, up to 100. |"},
		{"api", "maxSearchLimit = 100", "| `limit` | `20` | The maximum number of objects, up to 100. |"},
		{"api", "snapshotWait = 5 * time.Second", "| `wait` | `5s` |"},
		{"api", "maxWait = time.Minute", "`0s` to `1m`"},
		{"live", "maxEvery = 1000", "in milliseconds, up to 1,000,"},
		{
			"live", "maxUnchunked, chunkBytes = 192 << 10, 64 << 10",
			"a message of more than 192 KiB in chunks of about 64 KiB",
		},
		{
			"logstream", "DefaultTail, maxTail = 500, 5000",
			"| `tail` | `500` | The number of newest lines at the start, at most 5,000. |",
		},
		{"logstream", "logOpenWait = 2 * time.Second", "with `follow=true`, the response starts after 2 s"},
		{"logstream", "logOpenWait = 2 * time.Second", "the client gets the first message within 2 s"},
		{"logstream", "logChunk = 64 << 10", "a part of the log, with at most 64 KiB"},
		{"../logsample", "MaxPerPeriod = 10", "at most 10 times a minute"},
		{
			"../relations", "maxPerGroup, maxOwnNodes = 20, 120",
			"at most 20 objects have their own nodes",
		},
		{
			"../relations", "listWait, readWait = 3 * time.Second, 5 * time.Second",
			"up to 3 s for the first lists of these resources",
		},
		{
			"../relations", "listWait, readWait = 3 * time.Second, 5 * time.Second",
			"response together, including the wait for these lists, take up to 5 s",
		},
		{"../watch/messages", "CompressFrom = 1 << 10", "frames of 1 KiB and more"},
		{"../watch/query", "len(name) > 253", "| Name of an object | 253 characters |"},
		{"../watch/stream", "Heartbeat = 15 * time.Second", "after 15 s without a message"},
		{"../watch", "Batch = 1000", "changes in order, at most 1,000 in one message"},
		{"../watch/messages", "PartBytes = 128 << 10", "in messages of about 128 KiB"},
		{"../watch/messages", "PartBytes = 128 << 10", "has at most about 128 KiB"},
		{"../watch/messages", "maxPartRows = 2000", "A message has at most 2,000 rows and about 128 KiB"},
		{"../watch/informer/shared", "digestEvery = time.Minute", "every 60 s in the views"},
		{"../watch/stream", "maxHistoryChanges = 200", "at most 200 and about 1 MiB"},
		{"../watch/stream", "maxHistoryBytes = 1 << 20", "at most 200 and about 1 MiB"},
		{"../watch/catalog", "followInterval = 9 * time.Second", "the delay is at most 10 s."},
		{"../watch/catalog", "discoveryMaxAge = 10 * time.Second", "the result of discovery is older than 10 s"},
		{"../watch", "discoveryTimeout = 30 * time.Second", "The value 0 (default) means 30 s"},
		{"../watch/informer", "pollInterval = 30 * time.Second", "possibly lists the resource every 30 s instead"},
		{"../watch/authz", "ReviewEvery = 10 * time.Second", "reviews the cluster-wide permission every 10 s"},
		{
			"../watch/informer/reconcile", "deniedEvery = 30 * time.Second",
			"forbidden namespace every 30 s or less often",
		},
		{"../watch/authz", "RecheckEvery = 10 * time.Second", "rechecks the permission of the user every 10 s"},
		{"../watch/authz", "RecheckTimeout = 3 * time.Second", "cannot determine within 3 s"},
		{"../watch/authz", "DecisionTTL{10 * time.Second, 10 * time.Second}", "| Single requests | 10 s | 10 s |"},
		{
			"../watch/authz", "DecisionTTL{2 * time.Second, 45 * time.Second}",
			"| Rechecks of subscriptions, logs and long responses | 2 s | 45 s |",
		},
		{"../watch/informer/reconcile", "estimateDelay = time.Minute", "makes a new estimate after 1 minute."},
		{"../watch/informer/reconcile", "relistDelay = 5 * time.Minute", "stops the list, and tries again after 5 minutes."},
		{"../watch/query", "MaxWindow = 1000", "`count` from 1 to 1,000"},
		{"../watch/query", "maxOffset = 1 << 30", "from 0 (default) to 1,073,741,824"},
		{"../watch/ranking", "rankingLinger = 30 * time.Second", "ranking for 30 s after its last window has ended"},
		{"../watch/health/result", "maxDetails = 20", "`details` is an array of up to 20 more"},
		{"../watch/health/result", "maxText = 1000", "at most 1,000 bytes and no line breaks"},
		{"../../cmd/dashboard", "loginTimeout = 30 * time.Second", "takes more than 30 s, the previous context stays active"},
	} {
		t.Run(limit.source+", "+limit.want, func(t *testing.T) {
			source := strings.Join(strings.Fields(readPackage(t, limit.folder)), " ")
			if !strings.Contains(source, limit.source) {
				t.Errorf("%s does not contain %q: update the documents and this test", limit.folder, limit.source)
			}
			if !strings.Contains(text, limit.want) {
				t.Errorf("the documents do not contain %q (%s in %s)", limit.want, limit.source, limit.folder)
			}
		})
	}
}
