package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/web"
)

// Every route refuses an oversized request before any other work.
//
// Invariant: I26.
func TestOversizedRequestsAreRefused(t *testing.T) {
	handler, err := newServerWithoutCluster(t, web.Options{}).Handler()
	if err != nil {
		t.Fatal(err)
	}
	withHeaders := func(n int) func(*http.Request) {
		return func(r *http.Request) {
			for i := range n {
				r.Header.Add(fmt.Sprint("X-", i%7), "1")
			}
		}
	}
	for _, route := range allRoutes(t) {
		method, path, _ := strings.Cut(route, " ")
		for _, test := range []struct {
			name   string
			change func(*http.Request)
			want   string
		}{
			{"no change", func(*http.Request) {}, ""},
			{
				"long query", func(r *http.Request) { r.RequestURI = path + "?q=" + strings.Repeat("a", 16<<10) },
				"Address too long",
			},
			{
				"query of the maximum length",
				func(r *http.Request) { r.RequestURI = path + "?q=" + strings.Repeat("a", 16<<10-3-len(path)) }, "",
			},
			{"100 headers", withHeaders(100), ""},
			{"101 headers", withHeaders(101), "Too many headers"},
			{
				"long body", func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), 2 },
				"Unexpected body",
			},
			{
				"body of unknown length",
				func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), -1 },
				"Length required",
			},
			{"gzip body", func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, "Body is encoded"},
			{"identity encoding", func(r *http.Request) { r.Header.Set("Content-Encoding", "identity") }, ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				if method != http.MethodGet && test.want == "Unexpected body" {
					return // This route accepts a body.
				}
				r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
				r.Host = "localhost"
				test.change(r)
				got := problemTitle(handler, r)
				for _, title := range []string{
					"Address too long", "Too many headers", "Unexpected body", "Body is encoded",
				} {
					if (got == title) != (test.want == title) {
						t.Errorf("%s with %s: got problem %q, want %q", route, test.name, got, test.want)
					}
				}
			})
		}
	}
}

// A request body must have at most 64 KiB, and a Content-Length, even with HTTP/2.
//
// Invariant: I26.
func TestBodySizeIsLimited(t *testing.T) {
	var read int
	var readErr error
	handler, err := newServerWithoutCluster(t, web.Options{}).HandlerWith(http.MethodPost, "/change", func(
		_ http.ResponseWriter, r *http.Request,
	) {
		body, err := io.ReadAll(r.Body)
		read, readErr = len(body), err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		size      int
		hasLength bool
		title     string
	}{
		{64 << 10, true, ""},
		{64<<10 + 1, true, "Body too large"},
		{10, false, "Length required"},
	} {
		t.Run(test.title, func(t *testing.T) {
			read, readErr = 0, nil
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/change",
				strings.NewReader(strings.Repeat("a", test.size)))
			r.Host = "localhost"
			if !test.hasLength {
				r.ContentLength = -1
			}
			if title := problemTitle(handler, r); title != test.title || readErr != nil || read > 64<<10 {
				t.Errorf("%+v: got problem %q, read %d bytes, error %v", test, title, read, readErr)
			}
		})
	}
}

