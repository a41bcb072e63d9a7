package quota_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

func fromUser(name string) *http.Request {
	return request.WithSender(&http.Request{},
		request.Sender{Identity: auth.Identity{Viewer: watch.Viewer{User: &authz.User{Name: name}}}})
}

func fromGuest(id, address string) *http.Request {
	guest := &share.Guest{Share: share.Share{ID: id}}
	return request.WithSender(&http.Request{RemoteAddr: address}, request.Sender{Guest: guest})
}

// The limit of a user covers WebSockets from all addresses, and does not affect other users.
//
// Invariant: I26.
func TestSocketsOfAUserAreLimited(t *testing.T) {
	limits := quota.New(nil, 0)
	const most = 500
	ada, lin := limits.ForSocket(fromUser("ada")), limits.ForSocket(fromUser("lin"))
	var release func()
	for range most {
		if release = limits.AcquireSocket(ada); release == nil {
			t.Fatal("AcquireSocket within the limit: got nil, want a lease")
		}
	}
	if limits.AcquireSocket(ada) != nil {
		t.Errorf("AcquireSocket above the limit of %d: got a lease, want nil", most)
	}
	if limits.AcquireSocket(lin) == nil {
		t.Error("AcquireSocket for another client: got nil, want a lease")
	}
	release()
	if limits.AcquireSocket(ada) == nil {
		t.Error("AcquireSocket after a release: got nil, want a lease")
	}
}

// Invariant: I30.
func TestGuestSocketsAreLimited(t *testing.T) {
	limits := quota.New(nil, 0)
	acquire := func(id string, address int) bool {
		return limits.AcquireSocket(limits.ForSocket(fromGuest(id, fmt.Sprintf("192.0.2.%d:1", address)))) != nil
	}
	acquireMany := func(id string, address, most int) (n int) {
		for n < most && acquire(id, address) {
			n++
		}
		return n
	}
	if n := acquireMany("one", 1, 600); n != 600 {
		t.Errorf("sockets of one link at one address: got %d, want 600", n)
	}
	if n := 600 + acquireMany("one", 2, 5000); n != 2000 {
		t.Errorf("sockets of one link: got %d, want 2,000", n)
	}
	if n := acquireMany("two", 3, 5000); n != 2000 {
		t.Errorf("sockets of one address: got %d, want 2,000", n)
	}
	if n := acquireMany("three", 4, 5000); n != 0 {
		t.Errorf("sockets of guests: got %d more than 4,000", n)
	}
	if limits.AcquireSocket(limits.ForSocket(fromUser("anna"))) == nil {
		t.Error("AcquireSocket for a user while guests use their limit: got nil, want a lease")
	}
}
