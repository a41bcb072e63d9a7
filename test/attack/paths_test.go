package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

func decode(text string, target any) error { return json.Unmarshal([]byte(text), target) }

// hasValidStatus reports whether the server has responded with a status below 500. The status is 0 if the server has
// closed the connection without a response, which is not allowed for the inputs in this file.
func hasValidStatus(a *response) bool {
	return a.status >= http.StatusOK && a.status < http.StatusInternalServerError
}

// The server decodes a path only once, so escape sequences give no access to other namespaces.
//
// Invariant: I18.
func TestPathTraversalIsRefused(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		t := &tally{probe: p}
		hidden, visible := s.hidden, s.namespace
		paths := []string{
			"/api/v1/object/core/v1/..%2fv1%2fconfigmaps/" + hidden + "/" + sameName,
			"/o/core/v1/..%2fv1%2fconfigmaps/" + hidden + "/" + sameName,
			"/api/v1/snapshot/core/v1/configmaps?view=objects&ns=" + hidden,
			"/api/v1/snapshot/core/v1/configmaps?view=objects&ns=" + visible + "&ns=" + hidden,
			"/api/v1/snapshot/core/v1/configmaps?view=objects&ns=" + visible + "%2f..%2f" + hidden,
			"/api/v1/snapshot/core/v1/configmaps?view=objects&ns=" + visible + "&fields=metadata.namespace%3D" + hidden,
			"/api/v1/logs/" + visible + "%2f..%2fshop/" + s.pod + "x?tail=1",
			"/static/../go.mod",
			"/static/..%2f..%2f..%2fetc%2fpasswd",
			"/static/%2e%2e/%2e%2e/etc/passwd",
			"/static//etc/passwd",
			"//api/v1/object/core/v1/configmaps/" + hidden + "/" + sameName,
			"//o/core/v1/configmaps/" + hidden + "/" + sameName,
			"/static/../api/v1/object/core/v1/configmaps/" + hidden + "/" + sameName,
			"/static/../o/core/v1/configmaps/" + hidden + "/" + sameName,
		}
		parts := strings.NewReplacer("OWN", visible, "NOT", hidden, "HEX", fmt.Sprintf("%%%x%s", hidden[0], hidden[1:]),
			"NAME", sameName)
		for _, suffix := range []string{
			"/NOT/NAME", "/OWN/../NOT/NAME", "/OWN/..%2fNOT/NAME", "/OWN%2f..%2fNOT/NAME",
			"/OWN/%2e%2e/NOT/NAME", "/OWN/%2e%2e%2fNOT%2fNAME", "/OWN/%252e%252e%252fNOT%252fNAME",
			"/OWN/..%252fNOT/NAME", "/OWN/..%2f..%2fNOT%2fconfigmaps%2fNAME", "%2fNOT/OWN/NAME", "//NOT/NAME",
			"/OWN//NOT/NAME", "/OWN/NAME/../../NOT/NAME", "/OWN%00/../NOT/NAME", "/NOT%00/NAME",
			"/NOT%2fNAME/NAME", "/OWN/..;/NOT/NAME", `/OWN/..\NOT\NAME`, "/OWN,NOT/NAME", "/_/NOT/NAME",
			"/_/NAME", "/*/NAME", "/configmaps/NAME", "/HEX/NAME", "/OWN/NAME?ns=NOT", "/OWN/NAME%3fns=NOT",
			"/OWN/NAME%23/NOT", "/NOT/NAME%3Fx", "/NOT/NAME/log", "/NOT/NAME?name=NAME&namespace=OWN",
		} {
			for _, route := range []string{"/api/v1/object/", "/o/", "/api/v1/related/", "/api/v1/snapshot/"} {
				paths = append(paths, route+configMaps+parts.Replace(suffix))
			}
		}
		path := "/api/v1/object/" + configMaps + parts.Replace("/NOT/NAME")
		if control := s.do(get(path, bearer(s.creator))); !strings.Contains(control.body, "hidden-value") {
			p.Fatalf("GET hidden object as admin: got %d %s, so the test is not valid", control.status, control.body)
		}
		own := s.do(get("/api/v1/object/"+configMaps+parts.Replace("/OWN/NAME"), bearer(s.restricted)))
		if !strings.Contains(own.body, "visible-value") {
			p.Fatalf("GET object with the name of its resource: got %d %s, want 200", own.status, own.body)
		}
		hasHidden := regexp.MustCompile(`hidden-value|root:|"?(ns|namespace)"?: ?"?` + hidden)
		for identity, headers := range s.identities(guest) {
			for _, path := range paths {
				a := s.tryRequest(get(path, headers...))
				t.check(!hasHidden.MatchString(a.body) && hasValidStatus(a), "%s as %s: got %d %.100s", path, identity,
					a.status, a.body)
			}
		}
		t.require("S25: traversal", "no hidden object, a response, no 5xx")
	})
}