// An address has a maximum of concurrent requests. X-Forwarded-For counts only if a trusted proxy sends it.
//
// Invariant: I26.
func TestConcurrentRequestsOfAnAddressAreLimited(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	handler, err := newServerWithoutCluster(t, web.Options{
		Peers: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
	}).HandlerWith(http.MethodPost, "/slow", func(http.ResponseWriter, *http.Request) {
		started <- struct{}{}
		<-finish
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(remote, method, path string, forwarded ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Host, r.RemoteAddr = "localhost", remote
		r.Header["X-Forwarded-For"] = forwarded
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		return recorder
	}
	const most = 1000
	ended := make(chan struct{})
	for range most {
		go func() { get("192.0.2.1:1", http.MethodPost, "/slow"); ended <- struct{}{} }()
	}
	for range most {
		<-started
	}
	for _, test := range []struct {
		name, remote string
		forwarded    []string
		status       int
	}{
		{"same address", "192.0.2.1:2", nil, 429},
		{"same address, with a forged header", "192.0.2.1:2", []string{"192.0.2.2"}, 429},
		{"same address, IPv4-mapped", "[::ffff:192.0.2.1]:2", nil, 429},
		{"another", "192.0.2.2:1", nil, 200},
		{"proxy for the address", "10.0.0.1:1", []string{"192.0.2.1"}, 429},
		{"proxy for the address, with a forged header", "10.0.0.1:1", []string{"192.0.2.2, 192.0.2.1"}, 429},
		{"two proxies for the address", "10.0.0.1:1", []string{"192.0.2.2", "192.0.2.1, 10.0.0.2"}, 429},
		{"IPv6 proxy for the address", "[fd00::1]:1", []string{"192.0.2.1"}, 429},
		{"proxy for another address", "10.0.0.1:1", []string{"192.0.2.1, 192.0.2.2"}, 200},
		{"proxy without a client address", "10.0.0.1:1", nil, 200},
		{"proxy with an invalid client address", "10.0.0.1:1", []string{"192.0.2.1, x"}, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := get(test.remote, http.MethodGet, "/healthz", test.forwarded...); got.Code != test.status ||
				(got.Code == 429) != (got.Header().Get("Retry-After") != "") {
				t.Errorf("got status %d %s, want %d", got.Code, got.Body, test.status)
			}
		})
	}
	close(finish)
	for range most {
		<-ended
	}
	if got := get("192.0.2.1:1", http.MethodGet, "/healthz"); got.Code != 200 {
		t.Errorf("after the requests have ended: got %d %s, want 200", got.Code, got.Body)
	}
}

// A connection is closed if its request, or only the header of its request, takes too long to arrive.
//
// Invariant: I26.
func TestSlowRequestsAreClosed(t *testing.T) {
	for _, test := range []struct {
		name, text string
		after      time.Duration
	}{
		{"nothing", "", 10 * time.Second},
		{"half a header", "GET /healthz HTTP/1.1\r\nHost: localh", 10 * time.Second},
		{
			"half a body", "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhal",
			30 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				conn, err := b.dial(b.t.Context(), "", "")
				if err != nil {
					b.t.Fatal(err)
				}
				began := time.Now()
				if _, err := io.WriteString(conn, test.text); err != nil {
					b.t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, conn); err != nil {
					b.t.Errorf("read the response: %v", err)
				}
				if took := time.Since(began); took > test.after+time.Second {
					b.t.Errorf("connection was closed after %v, want %v", took, test.after)
				}
			})
		})
	}
}

// Messages above the rate limit are delayed, not lost. Those of a normal page are not delayed.
//
// Invariant: I26.
func TestMessageRateIsLimited(t *testing.T) {
	inBubble(t, func(b *bubble) {
		c := b.open()
		began := time.Now()
		const burst, excess = 200, 100
		ctx, cancel := context.WithCancel(b.t.Context())
		defer cancel()
		sent := make(chan error, 1)
		go func() {
			for i := range burst + excess {
				if err := c.Write(ctx, fmt.Sprintf(`{"op":"ping","id":%d}`, i+1)); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		for i := range burst + excess {
			c.Until(i+1, "pong")
			if took := time.Since(began); i == burst-1 && took > time.Second {
				b.t.Errorf("the first %d messages took %v, want at most 1 s", burst, took)
			}
		}
		if took := time.Since(began); took < 4*time.Second || took > 6*time.Second {
			b.t.Errorf("%d more messages took %v, want 5 s", excess, took)
		}
		if err := <-sent; err != nil {
			b.t.Error(err)
		}
	})
}

// WebSocket frames have a rate limit even if they do not complete a message.
//
// Invariant: I44.
func TestFrameRateIsLimited(t *testing.T) {
	const burst, rate, excess = 2000, 200, 1000
	for name, flood := range map[string]string{
		"pings":        strings.Repeat(livetest.Frame(0x89, ""), burst+excess),
		"pongs":        strings.Repeat(livetest.Frame(0x8a, ""), burst+excess),
		"empty pieces": livetest.Frame(0x01, "") + strings.Repeat(livetest.Frame(0x00, ""), burst+excess),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				conn := b.openNonReadingWith(`{"op":"ping","id":1}`)
				go func() { _, _ = io.Copy(io.Discard, conn) }() // Discard received data until the server closes the connection.
				began := time.Now()
				for piece := range slices.Chunk([]byte(flood), 600) {
					if _, err := conn.Write(piece); err != nil {
						b.t.Fatal(err)
					}
				}
				if took, want := time.Since(began), excess*time.Second/rate; took < want-2*time.Second ||
					took > want+2*time.Second {
					b.t.Errorf("%d frames took %v, want %v", burst+excess, took, want)
				}
				_ = conn.Close()
			})
		})
	}
}

