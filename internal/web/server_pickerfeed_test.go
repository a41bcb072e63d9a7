package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

// openAsUser opens a WebSocket with the bearer token of the user name.
func (b *bubble) openAsUser(name string) *tab {
	b.t.Helper()
	return b.openAs(livetest.Options{Header: http.Header{"Authorization": {"Bearer " + name + ".token"}}})
}

// Invariant: S24. A user receives nothing that depends on objects that the user cannot read. Changes of such objects
// appear in no resource list, and delay no heartbeat.
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
			picker.Send(`{"op":"subscribe","id":1,"view":"resources"}`)
			began := time.Now()
			if busy {
				go b.changePods(b.openAsUser("anna"))
			}
			var out strings.Builder
			for time.Since(began) < 3*time.Minute {
				fmt.Fprintf(&out, "%s %s\n", time.Since(began), picker.Next().Raw)
			}
			messages[busy] = out.String()
		})
	}
	if messages[true] != messages[false] {
		t.Errorf("messages with hidden changes:\n%.3000s\nwithout:\n%.3000s", messages[true], messages[false])
	}
}

// changePods changes pods 40 times, and interrupts their watch. Meanwhile, the subscriber subscribes to pods.
func (b *bubble) changePods(subscriber *tab) {
	for n := range 40 {
		if n == 3 {
			subscriber.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		}
		b.api.Set(podsRef, apitest.Item{Namespace: "a", Name: fmt.Sprint("hidden-", n), Cells: `["hidden","Running"]`})
		if n%6 == 5 {
			b.api.EndWatches(podsRef)
		}
		<-time.After(3700 * time.Millisecond)
	}
}
