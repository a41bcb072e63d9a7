package listen_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/web/listen"
)

func addressKey(t *testing.T, ip string) string {
	t.Helper()
	address, known := listen.Peers(nil).ClientAddr(&http.Request{RemoteAddr: net.JoinHostPort(ip, "1")})
	if !known {
		t.Fatalf("%s is not a valid address", ip)
	}
	return listen.AddressKey(address)
}

// All IPv6 addresses of one /64 network share one limit, because a single host can use all of them.
func TestIPv6NetworkCountsAsOneAddress(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:1", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"fe80::1%eth0", "fe80::2", true},
	} {
		t.Run(test.a+" and "+test.b, func(t *testing.T) {
			a, b := addressKey(t, test.a), addressKey(t, test.b)
			if (a == b) != test.same {
				t.Errorf("keys of %s and %s: got %q and %q, want equal: %t", test.a, test.b, a, b, test.same)
			}
		})
	}
}
