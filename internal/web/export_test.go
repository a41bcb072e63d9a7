package web

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch"
	"glasshouse/internal/watch/authz"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// HandlerWith returns the handler of all routes plus one test route. Clients need no login for the test route,
// because its route class is public.
func (s *Server) HandlerWith(method, pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{method, pattern, public, func(
		w http.ResponseWriter, r *http.Request,
	) error {
		handler(w, r)
		return nil
	}, direct, 0}))
}

// HandlerBuffering returns the handler of all routes plus one test route. The responses of the test route are
// buffered in memory that is reserved from the budget.
func (s *Server) HandlerBuffering(pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{http.MethodGet, pattern, public, func(
		w http.ResponseWriter, r *http.Request,
	) error {
		handler(w, r)
		return nil
	}, buffered, smallMemory}))
}

// YAMLForPage converts the JSON of an object to the YAML that the page of the object shows.
func (s *Server) YAMLForPage(r *http.Request, text []byte) (string, error) {
	return s.yamlForPage(r, text)
}

// IsDisconnect reports whether a request has failed because its client has disconnected.
func IsDisconnect(ctx context.Context, err error) bool { return isDisconnect(ctx, err) }

// Certificate returns the current certificate of a KeyPair.
func Certificate(k *KeyPair) (*tls.Certificate, error) { return k.certificate(nil) }

// Quota is a limit on the sockets or subscriptions of one user, link or address.
type Quota = limit.Limit

// ViewerQuota returns the quota on the sockets of the user with this name.
func ViewerQuota(name string) Quota {
	r := (&http.Request{}).WithContext(context.WithValue(
		context.Background(), senderKey{}, //nolint:forbidigo // The request is not sent.
		sender{identity: auth.Identity{Viewer: watch.Viewer{User: &authz.User{Name: name}}}},
	))
	return (&Server{}).socketQuotas(r)[0]
}

// SubscriptionQuotas returns the quotas on the subscriptions of all clients at address.
func SubscriptionQuotas(address netip.Addr) []Quota {
	return subscriptionQuotas([]limit.Limit{{Key: "sockets of " + addressKey(address), Max: addressSockets}})
}

// TryAcquire acquires one unit of each quota. It returns nil if one of the quotas is full.
func (s *Server) TryAcquire(quotas []Quota) *limit.Lease { return s.limiter.TryAcquire(1, quotas...) }

// AcquireProcessors acquires all processor leases. Until they are released, the server cannot build any response.
func (s *Server) AcquireProcessors() *limit.Lease {
	limits := s.processorLimits(httptest.NewRequest(http.MethodGet, "/", nil))
	return s.limiter.TryAcquire(limits[1].Max, limits[1])
}

// AcquireSocket counts a socket toward quotas until release is called. release is nil if a quota is full.
func (s *Server) AcquireSocket(quotas []Quota) (release func()) { return s.acquireSocket(quotas) }

// AddressKey returns the key under which limits count requests from remote, an "address:port".
func AddressKey(remote string) string {
	address, known := addressOf(remote)
	if !known {
		return ""
	}
	return addressKey(address)
}

// Serving starts s and returns the handler of all routes. stopServer closes all WebSockets.
func Serving(ctx context.Context, s *Server) (handler http.Handler, stopServer func()) {
	s.begin(ctx)
	handler, err := s.Handler()
	if err != nil {
		panic(err)
	}
	return handler, func() {
		s.stop()
		s.sockets.Wait()
	}
}

// FormatStatus exports formatStatus for tests of its output.
var FormatStatus = formatStatus

// JSONToYAML exports jsonToYAML for tests.
var JSONToYAML = jsonToYAML

// SharedDocs exports sharedDocs for tests.
type SharedDocs = sharedDocs

// Latest calls sharedDocs.latest and returns the version and the text of the document.
func (d *SharedDocs) Latest(
	ctx context.Context, after time.Time, encode func(context.Context) ([]byte, error),
) (version int, text []byte, err error) {
	doc, err := d.latest(ctx, after, encode)
	if err != nil {
		return 0, nil, err
	}
	return doc.version, doc.text, nil
}

// PlainText adds pieces of a log to a plainText one by one, and returns the text without escape sequences.
func PlainText(pieces ...[]byte) string {
	var p plainText
	var text []byte
	for _, piece := range pieces {
		text = p.append(text, piece)
	}
	return string(p.finish(text))
}

// GuestQuotas returns the quotas on the sockets of a guest (a viewer of a share link). id is the ID of the link, and
// from is the address of the guest.
func GuestQuotas(id, from string) []Quota {
	r := (&http.Request{RemoteAddr: from}).WithContext(context.WithValue(
		context.Background(), senderKey{}, //nolint:forbidigo // The request is not sent.
		sender{guest: &share.Guest{Share: share.Share{ID: id}}},
	))
	return (&Server{}).socketQuotas(r)
}

// ClusterID returns the id of the active cluster.
func ClusterID(s *Server) string { return s.active.Load().id }

// ActiveClusterInfo returns the ClusterInfo of the active cluster.
func (s *Server) ActiveClusterInfo() ClusterInfo { return s.active.Load().ClusterInfo }

// FanOutSizes opens the given number of sockets for each address, and returns the fanOutSize of each address.
func FanOutSizes(sockets map[string]int) map[string]int {
	s, sizes := &Server{}, make(map[string]int)
	for address, n := range sockets {
		for range n {
			s.acquireSocket([]limit.Limit{{Key: address, Max: int64(n)}})
		}
	}
	for address := range sockets {
		sizes[address] = s.fanOutSize([]limit.Limit{{Key: address, Max: 1}})
	}
	return sizes
}

// MemoryInUse returns the number of bytes that are reserved in the memory budget of all responses.
func (s *Server) MemoryInUse() int64 { return s.budget.Used() }
