package attack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// raiseDescriptors raises the soft limit of file descriptors, which the program inherits. A shell's usual limit is
// too low.
func raiseDescriptors(p *probe, need uint64) {
	p.Helper()
	var limit syscall.Rlimit
	p.check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Max < need {
		p.Fatalf("need %d file descriptors, but the hard limit is %d: raise ulimit -Hn", need, limit.Max)
	}
	limit.Cur = limit.Max
	p.check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
}

// sixAddresses returns one of six client addresses for connection n. With six addresses, many connections exceed the
// total limit, and not the limit per address.
func sixAddresses(n int) string { return fmt.Sprintf("127.0.2.%d", 1+n%6) }

// openConnections opens connections and sends a text on each. If reads is true, it waits for the first response
// bytes.
func openConnections(ctx context.Context, address string, count int, text func(n int) string, reads bool) *connections {
	c := &connections{}
	slots := make(chan struct{}, 128)
	var opening sync.WaitGroup
	for n := range count {
		slots <- struct{}{}
		opening.Go(func() {
			defer func() { <-slots }()
			conn, err := dial(ctx, sixAddresses(n), address, 0)
			if err == nil {
				_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
				_, err = io.WriteString(conn, text(n))
			}
			if err == nil && reads {
				_, err = io.ReadAtLeast(conn, make([]byte, 1024), 12)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				c.failures++
			}
			if conn != nil {
				c.conns = append(c.conns, conn)
			}
		})
	}
	opening.Wait()
	return c
}

func (s *site) measureFresh(duration time.Duration) (requests, probes latencies) {
	deadline := time.Now().Add(duration)
	var requestTimes, probeTimes []time.Duration
	requestFailures, probeFailures := 0, 0
	for n := 0; time.Now().Before(deadline); n++ {
		start := time.Now()
		path := "/api/v1/object/" + configMaps + "/" + s.namespace + "/small-0"
		a, err := exchange(s.Context(), healthyAddress, s.address, get(path, bearer(s.healthyToken)))
		if err != nil || a.status != http.StatusOK {
			requestFailures++
		} else {
			requestTimes = append(requestTimes, time.Since(start))
		}
		start = time.Now()
		a, err = exchange(s.Context(), healthyAddress, s.program.MetricsAddress(), get("/healthz"))
		if err != nil || a.status != http.StatusOK {
			probeFailures++
		} else {
			probeTimes = append(probeTimes, time.Since(start))
		}
		wait(10 * time.Millisecond)
	}
	return latenciesOf(requestTimes, requestFailures), latenciesOf(probeTimes, probeFailures)
}

func (p *probe) requireFast(finding string, measured latencies) {
	p.Helper()
	p.require(
		measured.failures == 0 && measured.count > 0 && measured.p99 <= time.Second,
		finding,
		"p99 1 s, no failure",
		"%v",
		measured,
	)
}

const keepAliveRequest = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

func reconnectLoop(ctx context.Context, address string, count int) (times int64) {
	var running sync.WaitGroup
	var connects atomic.Int64
	for n := range count {
		running.Go(func() {
			for ctx.Err() == nil {
				connects.Add(1)
				stayConnected(ctx, sixAddresses(n), address)
				select {
				case <-ctx.Done():
				case <-time.After(500 * time.Millisecond): // A shorter pause would use CPU time that the program needs.
				}
			}
		})
	}
	running.Wait()
	return connects.Load() - int64(count)
}

func stayConnected(ctx context.Context, from, address string) {
	conn, err := dial(ctx, from, address, 0)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, keepAliveRequest); err == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
}

// unfinishedRequests returns the text of the n-th request. Half of the requests announce a body but send only its
// start.
func (s *site) unfinishedRequests() func(n int) string {
	s.Helper()
	body := post("/share", `{"token":`)
	body.headers = []string{"Content-Type: application/json", "Content-Length: 1000"}
	unread := get("/api/v1/snapshot/"+configMaps+"?view=objects&ns="+s.namespace, bearer(s.restricted))
	texts := []string{body.text("localhost"), unread.text("localhost")}
	// Change the text after every six connections, so that each of the six client addresses sends both texts.
	return func(n int) string { return texts[n/6%2] }
}

