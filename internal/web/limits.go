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

// Limits on what clients can send or keep open.
const (
	// maxRequestTarget is the maximum length of a path with its query, in bytes.
	maxRequestTarget = 16 << 10
	maxFields        = 100 // Maximum number of header fields of one request.
	maxBody          = 64 << 10
	maxStreams       = 100 // Maximum number of streams of one HTTP/2 connection.
	// addressRequests is the maximum number of requests in flight of one address. Sockets do not count.
	addressRequests = 1000
	// maxBodies is how many request bodies may be read at a time, and addressBodies how many of one address. With a
	// memory limit, all addresses together may read at most a quarter of maxInFlight, so that unfinished bodies leave
	// room for others. One address may read at most an eighth of that.
	maxBodies, addressBodies = 400, 50
	// maxRequests is the maximum number of requests in flight of all clients that are not identified yet. The same
	// maximum applies to all identified clients. With a memory limit, each of the two groups may use an eighth of it,
	// but at least minRequests are allowed.
	maxRequests, minRequests, requestMemoryDivisor, requestMemory = 4096, 256, 8, 64 << 10
	// maxRateWaiters is how many requests of all addresses may wait for the rate limit of their address. With a memory
	// limit, that is at most a quarter of maxInFlight. Half of these may be of one address.
	maxRateWaiters = 1000
	// addressSockets is the maximum number of sockets of one address, viewerSockets that of the tabs of one user.
	addressSockets, viewerSockets = 2000, 500
	// linkSockets is the maximum number of tabs of the guests of one link, guestSockets that of all guests. They leave
	// room for logged-in users.
	linkSockets, guestSockets = 2000, 4000
	// socketSubscriptions is how many subscriptions a caller may have for each of its sockets. All sockets of the
	// caller share the total, so a single socket may have more.
	socketSubscriptions = 6
	// viewerLogs is how many logs one user may follow at a time. linkLogs is the same for one link, and guestLogs for
	// all links together. They leave capacity for others.
	viewerLogs, linkLogs, guestLogs = 25, 25, 50
	// messageRate is how many messages a second a socket may send, after messageBurst at once. Further messages wait.
	messageRate, messageBurst = 20, 200
	// addressRate is how many requests, connections and socket messages a second one address may send, after
	// addressBurst at once: a thousand tabs may reconnect together.
	addressRate, addressBurst = 250, 4000
	// oversizedCost is how many requests an oversized request counts as, because it was read for nothing.
	oversizedCost = 10
	// addressWait is how long a request waits for the rate limit of its address, or for a lease.
	addressWait = 10 * time.Second
)

// processorLimits returns the limits on work that keeps a processor busy for a request: scans of all rows of a kind,
// responses (encoding and compression), and conversions of long texts. A caller, or all guests of a link, may use half
// of the processors at a time. All together leave one processor to sockets. Such work waits neither for a client nor
// for the API server.
func (s *Server) processorLimits(r *http.Request) []limit.Limit {
	caller, processors := s.callerOf(r), int64(runtime.GOMAXPROCS(0))
	return []limit.Limit{
		{Key: "builds of " + cmp.Or(caller.Group, caller.Key), Max: max(1, processors/2)},
		{Key: "builds", Max: max(1, processors-1)},
	}
}

// acquireProcessor waits for a lease under processorLimits, for work that keeps a processor busy. The caller must call
// done after the work.
func (s *Server) acquireProcessor(ctx context.Context, r *http.Request) (done func(), err error) {
	if out := responseOf(r); out != nil && out.buildLease != nil {
		return func() {}, nil // The work is part of a response that has a lease.
	}
	lease, err := s.acquire(ctx, s.processorLimits(r)...)
	return lease.Release, err
}

// rateLimitersFor returns the rate limiters of a new socket: its own, and that of its address.
func (s *Server) rateLimitersFor(r *http.Request, own *rate.Limiter, addresses *limit.Rates) []*rate.Limiter {
	if address, known := s.peers.clientAddr(r); known {
		return []*rate.Limiter{own, addresses.For(addressKey(address))}
	}
	return []*rate.Limiter{own}
}

