package attack

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// All wrong tokens get the same response, so that none reveals how similar a token is.
func TestLinkTokensCannotBeGuessed(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		token, guest := s.share("/r/"+configMaps+"?ns="+s.namespace,
			part{Resource: configMaps, Namespaces: []string{s.namespace}})
		t := &tally{probe: p}
		flipped := flip(token[:1]) + token[1:]
		name, value, _ := strings.Cut(strings.TrimPrefix(guest, "Cookie: "), "=")
		wrong := s.do(post("/share", `{"token":"x"}`)).body
		guesses := []string{
			"", token[:len(token)-1], token + "A", flipped, strings.ToLower(token), strings.ToUpper(token),
			value, token + "=", " " + token, "*", "%",
		}
		for range shortOrFull(100, 2000) {
			random := make([]byte, 32)
			_, _ = rand.Read(random)
			guesses = append(guesses, base64.RawURLEncoding.EncodeToString(random))
		}
		for _, guess := range guesses {
			a := s.tryRequest(post("/share", fmt.Sprintf(`{"token":%q}`, guess)))
			t.check(a.status == http.StatusNotFound && a.body == wrong && a.header.Get("Set-Cookie") == "",
				"POST /share with the token %q: got %d %s, want 404", guess, a.status, a.body)
		}
		for _, cookie := range []string{value[:len(value)-1], flip(value[:1]) + value[1:], token, "", value + "A"} {
			a := s.tryRequest(get("/api/v1/snapshot/"+configMaps, "Cookie: "+name+"="+cookie))
			t.check(a.status == http.StatusUnauthorized, "request with the cookie %q: got status %d, want 401", cookie, a.status)
		}
		t.require("S35: guesses of a link's token and cookie", "equal 404 and 401 responses")
	})
}

func flip(letter string) string {
	if letter == "A" {
		return "B"
	}
	return "A"
}

// A guest can read only the content of its share link, even with the token of the link's creator.
func TestGuestsReadOnlyTheirScope(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		s.health(1) // This creates a ConfigMap that the link does not share.
		_, guest := s.share("/r/"+configMaps+"?ns="+s.namespace+"&labels=size%3Dlarge",
			part{Resource: configMaps, Namespaces: []string{s.namespace}, Labels: "size=large"})
		t := &tally{probe: p}
		snapshot := "/api/v1/snapshot/" + configMaps
		shared := s.do(get(snapshot+"?ns="+s.namespace, guest))
		if shared.status != http.StatusOK || !strings.Contains(shared.body, `"large-0"`) {
			p.Fatalf("shared objects: got %d %.300s, so the test is not valid", shared.status, shared.body)
		}
		others := []string{`"small-`, `"huge-`, pulseName, s.hidden + `"`, "storefront"}
		for _, path := range []string{
			snapshot,
			snapshot + "?ns=" + s.hidden,
			snapshot + "?ns=" + s.namespace + "&labels=size%3Dsmall",
			snapshot + "?labels=size",
			snapshot + "?labels=size+notin+(large)",
			snapshot + "?fields=metadata.name%3Dsmall-0",
			snapshot + "?q=small",
			"/api/v1/object/" + configMaps + "/" + s.namespace + "/small-0",
			"/o/" + configMaps + "/" + s.namespace + "/small-0",
			"/api/v1/related/" + configMaps + "/" + s.namespace + "/small-0",
			"/api/v1/snapshot/core/v1/pods?ns=shop",
			"/api/v1/snapshot/core/v1/secrets?ns=" + s.namespace,
			"/api/v1/snapshot/core/v1/namespaces",
			"/api/v1/logs/shop/" + s.pod,
			"/api/v1/search?q=small",
			"/api/v1/search?q=pulse",
			"/api/v1/status",
			"/api/v1/resources",
			"/status",
			"/",
			"/compare?a=" + configMaps + "/" + s.namespace + "/small-0",
			"/api/v1/shares",
			"/api/v1/contexts",
			"/contexts",
			"/r/core/v1/pods?ns=shop",
		} {
			for _, headers := range [][]string{{guest}, {guest, bearer(s.creator)}} {
				a := s.tryRequest(get(path, headers...))
				for _, other := range others {
					// A response that repeats a name from its own request path reveals nothing.
					leaks := strings.Contains(a.body, other) && !strings.Contains(path, strings.Trim(other, `"`))
					t.check(!leaks, "%s: got status %d with %s in the response", path, a.status, other)
				}
			}
		}
		a := s.tryRequest(post("/api/v1/shares", `{"parts":[{"resource":"core/v1/pods"}],"to":"/r/core/v1/pods"}`, guest,
			bearer(s.creator)))
		t.check(a.status == http.StatusForbidden, "a guest created a share: %d %s", a.status, a.body)
		t.require("S36: objects outside the link's scope, read by a guest", "nothing")
	})
}
