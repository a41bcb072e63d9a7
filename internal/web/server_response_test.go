package web_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a-h/templ"

	"github.com/glasshouse-project/glasshouse/internal/limit"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// slowClient is a ResponseWriter whose writes block until the test allows reading.
type slowClient struct {
	*httptest.ResponseRecorder

	read     chan struct{}
	mu       sync.Mutex
	timer    *time.Timer
	deadline chan struct{} // Closed when the write deadline has passed.
}

func newSlowClient() *slowClient {
	return &slowClient{ResponseRecorder: httptest.NewRecorder(), read: make(chan struct{}), deadline: make(chan struct{})}
}

func (c *slowClient) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	deadline := make(chan struct{})
	c.deadline = deadline
	c.timer = time.AfterFunc(time.Until(at), func() { close(deadline) })
	return nil
}

func (c *slowClient) Write(p []byte) (int, error) {
	for {
		c.mu.Lock()
		deadline := c.deadline
		c.mu.Unlock()
		select {
		case <-c.read:
			return c.ResponseRecorder.Write(p)
		case <-deadline:
			return 0, os.ErrDeadlineExceeded
		case <-time.After(time.Millisecond): // Check again, because the deadline can have changed.
		}
	}
}

type client struct {
	*bubble

	ctx     context.Context //nolint:containedctx // The context of all requests of the client.
	handler http.Handler
	address string
}

func (b *bubble) client(address string) *client {
	b.t.Helper()
	handler, err := b.server.Handler()
	if err != nil {
		b.t.Fatal(err)
	}
	return &client{b, b.t.Context(), handler, address}
}

// send sends a request. It returns false if the response was aborted.
func (c *client) send(w http.ResponseWriter, path string) (complete bool) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // This error is never wrapped.
			panic(v)
		}
	}()
	r := httptest.NewRequestWithContext(c.ctx, http.MethodGet, path, nil)
	r.Host, r.RemoteAddr = "localhost", c.address+":1"
	c.handler.ServeHTTP(w, r)
	return true
}

// wantResponse checks the status of a response, and its delay with a tolerance of 300 ms.
func (c *client) wantResponse(name, path string, status int, delay time.Duration) {
	c.t.Helper()
	began, w := time.Now(), httptest.NewRecorder()
	complete := c.send(w, path)
	took := time.Since(began)
	if !complete || w.Code != status || took < delay || took > delay+300*time.Millisecond {
		c.t.Errorf("%s: got %d after %v, complete: %t, want %d after %v: %.200s", name, w.Code, took, complete, status, delay,
			w.Body)
	}
	if (w.Header().Get("Retry-After") != "") != (status == http.StatusTooManyRequests) {
		c.t.Errorf("%s: Retry-After is %q, want it only with 429", name, w.Header().Get("Retry-After"))
	}
}

// sendUnread sends n requests whose responses are not read. For each request, completed receives false if the
// response was aborted.
func (c *client) sendUnread(n int, path string) (clients []*slowClient, completed chan bool) {
	completed = make(chan bool, n)
	for range n {
		w := newSlowClient()
		clients = append(clients, w)
		go func() { completed <- c.send(w, path) }()
	}
	synctest.Wait()
	return clients, completed
}

// addNoise adds pods with random text, which does not compress.
func (b *bubble) addNoise(pods int) {
	noise := make([]byte, 100<<10)
	for n := range pods {
		_, _ = rand.Read(noise) // crypto/rand never fails.
		b.api.Set(podsRef, apitest.Item{
			Namespace: "a", Name: fmt.Sprint("noise-", n), Rest: fmt.Sprintf(`"spec":{"noise":"%x"}`, noise),
		})
	}
}

const (
	exportPath   = "/api/v1/snapshot/core/v1/pods?view=objects"
	rowsPath     = "/api/v1/snapshot/core/v1/pods"
	addrA, addrB = "192.0.2.1", "192.0.2.2"
)