// waitForRate waits until the session may read one more message. It returns an error if the session has ended.
func (l *session) waitForRate(ctx context.Context) error {
	for _, limiter := range l.limiters {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fanOutSize returns how many sockets count toward the most used of some limits. It returns 0 if these are all open sockets,
// because then there are no other sockets to leave time for.
func (s *Server) fanOutSize(limits []limit.Limit) int {
	var maxUsed int64
	for _, l := range limits {
		maxUsed = max(maxUsed, s.limiter.Used(l.Key))
	}
	if maxUsed < s.openSockets.Load() {
		return int(maxUsed)
	}
	return 0
}

// limitRequest is middleware that refuses oversized requests. It also refuses requests of an address that has too many
// in flight, or exceeds its rate.
func (s *Server) limitRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := checkSize(r); p != nil {
			if address, known := s.peers.clientAddr(r); known {
				s.addressRates.For(addressKey(address)).ReserveN(time.Now(), oversizedCost)
			}
			w.Header().Set("Connection", "close") // The rest of the request is not read.
			writeProblem(w, *p)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		defer connOf(r).beginRequest()()
		if address, known := s.peers.clientAddr(r); known {
			request := s.acquireRequest(addressKey(address))
			if request == nil {
				writeTooMany(w, "Too many requests are in flight, of your address or in total. Wait for some of them.")
				return
			}
			defer func() { request.lease.Release() }()
			ctx := context.WithValue(r.Context(), requestLeaseKey{}, request)
			r = r.WithContext(ctx)
			if !s.waitForAddressRate(ctx, addressKey(address)) {
				writeTooMany(w, fmt.Sprintf("Your address sends more than %d requests and messages per second. "+
					"Slow down, then retry.", addressRate))
				return
			}
		}
		if !s.bufferBody(r) {
			writeTooMany(w, "Too many request bodies are being read, of your address or in total. "+
				"Send the body without delay, or retry later.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bufferBody reads the body of a request before the request is handled. A client that sends the body slowly then
// occupies 64 KiB, and not the memory reserved for a response. It reports false if too many bodies are being read. It
// does not wait for them, because waiting requests would use up the limit for clients that are not identified yet.
func (s *Server) bufferBody(r *http.Request) bool {
	// In HTTP/2, a request with a Content-Length of 0 can nevertheless have a body that never ends.
	if r.ContentLength == 0 && (r.ProtoMajor < 2 || r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return true
	}
	most := min(maxBodies, s.maxInFlight()/4)
	limits := []limit.Limit{{Key: "bodies", Max: most}}
	if address, known := s.peers.clientAddr(r); known {
		limits = append(limits, limit.Limit{Key: "bodies of " + addressKey(address), Max: min(addressBodies, most/8)})
	}
	lease := s.limiter.TryAcquire(1, limits...)
	if lease == nil {
		return false
	}
	defer lease.Release()
	text, err := io.ReadAll(r.Body)
	rest := io.Reader(bytes.NewReader(text))
	if err != nil {
		rest = io.MultiReader(rest, errReader{err}) // The handler reports it.
	}
	r.Body = io.NopCloser(rest)
	return true
}

// errReader returns its error from each Read.
type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) { return 0, f.err }

// maxInFlight is the maximum number of requests in flight of all clients that are not identified yet. The same maximum
// applies to all identified clients. It follows from the memory limit: a request that waits takes up to 64 KiB
// (measured with headers of 29.5 KB).
func (s *Server) maxInFlight() int64 {
	if s.memoryLimit == 0 {
		return maxRequests
	}
	return min(maxRequests, max(minRequests, s.memoryLimit/requestMemoryDivisor/requestMemory))
}

// requestLease is the lease under which a request in flight counts. It can be replaced when the sender is identified.
type requestLease struct{ lease *limit.Lease }

// requestLeaseKey is the context key of a request's arriving.
type requestLeaseKey struct{}

// acquireRequest counts a request whose sender is not identified yet, toward the limits of its address and of all such
// requests. It returns nil if one of them is used up.
func (s *Server) acquireRequest(address string) *requestLease {
	most := s.maxInFlight()
	lease := s.limiter.TryAcquire(1, limit.Limit{Key: "requests of " + address, Max: min(addressRequests, most/4)},
		limit.Limit{Key: "requests", Max: most})
	if lease == nil {
		return nil
	}
	return &requestLease{lease}
}

// chargeCaller counts a request toward the limits of its caller from now on, and not of its address any more. It reports
// false if the caller has too many requests in flight. A request without a known user or guest still counts toward the
// limits of its address.
func (s *Server) chargeCaller(r *http.Request) bool {
	request, _ := r.Context().Value(requestLeaseKey{}).(*requestLease)
	caller, most := s.callerOf(r), s.maxInFlight()
	if request == nil || identityOf(r).Viewer.User == nil && guestOf(r) == nil {
		return true
	}
	limits := []limit.Limit{
		{Key: "requests of " + caller.Key, Max: most / 4}, {Key: "requests of known callers", Max: most},
	}
	if caller.Group != "" {
		limits = append(limits, limit.Limit{Key: "requests of all of " + caller.Group, Max: most / 2})
	}
	lease := s.limiter.TryAcquire(1, limits...)
	if lease == nil {
		return false
	}
	request.lease.Release()
	request.lease = lease
	return true
}

// waitForAddressRate waits for the rate limit of an address. It reports false if that takes too long, or if too many
// requests are waiting already.
func (s *Server) waitForAddressRate(ctx context.Context, address string) bool {
	rates := s.addressRates.For(address)
	if rates.Allow() {
		return true
	}
	most := min(maxRateWaiters, s.maxInFlight()/4)
	lease := s.limiter.TryAcquire(1,
		limit.Limit{Key: "requests that wait for the rate of " + address, Max: most / 2},
		limit.Limit{Key: "requests that wait for the rate of their address", Max: most})
	if lease == nil {
		return false
	}
	defer lease.Release()
	ctx, cancel := context.WithTimeout(ctx, addressWait)
	defer cancel()
	return rates.Wait(ctx) == nil
}

func writeTooMany(w http.ResponseWriter, detail string) {
	w.Header().Set("Retry-After", "2")
	writeProblem(w, problem{Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: detail})
}

// checkSize returns the problem of a request that exceeds a limit on its size; nil if it exceeds none.
func checkSize(r *http.Request) *problem {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	encoding := r.Header.Get("Content-Encoding")
	switch {
	case len(r.RequestURI) > maxRequestTarget:
		return &problem{
			Title: "Address too long", Status: http.StatusRequestURITooLong,
			Detail: fmt.Sprintf("A path and its query may have at most %d bytes.", maxRequestTarget),
		}
	case fields > maxFields:
		return &problem{
			Title: "Too many headers", Status: http.StatusRequestHeaderFieldsTooLarge,
			Detail: fmt.Sprintf("A request may have at most %d header fields.", maxFields),
		}
	case encoding != "" && encoding != "identity":
		return &problem{
			Title: "Body is encoded", Status: http.StatusUnsupportedMediaType,
			Detail: "Encoded bodies are not accepted. Send the body without Content-Encoding.",
		}
	case reads && r.ContentLength != 0:
		return &problem{
			Title: "Body too large", Status: http.StatusRequestEntityTooLarge,
			Detail: "A GET or HEAD request must not have a body.",
		}
	case r.ContentLength > maxBody:
		return &problem{
			Title: "Body too large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("A body may have at most %d bytes.", maxBody),
		}
	}
	return nil
}

// socketQuotas returns the limits that a socket counts toward: those of its address, and of its user or link. Without a
// login only the address is known.
func (s *Server) socketQuotas(r *http.Request) []limit.Limit {
	var quotas []limit.Limit
	if address, known := s.peers.clientAddr(r); known {
		quotas = append(quotas, limit.Limit{Key: "sockets of " + addressKey(address), Max: addressSockets})
	}
	return append(quotas, quotasFor("sockets", guestOf(r), identityOf(r), linkSockets, guestSockets, viewerSockets)...)
}

// subscriptionQuotas returns the limits that each subscription of a socket counts toward.
func subscriptionQuotas(socket []limit.Limit) []limit.Limit {
	quotas := make([]limit.Limit, len(socket))
	for i, q := range socket {
		quotas[i] = limit.Limit{Key: "subscriptions by " + q.Key, Max: q.Max * socketSubscriptions}
	}
	return quotas
}

// quotasFor returns the limits that a guest's or user's sockets or logs count toward. what names these in the keys.
func quotasFor(unit string, guest *share.Guest, identity auth.Identity, maxLink, maxGuests, maxUser int64) []limit.Limit {
	switch user := identity.Viewer.User; {
	case guest != nil:
		return []limit.Limit{
			{Key: unit + " of the share " + guest.Share.ID, Max: maxLink}, {Key: unit + " of guests", Max: maxGuests},
		}
	case user != nil:
		return []limit.Limit{{Key: unit + " of the user " + user.Name, Max: maxUser}}
	}
	return nil
}

// callerOf returns the caller of a request for the limits on memory and processors: a guest of a link at one address, a
// user, or else an address.
func (s *Server) callerOf(r *http.Request) limit.Caller {
	addressCaller := ""
	if address, known := s.peers.clientAddr(r); known {
		addressCaller = "address " + addressKey(address)
	}
	guest, user := guestOf(r), identityOf(r).Viewer.User
	switch {
	case guest != nil:
		return limit.Caller{Key: "share " + guest.Share.ID + " " + addressCaller, Group: "share " + guest.Share.ID}
	case user != nil:
		return limit.Caller{Key: "user " + user.Name}
	}
	if !isIdentified(r) {
		return limit.Caller{Key: addressCaller, Group: "not logged in"}
	}
	return limit.Caller{Key: addressCaller}
}

// acquire waits for a lease of one unit, for at most addressWait.
func (s *Server) acquire(ctx context.Context, limits ...limit.Limit) (*limit.Lease, error) {
	waitCtx, cancel := context.WithTimeout(ctx, addressWait)
	defer cancel()
	lease, err := s.limiter.Acquire(waitCtx, 1, limits...)
	if err != nil && ctx.Err() == nil {
		return nil, &problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests,
			Detail: fmt.Sprintf(
				"Too many requests of this kind are in progress; your limit is %d. Wait until one of them finishes.",
				limits[0].Max),
		}
	}
	return lease, err
}
