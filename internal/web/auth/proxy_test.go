package auth_test

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
)

const secret = "0123456789abcdef-secret"

func newProxyAuthority(t *testing.T, peers, secret string) *auth.Authority {
	t.Helper()
	o := auth.ProxyOptions{Secret: []byte(secret), UserHeader: auth.UserHeader, GroupsHeader: auth.GroupsHeader}
	for peer := range strings.SplitSeq(peers, ",") {
		if peer != "" {
			o.Peers = append(o.Peers, netip.MustParsePrefix(peer))
		}
	}
	a, err := auth.New(auth.Options{Mode: auth.Proxy, Proxy: o})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A proxy is trusted only if it has a configured address and sends the configured secret.
//
// Invariant: I29.
func TestProxyIsTrustedByAddressAndSecret(t *testing.T) {
	const proxyAddr, otherAddr, validSecret, invalidSecret = "10.1.2.3:4000", "192.0.2.9:4000", secret, secret + "x"
	for _, test := range []struct {
		name, peers, secret, remoteAddr, sentSecret string
		want                                        bool
	}{
		{"trusted address", "10.0.0.0/8", "", proxyAddr, "", true},
		{"one of several trusted addresses", "192.0.2.0/31,10.1.2.3/32", "", proxyAddr, "", true},
		{"IPv4-mapped IPv6 address", "10.0.0.0/8", "", "[::ffff:10.1.2.3]:4000", "", true},
		{"IPv6 address", "fd00::/8", "", "[fd00::1%eth0]:4000", "", true},
		{"other address", "10.0.0.0/8", "", otherAddr, "", false},
		{"other address, with a secret that is not configured", "10.0.0.0/8", "", otherAddr, validSecret, false},
		{"loopback address, like a port-forward", "10.0.0.0/8", "", "127.0.0.1:4000", "", false},
		{"no address", "10.0.0.0/8", "", "", "", false},
		{"Unix socket", "10.0.0.0/8", "", "@", "", false},
		{"secret", "", secret, otherAddr, validSecret, true},
		{"other secret", "", secret, otherAddr, invalidSecret, false},
		{"prefix of the secret", "", secret, otherAddr, secret[:20], false},
		{"missing secret", "", secret, otherAddr, "", false},
		{"trusted address and secret", "10.0.0.0/8", secret, proxyAddr, validSecret, true},
		{"trusted address without the secret", "10.0.0.0/8", secret, proxyAddr, "", false},
		{"trusted address with another secret", "10.0.0.0/8", secret, proxyAddr, invalidSecret, false},
		{"secret from another address", "10.0.0.0/8", secret, otherAddr, validSecret, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newProxyAuthority(t, test.peers, test.secret)
			for _, hasUser := range []bool{true, false} {
				var headers []string
				if hasUser {
					headers = []string{"X-Forwarded-User: anna", "X-Forwarded-Groups: dev"}
				}
				if test.sentSecret != "" {
					headers = append(headers, "X-Glasshouse-Proxy-Secret: "+test.sentSecret)
				}
				r := request(t, headers...)
				r.RemoteAddr = test.remoteAddr
				want := ""
				if hasUser && test.want {
					want = "anna"
				}
				if got := identifiedUser(t, a, r, status.Unauthenticated); got != want {
					t.Errorf("%s, with user header: %t: got user %q, want %q", test.name, hasUser, got, want)
				}
				if len(r.Header) != 0 {
					t.Errorf("identity headers after authentication: got %v, want none", r.Header)
				}
			}
		})
	}
}

