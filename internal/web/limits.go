package web

import (
	"context"
	"fmt"
	"hash/maphash"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// What a client can send, or keep open, is bounded, before who sends it is known.
const (
	// maxAddress is the length of a path with its query.
	maxAddress = 16 << 10
	maxFields  = 100 // Of a request's headers.
	maxBody    = 64 << 10
	maxStreams = 100 // Of one connection of HTTP/2.
	// addressRequests are those that one address may have in flight; its sockets
	// are not among them.
	addressRequests = 1000
	// maxConnections leave room beside the sockets for who asks for pages.
	maxConnections, addressConnections = 8000, 2000
	// addressSockets are those that come through a proxy, and viewerSockets the
	// tabs of one user.
	addressSockets, viewerSockets = 2000, 500
	// linkSockets are the tabs of those who use one link, guestSockets of those who use
	// any: they leave room for who logs in.
	linkSockets, guestSockets = 2000, 4000
	// socketSubscriptions are those of all sockets that somebody may have together, for
	// each of them; one alone may have more.
	socketSubscriptions = 6
	// viewerLogs are those that one user reads at a time, linkLogs those that one link
	// shows, and guestLogs those of all links: they leave logs for others to read.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	// messageRate is how many messages a second are taken of a socket, after
	// messageBurst at once; what comes sooner waits.
	messageRate, messageBurst = 20, 200
	// addressRate is how many requests, connections and messages of sockets are
	// taken of one address a second, after addressBurst at once: a thousand tabs
	// may come back together.
	addressRate, addressBurst = 250, 4000
	// oversizedCost is as how many requests one counts that is more than may be:
	// it has been read in vain.
	oversizedCost = 10
	// addressWait is how long a request waits for that.
	addressWait = 10 * time.Second
)

// paces hold up what comes of an address faster than it is taken. By chance
// some addresses share one; there are so many that this is seldom.
type paces struct {
	every rate.Limit
	burst int
	seed  maphash.Seed
	all   [4096]atomic.Pointer[rate.Limiter]
}

func newPaces(every rate.Limit, burst int) *paces {
	return &paces{every: every, burst: burst, seed: maphash.MakeSeed()}
}

func (p *paces) of(address netip.Addr) *rate.Limiter {
	place := &p.all[maphash.String(p.seed, group(address))%uint64(len(p.all))]
	if pace := place.Load(); pace != nil {
		return pace
	}
	place.CompareAndSwap(nil, rate.NewLimiter(p.every, p.burst))
	return place.Load()
}

// pacesOf are those of what comes by a new socket: its own, and its address's.
func (s *Server) pacesOf(r *http.Request, own *rate.Limiter, addresses *paces) []*rate.Limiter {
	if address, known := s.peers.sender(r); known {
		return []*rate.Limiter{own, addresses.of(address)}
	}
	return []*rate.Limiter{own}
}

// wait waits until one more message may be taken. The session ends meanwhile
// where it returns an error.
func (l *session) wait(ctx context.Context) error {
	for _, pace := range l.paces {
		if err := pace.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// seat is a place that something takes among those that somebody may have.
type seat struct {
	who  string
	most int
}

// seats counts those that are taken. The zero value has none taken.
type seats struct {
	mu    sync.Mutex
	taken map[string]int
}

// take takes all the places, or none; give gives them back.
func (s *seats) take(wanted ...seat) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range wanted {
		if s.taken[w.who] >= w.most {
			return false
		}
	}
	if s.taken == nil {
		s.taken = make(map[string]int)
	}
	for _, w := range wanted {
		s.taken[w.who]++
	}
	return true
}

// most is of how many a seat is one, where most are.
func (s *seats) most(of []seat) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range of {
		n = max(n, s.taken[o.who])
	}
	return n
}

func (s *seats) give(taken ...seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range taken {
		if s.taken[t.who]--; s.taken[t.who] <= 0 {
			delete(s.taken, t.who)
		}
	}
}

// crowd is of how many sockets one with these seats is one, where others look, too: who
// are alone have nobody to leave time for.
func (s *Server) crowd(of []seat) int {
	if most := s.seats.most(of); int64(most) < s.open.Load() {
		return most
	}
	return 0
}

// hall is a listener that closes connections beyond those that there may be.
type hall struct {
	net.Listener

	seats *seats
	paces *paces
	peers peers
}

// Accept waits for the next connection that there is room for.
func (h *hall) Accept() (net.Conn, error) {
	for {
		conn, err := h.Listener.Accept()
		if err != nil {
			return nil, err
		}
		taken, wait := []seat{{"all", maxConnections}}, time.Duration(0)
		if address, known := addressOf(conn.RemoteAddr().String()); known && !h.peers.have(address) {
			taken = append(taken, seat{"address " + group(address), addressConnections})
			reserved := h.paces.of(address).Reserve()
			if wait = reserved.Delay(); wait > addressWait {
				reserved.Cancel()
			}
		}
		if wait <= addressWait && h.seats.take(taken...) {
			g := &guest{Conn: conn, closed: make(chan struct{})}
			if wait > 0 {
				g.from = time.Now().Add(wait)
			}
			g.leave = sync.OnceFunc(func() {
				close(g.closed)
				h.seats.give(taken...)
			})
			return g, nil
		}
		_ = conn.Close() // There is nobody to tell.
	}
}

// guest is a connection that is read from when it is its turn, and gives its
// places back when it is closed.
type guest struct {
	net.Conn

	from   time.Time
	closed chan struct{}
	leave  func()
}

// Read waits for the connection's turn first.
func (g *guest) Read(p []byte) (int, error) {
	if !g.from.IsZero() && time.Now().Before(g.from) {
		select {
		case <-time.After(time.Until(g.from)):
		case <-g.closed:
		}
	}
	return g.Conn.Read(p)
}

// Close closes the connection.
func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}

