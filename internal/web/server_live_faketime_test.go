package web_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// memoryListener has in-memory connections without buffers. If a client does not read, a write of the server blocks
// immediately.
type memoryListener struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

func (m *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-m.accepted:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memoryListener) Close() error   { m.close(); return nil }
func (m *memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// bubble is a server that runs in a synctest bubble, which has fake time.
type bubble struct {
	*site

	listener *memoryListener
}

// inBubble runs test in a synctest bubble (fake time), with three pods and the additional kinds.
func inBubble(t *testing.T, test func(b *bubble), kinds ...apitest.Kind) {
	t.Helper()
	inBubbleWithAuth(t, auth.None, test, kinds...)
}

func inBubbleWithAuth(t *testing.T, mode string, test func(b *bubble), kinds ...apitest.Kind) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Kind{
			Ref: podsRef, Kind: "Pod", Columns: `[{"name":"Name","type":"string"},{"name":"Status","type":"string"}]`,
		})
		for _, kind := range kinds {
			api.AddKind(kind)
		}
		for i := range 3 {
			api.Set(podsRef, apitest.Item{
				Namespace: "a", Name: fmt.Sprint("web-", i), Cells: fmt.Sprintf(`["web-%d","Running"]`, i),
			})
		}
		log := slog.New(slog.DiscardHandler)
		cluster, err := watch.New(api.Config, watch.Options{Linger: time.Minute, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		authority, err := auth.New(auth.Options{Mode: mode, ReviewToken: cluster.ReviewToken, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		server, err := web.New(web.Options{ClusterInfo: request.ClusterInfo{Cluster: cluster}, Auth: authority, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		m := &memoryListener{accepted: make(chan net.Conn), closed: make(chan struct{})}
		m.close = sync.OnceFunc(func() { close(m.closed) })
		ctx, cancel := context.WithCancel(t.Context())
		serverDone, clusterDone, authDone := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { clusterDone <- cluster.Run(ctx) }()
		go func() { authDone <- authority.Run(ctx) }()
		synctest.Wait() // Wait until the cluster runs.
		go func() { serverDone <- server.Run(ctx, m) }()
		stop := sync.OnceValue(func() error { cancel(); return errors.Join(<-serverDone, <-clusterDone, <-authDone) })
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
		test(&bubble{site: &site{t: t, server: server, api: api, stop: stop, addr: m.Addr().String()}, listener: m})
	})
}

func (b *bubble) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	clientConn, serverConn := net.Pipe()
	select {
	case b.listener.accepted <- serverConn:
		return clientConn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *bubble) open() *tab {
	b.t.Helper()
	return b.openAs(livetest.Options{})
}

func (b *bubble) openAs(options livetest.Options) *tab {
	b.t.Helper()
	if options.HTTP == nil {
		options.HTTP = &http.Client{Transport: &http.Transport{DialContext: b.dial}}
	}
	c := b.site.openAs(options)
	c.Timeout = 24 * time.Hour // Fake time: a day passes at once.
	return c
}

// openNonReading opens a WebSocket, subscribes to the pods, and then never reads.
func (b *bubble) openNonReading() net.Conn {
	b.t.Helper()
	return b.openNonReadingWith(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
}

// openNonReadingWith opens a WebSocket, sends one message, and then never reads.
func (b *bubble) openNonReadingWith(text string) net.Conn {
	b.t.Helper()
	conn, err := b.dial(b.t.Context(), "", "")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	if _, err := livetest.Upgrade(conn, livetest.TextFrame(text)); err != nil {
		b.t.Fatal(err)
	}
	return conn
}

// A client that never reads is disconnected 10 s after a write to it began.
//
// Invariant: I7. The server closes the connection of a client that does not read or respond. When the program stops,
// neither a client nor an unreachable API server delays its exit.
func TestNonReadingClientIsDisconnected(t *testing.T) {
	inBubble(t, func(b *bubble) {
		t := b.t
		idle := b.openNonReading()
		synctest.Wait() // The server is now blocked in a write of the live status of the pods.
		c := b.open()
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
		start := time.Now()
		for i := range 9 {
			b.api.Set(podsRef, apitest.Item{Namespace: "a", Name: "web-1", Cells: fmt.Sprintf(`["web-1","%d"]`, i)})
			c.Until(1, "events")
			if elapsed := time.Since(start); elapsed != time.Duration(i)*time.Second {
				t.Fatalf("event %d arrived after %s", i, elapsed)
			}
			<-time.After(time.Second)
			synctest.Wait()
		}
		if !isWritable(idle) {
			t.Error("the client that does not read was disconnected before 10 s")
		}
		<-time.After(1100 * time.Millisecond)
		synctest.Wait()
		if isWritable(idle) {
			t.Error("the client that does not read was not disconnected after 10 s")
		}
	})
}

// A client that stops reading is disconnected too if a long message with events follows, which is not compressed.
//
// Invariant: I7.
func TestNonReadingClientOfLongEventsIsDisconnected(t *testing.T) {
	inBubble(t, func(b *bubble) {
		t := b.t
		c := b.open()
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
		long := fmt.Sprintf(`["web-1",%q]`, strings.Repeat("long ", 1000))
		b.api.Set(podsRef, apitest.Item{Namespace: "a", Name: "web-1", Cells: long})
		<-time.After(11 * time.Second)
		if m, err := c.Read(); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Read after 11 s: got a message of type %s, %v; want the end of the connection", m.Type, err)
		}
	})
}

// isWritable reports whether the server still reads from an in-memory connection, and has therefore not closed it.
func isWritable(conn net.Conn) bool {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Millisecond))
	_, err := conn.Write([]byte{0x89}) // The first byte of a ping frame.
	return err == nil
}

// A client that does not respond to pings is disconnected.
//
// Invariant: I7.
func TestClientWithoutPongsIsDisconnected(t *testing.T) {
	inBubble(t, func(b *bubble) {
		t := b.t
		c := b.open() // The client responds to pings only while the test reads.
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		start := time.Now()
		for time.Since(start) < 5*time.Minute {
			c.Until(1, "heartbeat")
		}
		c.Send(`{"op":"unsubscribe","id":1}`)
		<-time.After(time.Minute)
		if m, err := c.Read(); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Read: got %+v, %v; want the end of the connection", m, err)
		}
	})
}