// Identity headers are refused if they are ambiguous, or contain a name that Kubernetes reserves.
//
// Invariant: I29.
func TestProxyHeadersMustBeUnambiguous(t *testing.T) {
	a := newProxyAuthority(t, "", secret)
	for _, test := range []struct {
		name    string
		headers []string
		want    *authz.User
	}{
		{
			"one user",
			[]string{"X-Forwarded-User: anna"},
			&authz.User{Name: "anna", Groups: []string{"system:authenticated"}},
		},
		{
			"user with groups",
			[]string{"X-Forwarded-User: anna@example.com", "X-Forwarded-Groups: dev, ops,,a b "},
			&authz.User{Name: "anna@example.com", Groups: []string{"dev", "ops", "a b", "system:authenticated"}},
		},
		{
			"user with a distinguished name",
			[]string{"X-Forwarded-User: cn=Änne,ou=x"},
			&authz.User{Name: "cn=Änne,ou=x", Groups: []string{"system:authenticated"}},
		},
		{"no user", nil, nil},
		{"empty user", []string{"X-Forwarded-User: "}, nil},
		{"blank user", []string{"X-Forwarded-User:   "}, nil},
		{"groups without a user", []string{"X-Forwarded-Groups: dev"}, nil},
		{"two users", []string{"X-Forwarded-User: anna", "X-Forwarded-User: bob"}, nil},
		{"same user twice", []string{"X-Forwarded-User: anna", "X-Forwarded-User: anna"}, nil},
		{"two groups headers", []string{"X-Forwarded-User: anna", "X-Forwarded-Groups: dev", "X-Forwarded-Groups: ops"}, nil},
		{"secret twice", []string{"X-Forwarded-User: anna", "X-Glasshouse-Proxy-Secret: " + secret}, nil},
		{"underscores", []string{"X_Forwarded_User: anna"}, nil},
		{"additional header with underscores", []string{"X-Forwarded-User: anna", "X_Forwarded_User: admin"}, nil},
		{"additional header with one underscore", []string{"X-Forwarded-User: anna", "X-Forwarded_User: admin"}, nil},
		{"groups header with underscores", []string{"X-Forwarded-User: anna", "X_forwarded_groups: admins"}, nil},
		{"second user header in lower case", []string{"X-Forwarded-User: anna", "x-forwarded-user: admin"}, nil},
		{"capitals", []string{"X-Forwarded-User: anna", "X-FORWARDED-GROUPS: admins"}, nil},
		{
			"additional secret header with underscores",
			[]string{"X-Forwarded-User: anna", "X_Glasshouse_Proxy_Secret: " + secret},
			nil,
		},
		{"group system:masters", []string{"X-Forwarded-User: anna", "X-Forwarded-Groups: dev,system:masters"}, nil},
		{"system:masters in mixed case", []string{"X-Forwarded-User: anna", "X-Forwarded-Groups: System:Masters"}, nil},
		{"spaces before a group", []string{"X-Forwarded-User: anna", "X-Forwarded-Groups: dev,  system:masters"}, nil},
		{"group system:nodes", []string{"X-Forwarded-User: anna", "X-Forwarded-Groups: system:nodes"}, nil},
		{"user system:admin", []string{"X-Forwarded-User: system:admin"}, nil},
		{"service account", []string{"X-Forwarded-User: system:serviceaccount:kube-system:default"}, nil},
		{"anonymous user", []string{"X-Forwarded-User: system:anonymous"}, nil},
		{"invalid UTF-8", []string{"X-Forwarded-User: a\xff"}, nil},
		{"control character in the user", []string{"X-Forwarded-User: a\x01"}, nil},
		{"control character in a group", []string{"X-Forwarded-User: anna", "X-Forwarded-Groups: a\tb"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request(t, append(test.headers, "X-Glasshouse-Proxy-Secret: "+secret)...)
			r.Header.Set("Authorization", "Bearer x")
			i, err := a.Identify(r)
			if !reflect.DeepEqual(i.Viewer.User, test.want) || i.Viewer.Program || (err == nil) != (test.want != nil) {
				t.Errorf("got viewer %+v, error %v; want user %+v", i.Viewer, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error contains the secret: %v", err)
			}
			if len(r.Header) != 0 {
				t.Errorf("identity headers after authentication: got %v, want none", r.Header)
			}
		})
	}
}

// A proxy identifies the user only when a WebSocket opens. The identity therefore expires after 1 h.
//
// Invariant: I29.
func TestProxyIdentityExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, err := newProxyAuthority(t, "", secret).Identify(request(t, "X-Forwarded-User: anna",
			"X-Glasshouse-Proxy-Secret: "+secret))
		if err != nil || i.Cookie {
			t.Fatal(i, err)
		}
		start := time.Now()
		identityCtx, done := i.Context(t.Context())
		defer done()
		<-identityCtx.Done()
		if took := time.Since(start); took != time.Hour {
			t.Errorf("identity expired after %s, want 1 h", took)
		}
	})
}

// New refuses options with which every client would be trusted like the proxy.
func TestNewRejectsInsecureProxyOptions(t *testing.T) {
	for name, o := range map[string]auth.ProxyOptions{
		"no peers or secret": {UserHeader: "X-User", GroupsHeader: "X-Groups"},
		"short secret": {
			Secret: []byte("0123456789abcde"), UserHeader: "X-User",
			GroupsHeader: "X-Groups",
		},
		"no user header":                  {Secret: []byte(secret), GroupsHeader: "X-Groups"},
		"no groups header":                {Secret: []byte(secret), UserHeader: "X-User"},
		"same header for user and groups": {Secret: []byte(secret), UserHeader: "X-User", GroupsHeader: "x-user"},
		"header of the secret": {
			Secret: []byte(secret), UserHeader: "x-glasshouse-proxy-secret",
			GroupsHeader: "X-Groups",
		},
		"underscores":            {Secret: []byte(secret), UserHeader: "X_User", GroupsHeader: "X-Groups"},
		"space in a header name": {Secret: []byte(secret), UserHeader: "X User", GroupsHeader: "X-Groups"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := auth.New(auth.Options{Mode: auth.Proxy, Proxy: o}); err == nil ||
				strings.Contains(err.Error(), "0123456789") {
				t.Errorf("got error %v, want an error without the secret", err)
			}
		})
	}
}
