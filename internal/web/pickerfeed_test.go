package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"glasshouse/internal/watch/apitest"
	"glasshouse/internal/web/auth"
)

// openAsUser opens a WebSocket with the bearer token of the user name.
func (b *bubble) openAsUser(name string) *tab {
	b.t.Helper()
	conn, _, err := websocket.Dial(b.t.Context(), "ws://127.0.0.1/api/v1/live", &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: &http.Transport{DialContext: b.dial}},
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + name + ".token"}},
		Subprotocols: []string{"glasshouse.v1+json"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	b.t.Cleanup(func() { _ = conn.CloseNow() })
	return &tab{t: b.t, conn: conn, timeout: 24 * time.Hour} // The clock is fake, so a long timeout takes no time.
}

// Invariant: S24. The view resources reveals nothing about a resource to a user who is not permitted to see all its
// objects. It reveals neither whether the resource is watched, nor whether its watch is interrupted, nor how many
// objects exist. Heartbeats are sent at the same times.
//
// Invariant: I18.
func TestPickerRevealsNoHiddenChanges(t *testing.T) {
	messages := make(map[bool]string)
	for _, busy := range []bool{false, true} {
		inBubbleWithAuth(t, auth.Token, func(b *bubble) {
			users := make(map[string]authentication.TokenReviewStatus)
			for _, name := range []string{"anna", "bert"} {
				user := authentication.UserInfo{Username: name}
				users[name+".token"] = authentication.TokenReviewStatus{Authenticated: true, User: user}
			}
			b.api.SetTokenReviews(users)
			b.api.Allow(func(spec authorization.SubjectAccessReviewSpec) bool {
				return spec.User == "anna" || spec.ResourceAttributes.Namespace == "b"
			})
			picker := b.openAsUser("bert")
			picker.send(`{"op":"subscribe","id":1,"view":"resources"}`)
			began := time.Now()
			if busy {
				go b.changePods(b.openAsUser("anna"))
			}
			var out strings.Builder
			for time.Since(began) < 3*time.Minute {
				_, message, err := picker.conn.Read(b.t.Context())
				if err != nil {
					b.t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s %s\n", time.Since(began), message)
			}
			messages[busy] = out.String()
		})
	}
	if messages[true] != messages[false] {
		t.Errorf("with hidden changes it is sent\n%.3000s\nand without\n%.3000s", messages[true], messages[false])
	}
}

// changePods changes pods 40 times. Meanwhile, the tab other subscribes to pods, and the watch of pods is interrupted
// repeatedly.
func (b *bubble) changePods(other *tab) {
	for n := range 40 {
		if n == 3 {
			other.send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		}
		b.api.Set(podsRef, apitest.Item{Namespace: "a", Name: fmt.Sprint("hidden-", n), Cells: `["hidden","Running"]`})
		if n%6 == 5 {
			b.api.EndWatches(podsRef)
		}
		<-time.After(3700 * time.Millisecond)
	}
}
