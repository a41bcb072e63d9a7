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

// HandlerWith returns the handler of all routes plus one route for the test. The added route has the route class
// public, so anyone may call it.
func (s *Server) HandlerWith(method, pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{method, pattern, public, func(
		w http.ResponseWriter, r *http.Request,
	) error {
		handler(w, r)
		return nil
	}, direct, 0}))
}

// HandlerBuffering returns the handler of all routes plus one route for the test. The responses of the added route
// reserve memory and are buffered.
func (s *Server) HandlerBuffering(pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{http.MethodGet, pattern, public, func(
		w http.ResponseWriter, r *http.Request,
	) error {
		handler(w, r)
		return nil
	}, buffered, smallMemory}))
}

// YAMLForPage converts the JSON of an object to the YAML that its page shows.
func (s *Server) YAMLForPage(r *http.Request, text []byte) (string, error) {
	return s.yamlForPage(r, text)
}

// IsDisconnect reports whether a request has failed because its client has disconnected.
func IsDisconnect(ctx context.Context, err error) bool { return isDisconnect(ctx, err) }

// Certificate returns the current certificate of a KeyPair.
func Certificate(k *KeyPair) (*tls.Certificate, error) { return k.certificate(nil) }

// Quota is a limit that sockets and subscriptions count toward.
type Quota = limit.Limit

// ViewerQuota returns the quota for the sockets of a user.
func ViewerQuota(name string) Quota {
	r := (&http.Request{}).WithContext(context.WithValue(
		context.Background(), senderKey{}, //nolint:forbidigo // The request is not sent.
		sender{identity: auth.Identity{Viewer: watch.Viewer{User: &authz.User{Name: name}}}},
	))
	return (&Server{}).socketQuotas(r)[0]
}

// SubscriptionQuotas returns the quotas for a subscription of a client at address.
func SubscriptionQuotas(address netip.Addr) []Quota {
	return subscriptionQuotas([]limit.Limit{{Key: "sockets of " + addressKey(address), Max: addressSockets}})
}

// TryAcquire acquires one unit under quotas. It returns nil if one of the quotas is used up.
func (s *Server) TryAcquire(quotas []Quota) *limit.Lease { return s.limiter.TryAcquire(1, quotas...) }

// AcquireProcessors acquires all processor leases, so that no response can be built until they are released.
func (s *Server) AcquireProcessors() *limit.Lease {
	limits := s.processorLimits(httptest.NewRequest(http.MethodGet, "/", nil))
	return s.limiter.TryAcquire(limits[1].Max, limits[1])
}

// AcquireSocket counts a socket toward quotas until release is called. release is nil if one of the quotas is used
// up.
func (s *Server) AcquireSocket(quotas []Quota) (release func()) { return s.acquireSocket(quotas) }

// AddressKey returns the key under which limits count the requests from remote, an address with a port.
func AddressKey(remote string) string {
	address, known := addressOf(remote)
	if !known {
		return ""
	}
	return addressKey(address)
}

// Serving starts s, and returns the handler of all routes, including the one for WebSockets. stopServer ends all
// WebSockets.
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

// FormatStatus exports formatStatus, so that tests can format a watch status of their own.
var FormatStatus = formatStatus

// JSONToYAML exports jsonToYAML, which converts a JSON text to YAML.
var JSONToYAML = jsonToYAML

// SharedDocs exports the type sharedDocs.
type SharedDocs = sharedDocs

// Latest calls sharedDocs.latest, and returns the version and the text of the document.
func (d *SharedDocs) Latest(
	ctx context.Context, after time.Time, encode func(context.Context) ([]byte, error),
) (version int, text []byte, err error) {
	doc, err := d.latest(ctx, after, encode)
	if err != nil {
		return 0, nil, err
	}
	return doc.version, doc.text, nil
}

// PlainText returns the plain text of a log whose output arrives in the given pieces.
func PlainText(pieces ...[]byte) string {
	var p plainText
	var text []byte
	for _, piece := range pieces {
		text = p.append(text, piece)
	}
	return string(p.finish(text))
}

// GuestQuotas returns the quotas for the sockets of a guest. id is the ID of the share link, and from is the address
// of the guest.
func GuestQuotas(id, from string) []Quota {
	r := (&http.Request{RemoteAddr: from}).WithContext(context.WithValue(
		context.Background(), senderKey{}, //nolint:forbidigo // The request is not sent.
		sender{guest: &share.Guest{Share: share.Share{ID: id}}},
	))
	return (&Server{}).socketQuotas(r)
}

// ClusterID returns the id of the active cluster.
func ClusterID(s *Server) string { return s.active.Load().id }

// ActiveClusterInfo returns the description of the active cluster.
func (s *Server) ActiveClusterInfo() ClusterInfo { return s.active.Load().ClusterInfo }

// FanOutSizes opens the given number of sockets for each address. It returns the result of fanOutSize for each
// address.
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

// MemoryInUse returns how many bytes are reserved in the memory budget of all responses.
func (s *Server) MemoryInUse() int64 { return s.budget.Used() }