// When the server stops, each client gets a different delay for its reconnect. No client delays the stop.
//
// Invariant: I7.
func TestClientsGetDifferentRetryDelaysOnStop(t *testing.T) {
	inBubble(t, func(b *bubble) {
		t := b.t
		const clients = 1000
		conns := make([]*tab, clients)
		for i := range conns {
			conns[i] = b.open()
			conns[i].Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
			conns[i].Until(1, "snapshot")
		}
		b.openNonReading()
		var delays [clients]int
		var reading sync.WaitGroup
		for i, c := range conns {
			reading.Go(func() { delays[i] = c.readRetryDelay(websocket.StatusGoingAway) })
		}
		start := time.Now()
		if err := b.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(start); took >= 10*time.Second {
			t.Errorf("Stop took %s, want less than 10 s", took)
		}
		reading.Wait()
		var seconds [6]int
		for _, ms := range delays {
			if ms < 500 || ms >= 5500 {
				t.Fatalf("retry delay is %d ms, want 500 to 5,500", ms)
			}
			seconds[ms/1000]++
		}
		for second, n := range seconds {
			if n > clients*3/10 {
				t.Errorf("%d of %d clients reconnect in second %d, want at most 30%%", n, clients, second)
			}
		}
	})
}

// readRetryDelay waits for the close frame. It returns the retry delay in milliseconds.
func (c *tab) readRetryDelay(code websocket.StatusCode) int {
	c.t.Helper()
	got, reason := c.WaitForClose()
	retryReason := regexp.MustCompile(`^retry after (\d+) ms: \w`).FindStringSubmatch(reason)
	if got != code || retryReason == nil {
		c.t.Errorf("socket closed with %d %s, want %d and a retry delay", got, reason, code)
		return -1
	}
	ms, err := strconv.Atoi(retryReason[1])
	if err != nil {
		c.t.Error(err)
	}
	return ms
}

// Above the maximum number of sockets, the server closes a new socket and sends a retry delay.
//
// Invariant: I7.
func TestSocketLimitAsksClientsToRetry(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	inBubble(t, func(b *bubble) {
		t := b.t
		conns := make([]*tab, 5000)
		for i := range conns {
			conns[i] = b.open()
		}
		synctest.Wait() // Wait until the server has counted all sockets.
		if ms := b.open().readRetryDelay(websocket.StatusTryAgainLater); ms < 5000 || ms >= 10_000 {
			t.Errorf("retry delay above the limit is %d ms, want 5,000 to 10,000", ms)
		}
		conns[0].Close()
		synctest.Wait()
		c := b.open()
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
	})
}

func TestManyInvalidMessagesCloseTheConnection(t *testing.T) {
	inBubble(t, func(b *bubble) {
		t := b.t
		c := b.open()
		go func() {
			for range 200 {
				if c.Write(t.Context(), `[]`) != nil {
					return
				}
			}
		}()
		for errorCount := 0; ; errorCount++ {
			m, err := c.Read()
			if err == nil && m.Problem.Title == "Empty frame" {
				continue
			}
			if websocket.CloseStatus(err) != websocket.StatusPolicyViolation || errorCount != 100 {
				t.Errorf("after %d errors: got %+v, %v; want 100 errors and status 1008", errorCount, m, err)
			}
			return
		}
	})
}

// Events of rows are uncompressed, because each of a thousand viewers would need its own compression.
func TestRowEventsAreSentUncompressed(t *testing.T) {
	inBubble(t, func(b *bubble) {
		t := b.t
		long := strings.Repeat("x", 40_000)
		b.api.Set(podsRef, apitest.Item{Namespace: "a", Name: "long", Cells: fmt.Sprintf(`["long",%q]`, long)})
		read := 0
		transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := b.dial(ctx, network, address)
			return &countingConn{Conn: conn, n: &read}, err
		}}
		c := b.openAs(livetest.Options{HTTP: &http.Client{Transport: transport}, Compress: true})
		c.Send(`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`)
		c.Until(1, "snapshot")
		if read > 4000 {
			t.Errorf("snapshot used %d bytes, want it compressed", read)
		}
		read = 0
		b.api.Set(podsRef, apitest.Item{Namespace: "a", Name: "long", Cells: fmt.Sprintf(`["long",%q]`, long+"y")})
		if m := c.Until(1, "events"); len(m.Events) != 1 || read < 40_000 {
			t.Errorf("row event used %d bytes, want it uncompressed", read)
		}
		c.Send(
			`[{"op":"unsubscribe","id":1},{"op":"subscribe","id":2,"resource":"core/v1/pods",` +
				`"ns":["a"],"name":"long","view":"object"}]`)
		c.Until(2, "snapshot")
		read = 0
		b.api.Set(podsRef, apitest.Item{
			Namespace: "a", Name: "long", Rest: fmt.Sprintf(`"spec":{"note":%q}`, long[:2000]),
		})
		if m := c.Until(2, "events"); len(m.Events) != 1 || read > 1000 {
			t.Errorf("%d object events used %d bytes, want one compressed event", len(m.Events), read)
		}
	})
}

type countingConn struct {
	net.Conn

	n *int
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	*c.n += n
	return n, err
}
