package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

const (
	// SecretHeader is the request header for the secret that the proxy shares with this program.
	SecretHeader = "X-Glasshouse-Proxy-Secret"
	// UserHeader is the default request header for the user name. oauth2-proxy uses it.
	UserHeader = "X-Forwarded-User"
	// GroupsHeader is the default request header for the user's groups.
	GroupsHeader = "X-Forwarded-Groups"
	// minSecret is the minimum length of the proxy's secret in bytes.
	minSecret = 16
	// proxyIdentityTTL is the lifetime of an identity from the proxy. After that, the proxy must identify the user again.
	proxyIdentityTTL = time.Hour
	// authenticatedGroup is the group that the API server adds to all authenticated users.
	authenticatedGroup = "system:authenticated"
)

// ProxyOptions configures the trusted proxy. If Peers and Secret are set, a request must match both.
type ProxyOptions struct {
	Peers        []netip.Prefix // Address ranges of the proxy; empty means any address.
	Secret       []byte         // Secret that the proxy sends in the header SecretHeader; empty if it sends none.
	UserHeader   string
	GroupsHeader string // Name of the header with the groups, a comma-separated list.
}

type proxy struct {
	peers                    []netip.Prefix
	secret                   *hash
	userHeader, groupsHeader string
	names                    []string // The names of the proxy's identity headers, as foldHeader returns them.
}

func newProxy(o ProxyOptions) (*proxy, error) {
	p := &proxy{
		peers: o.Peers, userHeader: textproto.CanonicalMIMEHeaderKey(o.UserHeader),
		groupsHeader: textproto.CanonicalMIMEHeaderKey(o.GroupsHeader),
	}
	switch {
	case len(o.Peers) == 0 && len(o.Secret) == 0:
		return nil, errors.New("no proxy is trusted: set the addresses of the proxy, " +
			"or a secret")
	case len(o.Secret) > 0 && len(o.Secret) < minSecret:
		return nil, fmt.Errorf("the proxy's secret has %d bytes; it must have %d or more", len(o.Secret), minSecret)
	case foldHeader(p.userHeader) == foldHeader(p.groupsHeader) || foldHeader(p.userHeader) == foldHeader(SecretHeader) ||
		foldHeader(p.groupsHeader) == foldHeader(SecretHeader):
		return nil, fmt.Errorf(
			"the headers for the user, the groups and the secret must differ, but are %q, %q and %q", p.userHeader,
			p.groupsHeader, SecretHeader)
	case !isHeaderName(p.userHeader) || !isHeaderName(p.groupsHeader):
		return nil, fmt.Errorf("%q or %q is not a valid header name: use only letters, digits and -", o.UserHeader,
			o.GroupsHeader)
	}
	if len(o.Secret) > 0 {
		sum := hash(sha256.Sum256(o.Secret))
		p.secret = &sum
	}
	p.names = []string{foldHeader(p.userHeader), foldHeader(p.groupsHeader), foldHeader(SecretHeader)}
	return p, nil
}

func isHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// foldHeader returns the same text for all spellings of a header name. Some servers ignore case, and treat _ like -.
func foldHeader(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// ownsHeader reports whether only the proxy may set a header. A nil proxy owns the default headers.
func (p *proxy) ownsHeader(name string) bool {
	names := []string{foldHeader(UserHeader), foldHeader(GroupsHeader), foldHeader(SecretHeader)}
	if p != nil {
		names = p.names
	}
	return slices.Contains(names, foldHeader(name))
}

func (p *proxy) identify(r *http.Request) (Identity, error) {
	if err := p.trust(r); err != nil {
		return Identity{}, err
	}
	for name := range r.Header {
		if p.ownsHeader(name) && name != p.userHeader && name != p.groupsHeader && name != SecretHeader {
			return Identity{}, status.NotLoggedIn("The header %.60q is another spelling of an identity header of "+
				"the proxy; the proxy must remove it.", name)
		}
	}
	users := r.Header.Values(p.userHeader)
	if len(users) != 1 {
		return Identity{}, status.NotLoggedIn("The proxy sent the header %s %d times; it must send it once.",
			p.userHeader, len(users))
	}
	if len(r.Header.Values(p.groupsHeader)) > 1 {
		return Identity{}, status.NotLoggedIn(
			"The proxy sent the header %s more than once; it must separate groups by commas.", p.groupsHeader)
	}
	user := &authz.User{Name: users[0], Groups: []string{}}
	for group := range strings.SplitSeq(r.Header.Get(p.groupsHeader), ",") {
		if group = strings.TrimSpace(group); group != "" {
			user.Groups = append(user.Groups, group)
		}
	}
	if err := checkUser(user); err != nil {
		return Identity{}, err
	}
	user.Groups = append(user.Groups, authenticatedGroup)
	return Identity{Viewer: watch.Viewer{User: user}, Expires: time.Now().Add(proxyIdentityTTL)}, nil
}

// trust returns an error if the proxy did not send the request.
func (p *proxy) trust(r *http.Request) error {
	if len(p.peers) > 0 {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !slices.ContainsFunc(p.peers, func(prefix netip.Prefix) bool {
			return prefix.Contains(peer.Addr().Unmap().WithZone(""))
		}) {
			return status.NotLoggedIn("This server accepts requests only from its proxy; open the URL of the proxy.")
		}
	}
	if p.secret != nil {
		secrets := r.Header.Values(SecretHeader)
		if len(secrets) != 1 {
			return status.NotLoggedIn("This server accepts requests only from its proxy; open the URL of the proxy.")
		}
		sum := hash(sha256.Sum256([]byte(secrets[0])))
		if subtle.ConstantTimeCompare(sum[:], p.secret[:]) != 1 {
			return status.NotLoggedIn("This server accepts requests only from its proxy; open the URL of the proxy.")
		}
	}
	return nil
}

// checkUser refuses malformed names and "system:" names, which Kubernetes reserves.
func checkUser(user *authz.User) error {
	if strings.TrimSpace(user.Name) == "" || user.Name != strings.TrimSpace(user.Name) {
		return status.NotLoggedIn("The user name is empty, or has spaces around it.")
	}
	for _, name := range append([]string{user.Name}, user.Groups...) {
		if strings.HasPrefix(strings.ToLower(name), "system:") {
			return status.NotLoggedIn("%.60q is a reserved name, which only the cluster may assign.", name)
		}
		if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return status.NotLoggedIn("%.60q is not a valid name of a user or group.", name)
		}
	}
	return nil
}
