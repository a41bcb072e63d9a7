package quota

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// LimitRequest is middleware that refuses oversized requests, and requests of an IP address that has reached its
// limits.
func (q *Limits) LimitRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := checkSize(r); p != nil {
			if address, known := q.peers.ClientAddr(r); known {
				q.addressRates.For(listen.AddressKey(address)).ReserveN(time.Now(), oversizedCost)
			}
			// Close the connection, because the rest of the request is not read.
			w.Header().Set("Connection", "close")
			request.WriteProblem(w, *p)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, request.MaxBody)
		defer listen.ConnOf(r).BeginRequest()()
		if address, known := q.peers.ClientAddr(r); known {
			admitted := q.acquireRequest(listen.AddressKey(address))
			if admitted == nil {
				WriteTooMany(w, "Too many requests are in flight, from your address or in total. Wait until some of them finish.")
				return
			}
			defer func() { admitted.lease.Release() }()
			ctx := context.WithValue(r.Context(), requestLeaseKey{}, admitted)
			r = r.WithContext(ctx)
			if !q.waitForAddressRate(ctx, listen.AddressKey(address)) {
				WriteTooMany(w, fmt.Sprintf("Your address sends more than %d requests and messages per second. "+
					"Slow down, then retry.", addressRate))
				return
			}
		}
		if !q.bufferBody(r) {
			WriteTooMany(w, "Too many request bodies are being read, from your address or in total. "+
				"Send the body without delay, or retry later.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bufferBody reads the complete body before the handler runs, because slow uploads must not occupy response memory.
func (q *Limits) bufferBody(r *http.Request) bool {
	// In HTTP/2, a request with ContentLength 0 can still have an endless body.
	if r.ContentLength == 0 && (r.ProtoMajor < 2 || r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return true
	}
	most := min(maxBodies, q.maxInFlight()/4)
	limits := []limit.Limit{{Key: "bodies", Max: most}}
	if address, known := q.peers.ClientAddr(r); known {
		limits = append(limits, limit.Limit{Key: "bodies of " + listen.AddressKey(address), Max: min(addressBodies, most/8)})
	}
	lease := q.Limiter.TryAcquire(1, limits...)
	if lease == nil {
		return false
	}
	defer lease.Release()
	text, err := io.ReadAll(r.Body)
	rest := io.Reader(bytes.NewReader(text))
	if err != nil {
		rest = io.MultiReader(rest, errReader{err}) // The handler gets the error when it reads the body.
	}
	r.Body = io.NopCloser(rest)
	return true
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// maxInFlight returns the maximum number of concurrent requests of all identified clients. All other clients together
// have the same maximum.
func (q *Limits) maxInFlight() int64 {
	if q.memoryLimit == 0 {
		return maxRequests
	}
	return min(maxRequests, max(minRequests, q.memoryLimit/requestMemoryDivisor/requestMemory))
}

// requestLease contains the lease that counts a request toward its limits. When the sender is identified, ChargeCaller
// replaces this lease with one for the limits of the sender.
type requestLease struct{ lease *limit.Lease }

type requestLeaseKey struct{}

// acquireRequest counts a request of a client that is not identified yet. It returns nil if a limit is reached.
func (q *Limits) acquireRequest(address string) *requestLease {
	most := q.maxInFlight()
	lease := q.Limiter.TryAcquire(1, limit.Limit{Key: "requests of " + address, Max: min(addressRequests, most/4)},
		limit.Limit{Key: "requests", Max: most})
	if lease == nil {
		return nil
	}
	return &requestLease{lease}
}

// ChargeCaller counts a request toward the limits of its user or share link, and no longer toward the limit of its
// address. It returns false if a limit is reached.
func (q *Limits) ChargeCaller(r *http.Request) bool {
	admitted, _ := r.Context().Value(requestLeaseKey{}).(*requestLease)
	caller, most := q.CallerOf(r), q.maxInFlight()
	if admitted == nil || request.IdentityOf(r).Viewer.User == nil && request.GuestOf(r) == nil {
		return true
	}
	limits := []limit.Limit{
		{Key: "requests of " + caller.Key, Max: most / 4}, {Key: "requests of known callers", Max: most},
	}
	if caller.Group != "" {
		limits = append(limits, limit.Limit{Key: "requests of all of " + caller.Group, Max: most / 2})
	}
	lease := q.Limiter.TryAcquire(1, limits...)
	if lease == nil {
		return false
	}
	admitted.lease.Release()
	admitted.lease = lease
	return true
}

// waitForAddressRate waits until the rate limit of an address allows a request. It returns false if the wait would
// exceed AddressWait, or if too many requests already wait.
func (q *Limits) waitForAddressRate(ctx context.Context, address string) bool {
	rates := q.addressRates.For(address)
	if rates.Allow() {
		return true
	}
	most := min(maxRateWaiters, q.maxInFlight()/4)
	lease := q.Limiter.TryAcquire(1,
		limit.Limit{Key: "requests that wait for the rate of " + address, Max: most / 2},
		limit.Limit{Key: "requests that wait for the rate of their address", Max: most})
	if lease == nil {
		return false
	}
	defer lease.Release()
	ctx, cancel := context.WithTimeout(ctx, listen.AddressWait)
	defer cancel()
	return rates.Wait(ctx) == nil
}

// WriteTooMany responds with status 429 (Too Many Requests).
func WriteTooMany(w http.ResponseWriter, detail string) {
	w.Header().Set("Retry-After", "2")
	request.WriteProblem(w, request.Problem{
		Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: detail,
	})
}

// checkSize refuses oversized requests. It also refuses bodies with a Content-Encoding, and bodies of GET and HEAD
// requests.
func checkSize(r *http.Request) *request.Problem {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	encoding := r.Header.Get("Content-Encoding")
	switch {
	case len(r.RequestURI) > maxRequestTarget:
		return &request.Problem{
			Title: "Address too long", Status: http.StatusRequestURITooLong,
			Detail: fmt.Sprintf("A path and its query may have at most %d bytes.", maxRequestTarget),
		}
	case fields > maxFields:
		return &request.Problem{
			Title: "Too many headers", Status: http.StatusRequestHeaderFieldsTooLarge,
			Detail: fmt.Sprintf("A request may have at most %d header fields.", maxFields),
		}
	case encoding != "" && encoding != "identity":
		return &request.Problem{
			Title: "Body is encoded", Status: http.StatusUnsupportedMediaType,
			Detail: "Encoded bodies are not accepted. Send the body without Content-Encoding.",
		}
	case reads && r.ContentLength != 0:
		return &request.Problem{
			Title: "Unexpected body", Status: http.StatusRequestEntityTooLarge,
			Detail: "A GET or HEAD request must not have a body.",
		}
	case r.ContentLength > request.MaxBody:
		return &request.Problem{
			Title: "Body too large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("A body may have at most %d bytes.", request.MaxBody),
		}
	}
	return nil
}
