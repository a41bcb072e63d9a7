package web

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// HandlerWith is all routes, and one more that everybody may use.
func (s *Server) HandlerWith(method, pattern string, handler http.HandlerFunc) (http.Handler, error) {
	return s.handlerOf(append(s.routes(), route{method, pattern, everybody, func(w http.ResponseWriter, r *http.Request) error {
		handler(w, r)
		return nil
	}, false}))
}

// IsDisconnect reports whether a request has failed because its client is gone.
func IsDisconnect(ctx context.Context, err error) bool { return isDisconnect(ctx, err) }

// Certificate is what a KeyPair shows now.
func Certificate(k *KeyPair) (*tls.Certificate, error) { return k.certificate(nil) }

// Seat is a place of somebody's.
type Seat = seat

// ViewerSeat is that of a user's socket.
func ViewerSeat(name string) Seat {
	r := (&http.Request{}).WithContext(context.WithValue(context.Background(), senderKey{}, sender{identity: auth.Identity{Viewer: watch.Viewer{User: &watch.User{Name: name}}}})) //nolint:forbidigo // Of a request that nobody sends.
	return (&Server{}).seatsOf(r)[0]
}

// SubscriptionSeats are those of a subscription of whoever comes from an address.
func SubscriptionSeats(address netip.Addr) []Seat {
	return subscriptionSeats([]seat{{"sockets of " + group(address), addressSockets}})
}

// Take takes places; Give gives them back.
func (s *Server) Take(seats []Seat) bool { return s.seats.take(seats...) }

// Give gives places back that Take took.
func (s *Server) Give(seats []Seat) { s.seats.give(seats...) }

// Enter counts a socket in.
func (s *Server) Enter(wanted []Seat) bool { return s.enter(wanted) }

// Leave counts it out.
func (s *Server) Leave(taken []Seat) { s.leave(taken) }

// GroupOf is what an address with a port counts as.
func GroupOf(remote string) string {
	address, known := addressOf(remote)
	if !known {
		return ""
	}
	return group(address)
}

// Serving is all routes, the socket among them, until stop is called.
func Serving(ctx context.Context, s *Server) (handler http.Handler, stop func()) {
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

// StatusOf lets tests put a ledger of their own into words.
var StatusOf = statusOf

// DocumentOf writes JSON as YAML.
var DocumentOf = documentOf

// Documents are those of a view that many follow.
type Documents = documents

// Latest is documents.latest.
func (d *Documents) Latest(ctx context.Context, after time.Time, text func(context.Context) ([]byte, error)) (number int, made []byte, err error) {
	one, err := d.latest(ctx, after, text)
	if err != nil {
		return 0, nil, err
	}
	return one.number, one.text, nil
}

// PlainText is what is shown of a log that comes in pieces.
func PlainText(pieces ...[]byte) string {
	var p plainText
	var text []byte
	for _, piece := range pieces {
		text = p.append(text, piece)
	}
	return string(p.end(text))
}

// GuestSeats are those of a guest's socket.
func GuestSeats(id, from string) []Seat {
	r := (&http.Request{RemoteAddr: from}).WithContext(context.WithValue(context.Background(), senderKey{}, sender{guest: &share.Guest{Share: share.Share{ID: id}}})) //nolint:forbidigo // Of a request that nobody sends.
	return (&Server{}).seatsOf(r)
}

// ClusterID tells the cluster that is shown now from others.
func ClusterID(s *Server) string { return s.present.Load().id }

// Shown is the cluster that is shown now.
func (s *Server) Shown() Shown { return s.present.Load().Shown }

// CrowdOf is of how large a crowd the sockets of each address are, where so many are open.
func CrowdOf(open map[string]int) map[string]int {
	s, size := &Server{}, make(map[string]int)
	for address, n := range open {
		for range n {
			s.enter([]seat{{address, n}})
		}
	}
	for address := range open {
		size[address] = s.crowd([]seat{{address, 1}})
	}
	return size
}