// If some addresses never complete their request bodies, other addresses can still send requests with and without a
// body.
func TestUnfinishedBodiesDoNotBlockOtherAddresses(t *testing.T) {
	// Of 256 concurrent requests, 64 can have unread bodies. One address can have 8 of these 64.
	const addresses, perAddress, allowed = 7, 10, 8
	for _, test := range []struct {
		name        string
		major       int
		length      int64
		wantRefused int64
	}{
		{"HTTP/1.1", 1, 1000, addresses * (perAddress - allowed)},
		{"HTTP/2 with a Content-Length of 0", 2, 0, addresses * (perAddress - allowed)},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler, err := newServerWithoutCluster(t, web.Options{MemoryLimit: 96 << 20}).Handler()
			if err != nil {
				t.Fatal(err)
			}
			var refused atomic.Int64
			var sending sync.WaitGroup
			body, writer := io.Pipe()
			for n := range addresses * perAddress {
				sending.Go(func() {
					r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/share", body)
					r.Host, r.RemoteAddr = "localhost", fmt.Sprintf("192.0.2.%d:1", n%addresses)
					r.ProtoMajor, r.ContentLength = test.major, test.length
					recorder := httptest.NewRecorder()
					handler.ServeHTTP(recorder, r)
					if recorder.Code == http.StatusTooManyRequests {
						refused.Add(1)
					}
				})
			}
			deadline := time.Now().Add(10 * time.Second)
			for refused.Load() < test.wantRefused && time.Now().Before(deadline) {
				runtime.Gosched()
			}
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				r := httptest.NewRequestWithContext(t.Context(), method, "/share", nil)
				if method == http.MethodPost {
					r = httptest.NewRequestWithContext(t.Context(), method, "/share", strings.NewReader("{}"))
				}
				r.Host, r.RemoteAddr = "localhost", "192.0.2.200:1"
				recorder := httptest.NewRecorder()
				handler.ServeHTTP(recorder, r)
				if recorder.Code == http.StatusTooManyRequests {
					t.Errorf("%s from another address: got %d %s", method, recorder.Code, recorder.Body)
				}
			}
			_ = writer.Close()
			sending.Wait()
			if got := refused.Load(); got != test.wantRefused {
				t.Errorf("%d bodies were refused, want %d", got, test.wantRefused)
			}
		})
	}
}

// Requests above the rate limit of an address are delayed or refused. Requests from other addresses are not delayed.
//
// Invariant: I26.
func TestRequestRateOfAnAddressIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, err := newServerWithoutCluster(t, web.Options{}).Handler()
		if err != nil {
			t.Fatal(err)
		}
		get := func(remote string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", nil)
			r.Host, r.RemoteAddr = "localhost", remote
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, r)
			return recorder.Code
		}
		const burst, rate = 4000, 250
		began := time.Now()
		for range burst {
			get("192.0.2.1:1")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the first %d requests took %v, want at most 1 s", burst, took)
		}
		for range rate {
			if code := get("192.0.2.1:1"); code != http.StatusOK {
				t.Fatalf("waiting request: got status %d, want 200", code)
			}
		}
		if took := time.Since(began); took < 900*time.Millisecond || took > 1100*time.Millisecond {
			t.Errorf("%d more requests took %v, want 1 s", rate, took)
		}
		if code := get("192.0.2.2:1"); code != http.StatusOK || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("request of another address: got status %d after %v", code, time.Since(began))
		}
	})
}

// The number of terms in a selector or search text is limited, because every object is compared with every term.
//
// Invariant: I26.
func TestSelectorTermsAreLimited(t *testing.T) {
	s := newSite(t)
	values := strings.Repeat("v,", 98) // Equal values count only once, so these are not too many.
	var different strings.Builder
	for i := range 99 {
		fmt.Fprintf(&different, "v%d,", i)
	}
	list := "/api/v1/snapshot/" + podsRef + "?"
	for _, test := range []struct {
		query string
		ok    bool
	}{
		{"labels=" + strings.TrimSuffix(strings.Repeat("!a,", 100), ","), true},
		{"labels=" + strings.TrimSuffix(strings.Repeat("!a,", 101), ","), false},
		{"labels=a+in+(" + values + "w)", true},
		{"labels=a+notin+(" + strings.TrimSuffix(different.String(), ",") + ")", true},
		{"labels=a+in+(" + different.String() + "w)", false},
		{"q=" + strings.Repeat("web+", 100), true},
		{"q=" + strings.Repeat("w+", 101), false},
	} {
		t.Run(test.query, func(t *testing.T) {
			a := s.get(list + test.query)
			if test.ok && a.status != http.StatusOK {
				t.Errorf("selector %.40s: got %d %s, want 200", test.query, a.status, a.body)
			} else if !test.ok {
				s.wantProblem(test.query, a, http.StatusBadRequest, "Selector too complex", "may have at most 100")
			}
		})
	}
}
