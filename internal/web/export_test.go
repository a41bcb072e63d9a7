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
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// HandlerWith returns the handler of all routes plus one route for the test. Its route class is everybody, so anyone
// may call it.
func (s *Server) HandlerWith(method, pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{method, pattern, public, func(
		w http.ResponseWriter, r *http.Request,
	) error {
		handler(w, r)
		return nil
	}, direct, 0}))
}

// HandlerBuffering returns the handler of all routes plus one route for the test. Its responses reserve memory and are
// buffered.
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

// ViewerQuota returns the quota of the sockets of the user name.
func ViewerQuota(name string) Quota {
	r := (&http.Request{}).WithContext(context.WithValue(
		context.Background(), senderKey{}, //nolint:forbidigo // The request is not sent.
		sender{identity: auth.Identity{Viewer: watch.Viewer{User: &watch.User{Name: name}}}},
	))
	return (&Server{}).socketQuotas(r)[0]
}

// SubscriptionQuotas returns the quotas that apply to a subscription from address.
func SubscriptionQuotas(address netip.Addr) []Quota {
	return subscriptionQuotas([]limit.Limit{{Key: "sockets of " + addressKey(address), Max: addressSockets}})
}

// TryAcquire acquires one unit under quotas. It returns nil if there is no room.
func (s *Server) TryAcquire(quotas []Quota) *limit.Lease { return s.limiter.TryAcquire(1, quotas...) }

// AcquireProcessors acquires all leases of processors for building responses.
func (s *Server) AcquireProcessors() *limit.Lease {
	limits := s.processorLimits(httptest.NewRequest(http.MethodGet, "/", nil))
	return s.limiter.TryAcquire(limits[1].Max, limits[1])
}

// AcquireSocket counts a socket under quotas until leave is called. leave is nil if there is no room for the socket.
func (s *Server) AcquireSocket(quotas []Quota) (release func()) { return s.acquireSocket(quotas) }

// AddressKey returns the key under which requests from remote, an address with a port, are limited.
func AddressKey(remote string) string {
	address, known := addressOf(remote)
	if !known {
		return ""
	}
	return addressKey(address)
}

// Serving starts s, and returns the handler of all routes, including the socket. stop ends all sockets.
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

// FormatStatus exports formatStatus, which formats a watch status, so that tests can provide the status.
var FormatStatus = formatStatus

// JSONToYAML exports jsonToYAML, which converts JSON to YAML.
var JSONToYAML = jsonToYAML

// SharedDocs exports the type documents.
type SharedDocs = sharedDocs

// Latest calls documents.latest, and returns the number and the text of the document.
func (d *SharedDocs) Latest(
	ctx context.Context, after time.Time, encode func(context.Context) ([]byte, error),
) (version int, text []byte, err error) {
	doc, err := d.latest(ctx, after, encode)
	if err != nil {
		return 0, nil, err
	}
	return doc.version, doc.text, nil
}

// PlainText returns the text that is shown for a log that arrives in the given pieces.
func PlainText(pieces ...[]byte) string {
	var p plainText
	var text []byte
	for _, piece := range pieces {
		text = p.append(text, piece)
	}
	return string(p.finish(text))
}

// GuestQuotas returns the quotas of the sockets of a guest of the share id, who calls from an address.
func GuestQuotas(id, from string) []Quota {
	r := (&http.Request{RemoteAddr: from}).WithContext(context.WithValue(
		context.Background(), senderKey{}, //nolint:forbidigo // The request is not sent.
		sender{guest: &share.Guest{Share: share.Share{ID: id}}},
	))
	return (&Server{}).socketQuotas(r)
}

// ClusterID returns the id of the active cluster.
func ClusterID(s *Server) string { return s.active.Load().id }

// ActiveClusterInfo returns the active cluster.
func (s *Server) ActiveClusterInfo() ClusterInfo { return s.active.Load().ClusterInfo }

// FanOutSizes opens the given number of sockets from each address. For each address it returns the result of crowd.
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

// MemoryInUse returns the reserved bytes of the memory that all responses share.
func (s *Server) MemoryInUse() int64 { return s.budget.Used() }
