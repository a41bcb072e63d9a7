package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/time/rate"

	"glasshouse/internal/limit"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

// Limits on what a client can send or keep open, before it is known who sends it.
const (
	// maxAddress is the length of a path with its query.
	maxAddress = 16 << 10
	maxFields  = 100 // Of a request's headers.
	maxBody    = 64 << 10
	maxStreams = 100 // Of one HTTP/2 connection.
	// addressRequests are the requests in flight of one address. Sockets do not count.
	addressRequests = 1000
	// maxBodies are the requests whose body is being read, addressBodies those of one address.
	maxBodies, addressBodies = 400, 50
	// maxPaced are the requests of all addresses that wait because their address sends too many.
	maxPaced = 1000
	// addressSockets are the sockets of one address, viewerSockets the tabs of one user.
	addressSockets, viewerSockets = 2000, 500
	// linkSockets are the tabs of the guests of one link, guestSockets those of all guests. They leave room for users
	// who log in.
	linkSockets, guestSockets = 2000, 4000
	// socketSubscriptions is how many subscriptions all sockets of a caller may have together, for each socket that it
	// may have. A single socket may have more.
	socketSubscriptions = 6
	// viewerLogs are the logs that one user follows at a time, linkLogs those of one link, and guestLogs those of all
	// links. They leave logs for others.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	// messageRate is how many messages a second a socket may send, after messageBurst at once. More of them wait.
	messageRate, messageBurst = 20, 200
	// addressRate is how many requests, connections and socket messages a second one address may send, after
	// addressBurst at once: a thousand tabs may come back together.
	addressRate, addressBurst = 250, 4000
	// oversizedCost is as how many requests an oversized one counts, because it was read for nothing.
	oversizedCost = 10
	// addressWait is how long a request waits for its turn.
	addressWait = 10 * time.Second
)

// buildLimits bound what keeps a processor busy for whoever sent a request: scans of all rows of a kind, pages, exports, and
// conversions of long texts. A caller, or all guests of a link, use half of the processors at a time. All together use
// twice as many as there are: what is built waits neither for a client nor for the API server.
func (s *Server) buildLimits(r *http.Request) []limit.Limit {
	caller, processors := s.callerOf(r), int64(runtime.GOMAXPROCS(0))
	return []limit.Limit{
		{Key: "builds of " + cmp.Or(caller.Group, caller.Key), Max: max(1, processors/2)},
		{Key: "builds", Max: 2 * processors},
	}
}

// compute waits until something that keeps a processor busy may be done for whoever sent a request. It has been done when
// done is called.
func (s *Server) compute(ctx context.Context, r *http.Request) (done func(), err error) {
	if out := responseOf(r); out != nil && out.building != nil {
		return func() {}, nil // It is a part of what is being built.
	}
	lease, err := s.acquire(ctx, s.buildLimits(r)...)
	return lease.Release, err
}

// rateLimitersFor are the rate limiters of what a new socket sends: its own, and that of its address.
func (s *Server) rateLimitersFor(r *http.Request, own *rate.Limiter, addresses *limit.Rates) []*rate.Limiter {
	if address, known := s.peers.clientAddr(r); known {
		return []*rate.Limiter{own, addresses.For(group(address))}
	}
	return []*rate.Limiter{own}
}

