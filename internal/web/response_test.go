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

	"glasshouse/internal/watch/apitest"
)

// slowClient is the writer of a response that the client reads only when the test allows it.
type slowClient struct {
	*httptest.ResponseRecorder

	read  chan struct{}
	mu    sync.Mutex
	until *time.Timer
	late  chan struct{} // Closed when the deadline has passed.
}

func newSlowClient() *slowClient {
	return &slowClient{ResponseRecorder: httptest.NewRecorder(), read: make(chan struct{}), late: make(chan struct{})}
}

func (c *slowClient) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until != nil {
		c.until.Stop()
	}
	late := make(chan struct{})
	c.late = late
	c.until = time.AfterFunc(time.Until(at), func() { close(late) })
	return nil
}

func (c *slowClient) Write(p []byte) (int, error) {
	for {
		c.mu.Lock()
		late := c.late
		c.mu.Unlock()
		select {
		case <-c.read:
			return c.ResponseRecorder.Write(p)
		case <-late:
			return 0, os.ErrDeadlineExceeded
		case <-time.After(time.Millisecond): // There may be a new deadline.
		}
	}
}

// client sends requests from one address.
type client struct {
	*bubble

	ctx     context.Context //nolint:containedctx // The context of the requests.
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

// send sends a request, and reports whether its response ended well.
func (c *client) send(w http.ResponseWriter, path string) (whole bool) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // It is never wrapped.
			panic(v)
		}
	}()
	r := httptest.NewRequestWithContext(c.ctx, http.MethodGet, path, nil)
	r.Host, r.RemoteAddr = "localhost", c.address+":1"
	c.handler.ServeHTTP(w, r)
	return true
}

// want sends a request and wants its status within about some time.
func (c *client) want(what, path string, status int, after time.Duration) {
	c.t.Helper()
	began, w := time.Now(), httptest.NewRecorder()
	whole := c.send(w, path)
	took := time.Since(began)
	if !whole || w.Code != status || took < after || took > after+300*time.Millisecond {
		c.t.Errorf("%s: got %d after %v, whole: %t, want %d after %v: %.200s", what, w.Code, took, whole, status, after,
			w.Body)
	}
	if (w.Header().Get("Retry-After") != "") != (status == http.StatusTooManyRequests) {
		c.t.Errorf("%s: Retry-After is %q", what, w.Header().Get("Retry-After"))
	}
}

// unread sends requests whose responses are not read, and returns how they end.
func (c *client) unread(n int, path string) (clients []*slowClient, ends chan bool) {
	ends = make(chan bool, n)
	for range n {
		w := newSlowClient()
		clients = append(clients, w)
		go func() { ends <- c.send(w, path) }()
	}
	synctest.Wait()
	return clients, ends
}

// addNoise adds pods whose text does not compress.
func (b *bubble) addNoise(pods int) {
	noise := make([]byte, 100<<10)
	for n := range pods {
		_, _ = rand.Read(noise) // Never fails (crypto/rand).
		b.api.Set(podsRef, apitest.Item{
			Namespace: "a", Name: fmt.Sprint("noise-", n), Rest: fmt.Sprintf(`"spec":{"noise":"%x"}`, noise),
		})
	}
}

const (
	exportPath = "/api/v1/snapshot/core/v1/pods?view=objects"
	rowsPath   = "/api/v1/snapshot/core/v1/pods"
	one, other = "192.0.2.1", "192.0.2.2"
)

// A caller has a quarter of the memory for responses. Unread responses keep it, and delay only the same caller, for
// half a second. Then one of them is aborted for the next request. All memory is released in the end.
func TestUnreadResponsesAreBounded(t *testing.T) {
	const total, exports, export = 256 << 20, 7, 8 << 20 // Eight exports would leave no room for the buffers.
	inBubble(t, func(b *bubble) {
		b.addNoise(10)
		greedy, healthy := b.client(one), b.client(other)
		healthy.want("rows, which are watched from now on", rowsPath, http.StatusOK, 0)
		clients, ends := greedy.unread(exports, exportPath)
		if used := b.server.MemoryInUse(); used <= exports*export || used > total/4 {
			t.Errorf("%d unread exports use %d bytes, want more than %d", exports, used, exports*export)
		}
		healthy.want("rows for somebody else", rowsPath, http.StatusOK, 0)
		healthy.want("an export for somebody else", exportPath, http.StatusOK, 0)
		greedy.want("one more for the same caller", exportPath, http.StatusOK, 500*time.Millisecond)
		if whole := <-ends; whole {
			t.Error("no unread response was aborted for it")
		}
		greedy.want("another one, for which there is room", exportPath, http.StatusOK, 0)
		for _, c := range clients {
			close(c.read)
		}
		for range exports - 1 {
			if whole := <-ends; !whole {
				t.Error("a response that was read is aborted")
			}
		}
		if used := b.server.MemoryInUse(); used != 0 {
			t.Errorf("%d bytes stay reserved", used)
		}
	})
}