// Unread responses delay only their caller. One caller can use a quarter of the memory for responses. If this caller
// sends another request, the server aborts one of its unread responses after 500 ms.
//
// Invariant: I44.
func TestUnreadResponsesUseLimitedMemory(t *testing.T) {
	// One caller can use a quarter of total, 64 MiB. Seven exports of 8 MiB use 56 MiB; the rest is for their buffers.
	const total, exports, export = 256 << 20, 7, 8 << 20
	inBubble(t, func(b *bubble) {
		b.addNoise(10)
		unreading, otherClient := b.client(addrA), b.client(addrB)
		otherClient.wantResponse("rows of a watched resource", rowsPath, http.StatusOK, 0)
		clients, completed := unreading.sendUnread(exports, exportPath)
		if used := b.server.Limits().Budget.Used(); used <= exports*export || used > total/4 {
			t.Errorf("%d unread exports use %d bytes, want more than %d and at most a quarter of the limit",
				exports, used, exports*export)
		}
		otherClient.wantResponse("rows for another client", rowsPath, http.StatusOK, 0)
		otherClient.wantResponse("export for another client", exportPath, http.StatusOK, 0)
		unreading.wantResponse("further export of the same caller", exportPath, http.StatusOK, 500*time.Millisecond)
		if complete := <-completed; complete {
			t.Error("no unread response was aborted for the new one")
		}
		unreading.wantResponse("another export while memory is available", exportPath, http.StatusOK, 0)
		for _, c := range clients {
			close(c.read)
		}
		for range exports - 1 {
			if complete := <-completed; !complete {
				t.Error("a response that is being read was aborted")
			}
		}
		if used := b.server.Limits().Budget.Used(); used != 0 {
			t.Errorf("%d bytes are reserved after all responses, want 0", used)
		}
	})
}

// A response that its client does not read is aborted within 30 s, even if the server has enough memory.
//
// Invariant: I44.
func TestUnreadResponsesAreAborted(t *testing.T) {
	for _, path := range []string{exportPath, rowsPath, "/r/core/v1/pods", "/status", "/api/openapi.json"} {
		t.Run(path, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.addNoise(10)
				began := time.Now()
				_, completed := b.client(addrA).sendUnread(1, path)
				if complete := <-completed; complete || time.Since(began) > 30*time.Second {
					t.Errorf("ended after %v, complete: %t; want it aborted within 30 s", time.Since(began), complete)
				}
				if used := b.server.Limits().Budget.Used(); used != 0 {
					t.Errorf("%d bytes are reserved after the response, want 0", used)
				}
			})
		})
	}
}

// Memory is reserved when the buffers of a response grow, and for the escaped text of a page.
func TestResponseBuffersReserveMemory(t *testing.T) {
	const piece, pieces = 100 << 10, 50
	limits := quota.New(nil, 0)
	noise := make([]byte, piece)
	handler := func(w http.ResponseWriter, r *http.Request) {
		before := limits.Budget.Used()
		for n := range pieces {
			if _, err := w.Write(noise); err != nil {
				t.Error(err)
			}
			if used := limits.Budget.Used() - before; used < int64(n*piece) || used > 3*(int64(n+1)*piece) {
				t.Errorf("response of %d bytes reserves %d", (n+1)*piece, used)
			}
		}
		before = limits.Budget.Used()
		reader := &response.Reader{Limits: limits}
		document, err := reader.YAMLForPage(r, fmt.Appendf(nil, `{"a":%q}`, strings.Repeat(`<'&>`, 10_000)))
		if err != nil {
			t.Error(err)
		}
		least := int64(len(document) + len(templ.EscapeString(document)))
		if used := limits.Budget.Used() - before; used < least || used > 2*least {
			t.Errorf("text of %d bytes reserves %d bytes for its page, want at least %d", len(document), used, least)
		}
	}
	recorder := httptest.NewRecorder()
	middleware := response.Middleware{Limits: limits, Errors: new(request.ErrorWriter)}
	middleware.WithBudget(
		request.Public, response.Buffered, response.SmallMemory, response.SendAfterHandler(http.HandlerFunc(handler)),
	).ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if recorder.Code != http.StatusOK || recorder.Body.Len() != pieces*piece {
		t.Errorf("got status %d and %d bytes, want 200 and %d", recorder.Code, recorder.Body.Len(), pieces*piece)
	}
	if used := limits.Budget.Used(); used != 0 {
		t.Errorf("%d bytes are reserved after the response, want 0", used)
	}
}