// Healthy clients get fast responses while thousands of idle connections and unfinished requests are open.
//
// Invariant: I44.
func TestIdleConnectionsLeaveRoomForOthers(t *testing.T) {
	runOnEach(t, func(p *probe) {
		raiseDescriptors(p, 12000)
		s := p.open()
		s.warmUp(bearer(s.healthyToken))
		start := must(s.counts())(p)
		constant := func(text string) func(int) string { return func(int) string { return text } }
		for _, attack := range []struct {
			name  string
			count int
			text  func(int) string
			reads bool
		}{
			{"8,200 idle keep-alive connections of 6 addresses", 8200, constant(keepAliveRequest), true},
			{"2,000 connections without data", 2000, constant(""), false},
			{
				"8,200 unterminated headers", 8200,
				constant("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "), false,
			},
			{shortOrFull("2,000", "8,200") + " requests in progress", shortOrFull(2000, 8200), s.unfinishedRequests(), false},
		} {
			c := openConnections(p.Context(), s.address, attack.count, attack.text, attack.reads)
			requests, probes := s.measureFresh(shortOrFull(time.Second, 8*time.Second))
			c.close()
			p.Logf("%s: %d connections were refused", attack.name, c.failures)
			s.requireFast(attack.name+": healthy requests", requests)
			s.requireFast(attack.name+": probes", probes)
			s.requireReturn(attack.name+": resources afterwards", start, 30*time.Second)
		}
		s.requireMemory("idle connections", "")
	})
}

func TestReconnectingConnectionsLeaveRoomForOthers(t *testing.T) {
	runOnEach(t, func(p *probe) {
		raiseDescriptors(p, 12000)
		s := p.open()
		s.warmUp(bearer(s.healthyToken))
		start := must(s.counts())(p)
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		// Open more than 2,000 connections: only above this number, the program closes connections without a request.
		count := shortOrFull(2500, 4000)
		var times int64
		var attacking sync.WaitGroup
		attacking.Go(func() { times = reconnectLoop(ctx, s.address, count) })
		requests, probes := s.measureFresh(shortOrFull(3*time.Second, 15*time.Second))
		cancel()
		attacking.Wait()
		name := fmt.Sprintf("%d idle connections that reconnect", count)
		p.Logf("%s: reconnected %d times", name, times)
		if times == 0 && !p.isBaseline {
			p.Error("the program closed none of the idle connections, so the test is not valid")
		}
		s.requireFast(name+": healthy requests", requests)
		s.requireFast(name+": probes", probes)
		s.requireMemory(name, "")
		s.requireReturn(name+": resources afterwards", start, 30*time.Second)
	})
}

func TestHalfOpenHandshakesLeaveRoomForOthers(t *testing.T) {
	runOnEach(t, func(p *probe) {
		raiseDescriptors(p, 12000)
		s := p.openTLS()
		config := s.clientTLS()
		start := must(s.counts())(p)
		// Each connection sends only the header of a TLS record, and never the ClientHello.
		c := openConnections(p.Context(), s.address, 8200, func(int) string { return "\x16\x03\x01\x02\x00\x01" }, false)
		defer c.close()
		failures, count := 0, 0
		var measured []time.Duration
		for deadline := time.Now().Add(shortOrFull(2*time.Second, 8*time.Second)); time.Now().Before(deadline); count++ {
			attemptStart := time.Now()
			if err := handshake(p.Context(), s.address, config); err != nil {
				failures++
			} else {
				measured = append(measured, time.Since(attemptStart))
			}
		}
		healthy := latenciesOf(measured, failures)
		s.requireFast("8,200 half-open TLS handshakes: healthy requests", healthy)
		c.close()
		s.requireReturn("8,200 half-open TLS handshakes: resources afterwards", start, 30*time.Second)
	})
}

func (p *probe) openTLS(args ...string) *site {
	p.Helper()
	dir := filepath.Join(contentOf(p).Dir, "pki")
	cert, key := filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	return p.open(append(args, "--tls-cert", cert, "--tls-key", key)...)
}

func (s *site) clientTLS(protocols ...string) *tls.Config {
	s.Helper()
	config := must(s.TLS())(s.probe)
	return &tls.Config{
		RootCAs: config.RootCAs, ServerName: "localhost", MinVersion: tls.VersionTLS12,
		NextProtos: protocols,
	}
}

func handshake(ctx context.Context, address string, config *tls.Config) (err error) {
	raw, err := dial(ctx, healthyAddress, address, 0)
	if err != nil {
		return err
	}
	conn := tls.Client(raw, config)
	defer func() { err = errors.Join(err, conn.Close()) }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	request := get("/healthz", "Connection: close")
	if _, err := io.WriteString(conn, request.text("localhost")); err != nil {
		return err
	}
	line := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, line); err != nil {
		return err
	}
	if string(line) != "HTTP/1.1 200" {
		return fmt.Errorf("got the response %s, want HTTP/1.1 200", line)
	}
	return nil
}