// peers are the proxies that are believed when they say for whom they ask.
type peers []netip.Prefix

func (p peers) have(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
}

// addressOf reads the address of "address:port"; other listeners than those of
// TCP have none.
func addressOf(remote string) (netip.Addr, bool) {
	parsed, err := netip.ParseAddrPort(remote)
	return parsed.Addr().Unmap().WithZone(""), err == nil
}

// sender is the address that a request comes from. A proxy among the peers names
// it: the last of X-Forwarded-For that is no such proxy itself.
func (p peers) sender(r *http.Request) (netip.Addr, bool) {
	address, known := addressOf(r.RemoteAddr)
	if !known || !p.have(address) {
		return address, known
	}
	named := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(named) {
		parsed, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return address, known
		}
		if address = parsed.Unmap().WithZone(""); !p.have(address) {
			return address, known
		}
	}
	return address, known
}

// group is what counts as one address: of IPv6, the network that one host has to
// choose from.
func group(address netip.Addr) string {
	if address.Is6() {
		if prefix, err := address.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return address.String()
}

// bound refuses requests that are more than any of ours is, and those of an
// address that has too many in flight.
func (s *Server) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := oversized(r); p != nil {
			if address, known := s.peers.sender(r); known {
				s.paces.of(address).ReserveN(time.Now(), oversizedCost)
			}
			w.Header().Set("Connection", "close") // Who sends such things begins anew.
			writeProblem(w, *p)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if address, known := s.peers.sender(r); known {
			taken := seat{"requests of " + group(address), addressRequests}
			if !s.seats.take(taken) {
				tooMany(w, fmt.Sprintf("%d requests of your address are being answered; wait for some of them.", addressRequests))
				return
			}
			defer s.seats.give(taken)
			ctx, cancel := context.WithTimeout(r.Context(), addressWait)
			err := s.paces.of(address).Wait(ctx)
			cancel()
			if err != nil {
				tooMany(w, fmt.Sprintf("Your address has sent more than %d requests and messages a second for a while; send fewer.", addressRate))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func tooMany(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "2")
	writeProblem(w, problem{Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: why})
}

// oversized says what of a request is more than may be; nil for nothing.
func oversized(r *http.Request) *problem {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	encoding := r.Header.Get("Content-Encoding")
	switch {
	case len(r.RequestURI) > maxAddress:
		return &problem{Title: "Address too long", Status: http.StatusRequestURITooLong, Detail: fmt.Sprintf("A path and its query may have %d bytes.", maxAddress)}
	case fields > maxFields:
		return &problem{Title: "Too many headers", Status: http.StatusRequestHeaderFieldsTooLarge, Detail: fmt.Sprintf("A request may have %d header fields.", maxFields)}
	case encoding != "" && encoding != "identity":
		return &problem{Title: "Body is encoded", Status: http.StatusUnsupportedMediaType, Detail: "Nothing is decompressed here: send it without Content-Encoding."}
	case reads && r.ContentLength != 0:
		return &problem{Title: "Body too large", Status: http.StatusRequestEntityTooLarge, Detail: "What is read with GET takes no body."}
	case r.ContentLength > maxBody:
		return &problem{Title: "Body too large", Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("A body may have %d bytes.", maxBody)}
	}
	return nil
}

// seatsOf are the places that a socket takes: of its address, and of whoever is
// known to look. Who comes without a login is known by the address alone.
func (s *Server) seatsOf(r *http.Request) []seat {
	var wanted []seat
	if address, known := s.peers.sender(r); known {
		wanted = append(wanted, seat{"sockets of " + group(address), addressSockets})
	}
	return append(wanted, placesOf("sockets", guestIn(r), identityOf(r), linkSockets, guestSockets, viewerSockets)...)
}

// subscriptionSeats are the places that a subscription of a socket takes.
func subscriptionSeats(socket []seat) []seat {
	wanted := make([]seat, len(socket))
	for i, s := range socket {
		wanted[i] = seat{"subscriptions by " + s.who, s.most * socketSubscriptions}
	}
	return wanted
}

// placesOf are those that something takes of whoever is known to look: of one link
// and of all guests, or of one user.
func placesOf(what string, guest *share.Guest, identity auth.Identity, ofLink, ofGuests, ofUser int) []seat {
	switch user := identity.Viewer.User; {
	case guest != nil:
		return []seat{{what + " of the share " + guest.Share.ID, ofLink}, {what + " of guests", ofGuests}}
	case user != nil:
		return []seat{{what + " of the user " + user.Name, ofUser}}
	}
	return nil
}