// If a caller has used all its memory, its next request waits up to 10 s, and is then refused.
//
// Invariant: I44.
func TestWaitForMemoryTimesOut(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Hang("/api/v1/namespaces/a/services/x") // The API server never responds to this request.
		busyClient, otherClient := b.client(addrA), b.client(addrB)
		path := "/api/v1/object/core/v1/services/a/x"
		const excess, inProgress = 20, 64 * 2 / 7 // The caller has 64 MiB, and each object response needs 3.5 MiB.
		ctx, cancel := context.WithCancel(b.t.Context())
		waiting := *busyClient
		busyClient.ctx = ctx
		_, completed := busyClient.sendUnread(inProgress+excess, path)
		waiting.wantResponse("further request of the caller", rowsPath, http.StatusTooManyRequests, 10*time.Second)
		otherClient.wantResponse("request of another client", rowsPath, http.StatusOK, 0)
		cancel()
		for range inProgress + excess {
			<-completed
		}
		if used := b.server.Limits().Budget.Used(); used != 0 {
			t.Errorf("%d bytes are reserved after all responses, want 0", used)
		}
	}, apitest.Kind{Ref: "core/v1/services", Kind: "Service"})
}

// acquireProcessors acquires all processor leases. Until they are released, the server cannot build any response.
func acquireProcessors(server *web.Server) *limit.Lease {
	limits := server.Limits().Processors(httptest.NewRequest(http.MethodGet, "/", nil))
	return server.Limits().Limiter.TryAcquire(limits[1].Max, limits[1])
}

// Responses need one of few processor leases, so that a burst of requests does not delay socket messages.
func TestResponsesWaitForAProcessor(t *testing.T) {
	for _, path := range []string{
		rowsPath, exportPath, "/api/v1/object/core/v1/pods/a/noise-0",
		"/api/v1/object/core/v1/pods/a/noise-0?format=yaml",
		"/api/v1/related/core/v1/pods/a/noise-0", "/api/v1/search?q=noise", "/api/v1/status",
		"/api/v1/resources", "/o/core/v1/pods/a/noise-0", "/status",
	} {
		t.Run(path, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.addNoise(1)
				c := b.client(addrA)
				c.wantResponse("first request", path, http.StatusOK, 0)
				lease := acquireProcessors(b.server)
				c.wantResponse("request while no processor is available", path, http.StatusTooManyRequests, 10*time.Second)
				lease.Release()
				c.wantResponse("last request", path, http.StatusOK, 0)
			})
		})
	}
}

// The memory of unread WebSocket messages stays reserved. These messages do not delay the responses of another caller.
//
// Invariant: I44.
func TestUnreadMessagesUseLimitedMemory(t *testing.T) {
	for view, subscribe := range map[string]string{
		"object":  `{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["a"],"name":"noise-1","view":"object"}`,
		"rows":    `{"op":"subscribe","id":1,"resource":"core/v1/pods"}`,
		"table":   `{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"table"}`,
		"window":  `{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"window","offset":0,"count":100}`,
		"changes": `{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"changes"}`,
	} {
		t.Run(view, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.addNoise(3)
				b.client(addrB).wantResponse("rows of a watched resource", rowsPath, http.StatusOK, 0)
				var tabs []*tab
				for range 60 {
					c := b.open()
					c.Send(subscribe)
					c.Until(1, "state")
					tabs = append(tabs, c) // From here on, the client does not read.
				}
				synctest.Wait()
				const total = 256 << 20
				if used := b.server.Limits().Budget.Used(); used == 0 || used > total/4 {
					t.Errorf("60 unread sockets use %d bytes, want more than 0 and at most %d", used, total/4)
				}
				b.client(addrB).wantResponse("rows for another client", rowsPath, http.StatusOK, 0)
				b.client(addrB).wantResponse("export for another client", exportPath, http.StatusOK, 0)
				for _, c := range tabs {
					c.Close()
				}
				synctest.Wait()
				if used := b.server.Limits().Budget.Used(); used != 0 {
					t.Errorf("%d bytes are reserved after the sockets are closed, want 0", used)
				}
			})
		})
	}
}

// Clients that send a request body slowly do not reserve any memory for responses.
func TestSlowBodiesReserveNoMemory(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for range 200 {
			conn, err := b.dial(b.t.Context(), "", "")
			if err != nil {
				b.t.Fatal(err)
			}
			defer func() { _ = conn.Close() }() // An error means that the server has already closed the connection.
			if _, err := fmt.Fprint(conn,
				"POST /share HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhal"); err != nil {
				b.t.Fatal(err)
			}
		}
		synctest.Wait()
		if used := b.server.Limits().Budget.Used(); used != 0 {
			t.Errorf("%d bytes are reserved for an incomplete body, want 0", used)
		}
		b.client(addrB).wantResponse("rows for another client", rowsPath, http.StatusOK, 0)
	})
}