// A response that is not read is aborted, even if no other request waits for its memory.
func TestUnreadResponsesAreAborted(t *testing.T) {
	for _, path := range []string{exportPath, rowsPath, "/r/core/v1/pods", "/status", "/api/openapi.json"} {
		inBubble(t, func(b *bubble) {
			b.addNoise(10)
			began := time.Now()
			_, ends := b.client(one).unread(1, path)
			if whole := <-ends; whole || time.Since(began) > 30*time.Second {
				t.Errorf("%s ends after %v, whole: %t", path, time.Since(began), whole)
			}
			if used := b.server.MemoryInUse(); used != 0 {
				t.Errorf("%s leaves %d bytes reserved", path, used)
			}
		})
	}
}

// Memory is reserved for the buffers of a response as they grow, and for the escaped text of a page.
func TestBuffersAreReserved(t *testing.T) {
	const piece, pieces = 100 << 10, 50
	inBubble(t, func(b *bubble) {
		noise := make([]byte, piece)
		handler, err := b.server.HandlerBuffering("/noise", func(w http.ResponseWriter, r *http.Request) {
			before := b.server.MemoryInUse()
			for n := range pieces {
				_, _ = w.Write(noise) // An error ends the response.
				if used := b.server.MemoryInUse() - before; used < int64(n*piece) || used > 3*(int64(n+1)*piece) {
					t.Errorf("a response of %d bytes reserves %d", (n+1)*piece, used)
				}
			}
			before = b.server.MemoryInUse()
			document, err := b.server.YAMLForPage(r, fmt.Appendf(nil, `{"a":%q}`, strings.Repeat(`<'&>`, 10_000)))
			if err != nil {
				t.Error(err)
			}
			least := int64(len(document) + len(templ.EscapeString(document)))
			if used := b.server.MemoryInUse() - before; used < least || used > 2*least {
				t.Errorf("a text of %d bytes reserves %d for its page, want %d", len(document), used, least)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		(&client{b, b.t.Context(), handler, one}).want("noise", "/noise", http.StatusOK, 0)
		if used := b.server.MemoryInUse(); used != 0 {
			t.Errorf("%d bytes stay reserved", used)
		}
	})
}

// A request that waits for memory in which responses are being built is refused after 10 s, with the time to retry.
// Requests of other callers are not delayed.
func TestWaitingForMemoryEnds(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.api.Hang("/api/v1/namespaces/a/services/x") // The API server never responds.
		hanging, healthy := b.client(one), b.client(other)
		path := "/api/v1/object/core/v1/services/a/x"
		const more, building = 20, 64 * 2 / 7 // An object is estimated at 3.5 MiB.
		ctx, cancel := context.WithCancel(b.t.Context())
		waiting := *hanging
		hanging.ctx = ctx
		_, ends := hanging.unread(building+more, path)
		waiting.want("one more", rowsPath, http.StatusTooManyRequests, 10*time.Second)
		healthy.want("somebody else", rowsPath, http.StatusOK, 0)
		cancel()
		for range building + more {
			<-ends
		}
		if used := b.server.MemoryInUse(); used != 0 {
			t.Errorf("%d bytes stay reserved", used)
		}
	}, apitest.Kind{Ref: "core/v1/services", Kind: "Service"})
}

// Each response with cluster data is built under a processor lease, of which there are few. A burst of requests
// therefore does not delay the messages of sockets.
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
				c := b.client(one)
				c.want("the first", path, http.StatusOK, 0)
				lease := b.server.TakeProcessors()
				c.want("without a processor", path, http.StatusTooManyRequests, 10*time.Second)
				lease.Release()
				c.want("the last", path, http.StatusOK, 0)
			})
		})
	}
}

// Messages to sockets share the same memory. In every view, messages that a client does not accept keep their memory,
// and another caller still receives its own.
func TestUnreadMessagesAreBounded(t *testing.T) {
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
				b.client(other).want("rows, which are watched from now on", rowsPath, http.StatusOK, 0)
				var tabs []*tab
				for range 60 {
					c := b.open()
					c.send(subscribe)
					c.until(1, "state")
					tabs = append(tabs, c) // The client reads nothing else.
				}
				synctest.Wait()
				const total = 256 << 20
				if used := b.server.MemoryInUse(); used == 0 || used > total/4 {
					t.Errorf("60 sockets that are not read use %d bytes, want some and %d at most", used, total/4)
				}
				b.client(other).want("rows for somebody else", rowsPath, http.StatusOK, 0)
				b.client(other).want("an export for somebody else", exportPath, http.StatusOK, 0)
				for _, c := range tabs {
					_ = c.conn.CloseNow() // The server may have closed it.
				}
				synctest.Wait()
				if used := b.server.MemoryInUse(); used != 0 {
					t.Errorf("%d bytes stay reserved", used)
				}
			})
		})
	}
}

// Clients that send a request body slowly do not occupy memory that is reserved for responses.
func TestSlowBodiesReserveNothing(t *testing.T) {
	inBubble(t, func(b *bubble) {
		for range 200 {
			conn, err := b.dial(b.t.Context(), "", "")
			if err != nil {
				b.t.Fatal(err)
			}
			defer func() { _ = conn.Close() }() // The server may have closed it.
			if _, err := fmt.Fprint(conn,
				"POST /share HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhal"); err != nil {
				b.t.Fatal(err)
			}
		}
		synctest.Wait()
		if used := b.server.MemoryInUse(); used != 0 {
			t.Errorf("%d bytes are reserved", used)
		}
		b.client(other).want("rows for somebody else", rowsPath, http.StatusOK, 0)
	})
}