// wait waits until the session may read one more message. An error means that the session has ended.
func (l *session) wait(ctx context.Context) error {
	for _, limiter := range l.rates {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// crowd is the number of sockets that share a limit with this one, if there are other sockets. Without others there is
// nobody to leave time for.
func (s *Server) crowd(of []limit.Limit) int {
	var most int64
	for _, one := range of {
		most = max(most, s.limiter.Used(one.Key))
	}
	if most < s.open.Load() {
		return int(most)
	}
	return 0
}

// limitRequest refuses oversized requests, and those of an address that has too many in flight.
func (s *Server) limitRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := oversized(r); p != nil {
			if address, known := s.peers.clientAddr(r); known {
				s.rates.For(group(address)).ReserveN(time.Now(), oversizedCost)
			}
			w.Header().Set("Connection", "close") // The rest of the request is not read.
			writeProblem(w, *p)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		defer connOf(r).begin()()
		if address, known := s.peers.clientAddr(r); known {
			lease := s.limiter.TryAcquire(1, limit.Limit{Key: "requests of " + group(address), Max: addressRequests})
			if lease == nil {
				tooMany(w, fmt.Sprintf("%d requests of your address are in flight. Wait for some of them.", addressRequests))
				return
			}
			defer lease.Release()
			if !s.keepPace(r.Context(), group(address)) {
				tooMany(w, fmt.Sprintf("Your address has sent more than %d requests and messages a second for a while. "+
					"Send fewer.", addressRate))
				return
			}
		}
		if s.receive(r) != nil {
			tooMany(w, fmt.Sprintf("The bodies of %d requests of your address, or of %d of all, are being read. "+
				"Send yours at once, or later.", addressBodies, maxBodies))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// receive reads the body of a request before anything else is done for it. A client that sends it slowly then holds 64 KiB,
// and not what is reserved for a response.
func (s *Server) receive(r *http.Request) error {
	if r.ContentLength <= 0 {
		return nil
	}
	limits := []limit.Limit{{Key: "bodies", Max: maxBodies}}
	if address, known := s.peers.clientAddr(r); known {
		limits = append([]limit.Limit{{Key: "bodies of " + group(address), Max: addressBodies}}, limits...)
	}
	lease, err := s.acquire(r.Context(), limits...)
	if err != nil {
		return err
	}
	defer lease.Release()
	text, err := io.ReadAll(r.Body)
	rest := io.Reader(bytes.NewReader(text))
	if err != nil {
		rest = io.MultiReader(rest, failingReader{err}) // The handler reports it.
	}
	r.Body = io.NopCloser(rest)
	return nil
}

// failingReader fails.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// keepPace waits until an address may send one more request. It reports false if that takes too long, or if too many
// requests wait for it.
func (s *Server) keepPace(ctx context.Context, address string) bool {
	rates := s.rates.For(address)
	if rates.Allow() {
		return true
	}
	lease := s.limiter.TryAcquire(1, limit.Limit{Key: "paced requests", Max: maxPaced})
	if lease == nil {
		return false
	}
	defer lease.Release()
	ctx, cancel := context.WithTimeout(ctx, addressWait)
	defer cancel()
	return rates.Wait(ctx) == nil
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

// socketQuotas are the limits that a socket counts under: those of its address, and of its user or link. Without a login
// the address is all that is known.
func (s *Server) socketQuotas(r *http.Request) []limit.Limit {
	var quotas []limit.Limit
	if address, known := s.peers.clientAddr(r); known {
		quotas = append(quotas, limit.Limit{Key: "sockets of " + group(address), Max: addressSockets})
	}
	return append(quotas, quotasFor("sockets", guestIn(r), identityOf(r), linkSockets, guestSockets, viewerSockets)...)
}

// subscriptionQuotas are the limits that each subscription of a socket counts under.
func subscriptionQuotas(socket []limit.Limit) []limit.Limit {
	quotas := make([]limit.Limit, len(socket))
	for i, q := range socket {
		quotas[i] = limit.Limit{Key: "subscriptions by " + q.Key, Max: q.Max * socketSubscriptions}
	}
	return quotas
}

// quotasFor are the limits that something counts under for a guest or a user.
func quotasFor(what string, guest *share.Guest, identity auth.Identity, ofLink, ofGuests, ofUser int64) []limit.Limit {
	switch user := identity.Viewer.User; {
	case guest != nil:
		return []limit.Limit{{Key: what + " of the share " + guest.Share.ID, Max: ofLink}, {Key: what + " of guests", Max: ofGuests}}
	case user != nil:
		return []limit.Limit{{Key: what + " of the user " + user.Name, Max: ofUser}}
	}
	return nil
}

// callerOf is who shares the memory for responses: a guest of a link at an address, a user, or an address where nobody
// logs in.
func (s *Server) callerOf(r *http.Request) limit.Caller {
	from := ""
	if address, known := s.peers.clientAddr(r); known {
		from = "address " + group(address)
	}
	guest, user := guestIn(r), identityOf(r).Viewer.User
	switch {
	case guest != nil:
		return limit.Caller{Key: "share " + guest.Share.ID + " " + from, Group: "share " + guest.Share.ID}
	case user != nil:
		return limit.Caller{Key: "user " + user.Name}
	}
	if !isKnown(r) {
		return limit.Caller{Key: from, Group: "not logged in"}
	}
	return limit.Caller{Key: from}
}

// acquire waits for a lease of one unit, and for no longer than addressWait.
func (s *Server) acquire(ctx context.Context, limits ...limit.Limit) (*limit.Lease, error) {
	waiting, cancel := context.WithTimeout(ctx, addressWait)
	defer cancel()
	lease, err := s.limiter.Acquire(waiting, 1, limits...)
	if err != nil && ctx.Err() == nil {
		return nil, &problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: fmt.Sprintf("%d requests of this sort are in progress for you. Wait for one of them.", limits[0].Max),
		}
	}
	return lease, err
}