func TestCrashInputsGetResponses(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		t := &tally{probe: p}
		snapshot := "/api/v1/snapshot/" + configMaps + "?"
		deep := strings.Repeat("[", 60_000)
		requests := []request{
			get(snapshot + "limit=-1"),
			get(snapshot + "limit=9223372036854775808"),
			get(snapshot + "sort=%00"),
			get(snapshot + "cols=" + strings.Repeat("a,", 5000)),
			get(snapshot + "labels=" + strings.Repeat("a%3Db,", 2000)),
			get(snapshot + "labels=((("),
			get(snapshot + "fields=a%3Db%3Dc"),
			get(snapshot + "wait=1e309s"),
			get(snapshot + "q=%ff%fe"),
			get(snapshot + "q=" + strings.Repeat("%2a", 3000)),
			get(snapshot + "ns=%ff"),
			get(snapshot + "ns=" + strings.Repeat("a", 300)),
			get(snapshot + strings.Repeat("ns=a&", 2000)),
			get("/api/v1/search?q=" + strings.Repeat("%28", 1000) + "&limit=-5"),
			get("/%"),
			get("/%zz"),
			get("/\xff"),
			get("/api/v1/object/%00/%00/%00/%00/%00"),
			get("/r/../../.."),
			get("/o/core/v1/pods/_/" + strings.Repeat("a", 10_000)),
			get("/compare?a=%00&b=%00"),
			get("/api/v1/logs/shop/" + s.pod + "?since=-1e400h"),
			get("/api/v1/logs/shop/" + s.pod + "?tail=-9223372036854775808"),
			get("/api/v1/related/core/v1/nodes/x/y"),
			get("/login?to=" + strings.Repeat("/", 9000)),
			get("/login/callback?code=%00&state=%00"),
			post("/share", deep),
			post("/share", `{"token":`+deep),
			post("/api/v1/shares", deep),
			post("/api/v1/shares", `{"parts":`+deep),
			post("/api/v1/shares", `{"parts":[{"resource":"`+strings.Repeat("a", 60_000)+`"}],"to":"/"}`),
			post("/api/v1/shares", `{"parts":null,"to":null,"seconds":1e400}`),
			post("/login", "token="+strings.Repeat("%00", 10_000)),
			get("/", "Cookie: "+strings.Repeat("a=b; ", 3000)),
			get("/", "Authorization: Bearer "+strings.Repeat("a", 9000)),
			get("/", "Authorization: Bearer a.b.c"),
			get("/", "Accept: "+strings.Repeat("text/csv,", 2000)),
			get("/", "If-None-Match: "+strings.Repeat(`"a",`, 3000)),
			get("/api/v1/live", livetest.UpgradeHeader("Sec-WebSocket-Version: 99")...),
		}
		for identity, headers := range map[string][]string{
			"guest": {guest}, "user": {bearer(s.creator)}, "no login": nil,
		} {
			for _, r := range requests {
				r.headers = append(append([]string{}, r.headers...), headers...)
				a := s.tryRequest(r)
				t.check(hasValidStatus(a) && !s.hasEnded(),
					"%s %.100s as %s: got %d %.200s",
					r.method, r.path, identity, a.status, a.body)
			}
		}
		panics := strings.Count(s.program.Log(), "panic=") + strings.Count(s.program.Log(), "goroutine ")
		t.check(panics == 0, "the log contains %d panics", panics)
		t.require("S42: inputs that crashed similar programs", "a response, no 5xx, no panic")
	})
}
