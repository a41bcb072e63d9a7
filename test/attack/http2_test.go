package attack

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func TestResetStreamsLogNoErrors(t *testing.T) {
	runOnEach(t, func(p *probe) {
		s := p.openTLS()
		config := s.clientTLS("h2")
		token := "Bearer " + s.creator
		paths := s.streamPaths()
		baseline := s.warmHealth(shortOrFull(time.Second, 10*time.Second))
		s.startWatches()
		start := must(s.counts())(p)
		var streams atomic.Int64
		flood := func(n int) {
			for range shortOrFull(3, 20) {
				conn, opened, err := openStreams(p.Context(), attacker(n), s.address, config, paths, token, 250, true)
				if conn != nil {
					_ = conn.Close()
				}
				streams.Add(int64(opened))
				if err != nil {
					p.Logf("a flooding connection ended with: %v", err)
				}
			}
		}
		during := s.healthDuring(shortOrFull(2*time.Second, 10*time.Second), func() {
			var flooding sync.WaitGroup
			for n := range 8 {
				flooding.Go(func() { flood(n) })
			}
			flooding.Wait()
		})
		s.requireHealth("HTTP/2 stream resets", baseline, during)
		s.requireMemory("HTTP/2 stream resets", "")
		s.requireReturn("HTTP/2 stream resets: resources afterwards", start, 30*time.Second)
		s.requireNoErrors("HTTP/2 stream resets", int(streams.Load()))
	})
}

// startWatches starts the watches of graphs and verdicts. These watches outlive the request that starts them, so start
// them before counting goroutines.
func (s *site) startWatches() {
	s.Helper()
	client := &http.Client{Transport: s.transport(healthyAddress)}
	defer client.CloseIdleConnections()
	for _, path := range []string{
		"/api/v1/related/" + configMaps + "/" + s.namespace + "/huge-0", "/api/v1/problems",
	} {
		r := must(http.NewRequestWithContext(s.Context(), http.MethodGet, s.program.URL+path, http.NoBody))(s.probe)
		r.Header.Set("Authorization", "Bearer "+s.creator)
		response := must(client.Do(r))(s.probe)
		_ = must(io.Copy(io.Discard, response.Body))(s.probe)
		s.check(response.Body.Close())
	}
}

func (s *site) streamPaths() []string {
	object := configMaps + "/" + s.namespace + "/huge-0"
	return []string{
		"/r/" + configMaps + "?ns=" + s.namespace, "/o/" + object, "/status", "/healthz", "/api/v1/object/" + object,
		"/api/v1/snapshot/" + configMaps + "?view=objects&ns=" + s.namespace, "/api/v1/resources",
		"/api/v1/search?q=huge",
		"/api/v1/related/" + object, "/api/v1/logs/shop/" + s.pod + "?follow=true", "/login",
		"/compare?a=" + object + "&b=" + configMaps + "/" + s.namespace + "/huge-1",
	}
}

func TestUnreadStreamsStayWithinTheMemoryLimit(t *testing.T) {
	runOnEach(t, func(p *probe) {
		s := p.openTLS()
		config, baseline := s.clientTLS("h2"), s.warmHealth(shortOrFull(time.Second, 10*time.Second))
		s.startWatches()
		start := must(s.counts())(p)
		s.peak.Store(0)
		var conns []net.Conn
		streams := 0
		for n := range 12 {
			conn, opened, err := openStreams(
				p.Context(), attacker(n), s.address, config, s.streamPaths(), "Bearer "+s.creator, 50, false,
			)
			streams += opened
			if err != nil {
				p.Logf("a connection ended with: %v", err)
			}
			if conn != nil {
				conns = append(conns, conn)
			}
		}
		during := s.health(shortOrFull(2*time.Second, 10*time.Second))
		s.requireMemory("unread HTTP/2 streams", fmt.Sprintf("; %d streams", streams))
		s.requireHealth("unread HTTP/2 streams", baseline, during)
		for _, conn := range conns {
			_ = conn.Close()
		}
		s.requireReturn("unread HTTP/2 streams: resources afterwards", start, 30*time.Second)
	})
}

// requireNoErrors requires that the log has no lines with level ERROR. Such lines are for problems that an operator
// must solve, so no client must be able to cause them. The parameter "of" is the number of requests before this check.
func (s *site) requireNoErrors(finding string, of int) {
	s.Helper()
	var lines []string
	for line := range strings.Lines(s.program.Log()) {
		if strings.Contains(line, "level=ERROR") {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		s.Logf("first line with level error: %.500s", lines[0])
	}
	s.require(len(lines) == 0, finding+": lines with level error", "0", "%d of %d requests", len(lines), of)
}

// openStreams sends one request per HTTP/2 stream. If reset is true, it resets each stream; if not, it never reads.
func openStreams(
	ctx context.Context, from, to string, config *tls.Config, paths []string, token string, count int, reset bool,
) (conn net.Conn, opened int, err error) {
	raw, err := dial(ctx, from, to, 0)
	if err != nil {
		return nil, 0, err
	}
	conn = tls.Client(raw, config)
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return conn, 0, err
	}
	framer := http2.NewFramer(conn, conn)
	window := uint32(1000)
	if !reset {
		window = 1 << 30 // So large that flow control never pauses the server.
	}
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}); err != nil {
		return conn, 0, err
	}
	if !reset {
		if err := framer.WriteWindowUpdate(0, 1<<30); err != nil {
			return conn, 0, err
		}
	}
	if reset {
		go func() { _, _ = io.Copy(io.Discard, conn) }()
	}
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0) // Without a dynamic table, header blocks do not depend on each other.
	for n := range count {
		block.Reset()
		for _, field := range [][2]string{
			{":method", "GET"},
			{":scheme", "https"},
			{":authority", to},
			{":path", paths[n%len(paths)]},
			{"authorization", token},
		} {
			_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		id := uint32(2*n + 1) //nolint:gosec // n is small.
		headers := http2.HeadersFrameParam{
			StreamID: id, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
		}
		if err := framer.WriteHeaders(headers); err != nil {
			return conn, n, ignoreClosed(err)
		}
		if !reset {
			continue
		}
		if n%2 == 1 {
			wait(2 * time.Millisecond)
		}
		if err := framer.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
			return conn, n, ignoreClosed(err)
		}
	}
	return conn, count, nil
}

// ignoreClosed ignores network errors, because the server is allowed to close the connection.
func ignoreClosed(err error) error {
	if operation := new(net.OpError); errors.As(err, &operation) {
		return nil
	}
	return err
}
