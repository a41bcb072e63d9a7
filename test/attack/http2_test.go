package attack

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Streams of HTTP/2 that are opened and reset at once cause no line at level error, whatever they ask for.
func TestResetStreamsLogNoErrors(t *testing.T) {
	onEach(t, func(p *probe) {
		s := p.openTLS()
		config := s.clientTLS("h2")
		token := "Bearer " + s.creator
		paths := []string{
			"/r/" + configMaps + "?ns=" + s.namespace, "/o/" + configMaps + "/" + s.namespace + "/huge-0", "/status", "/healthz",
			"/api/v1/snapshot/" + configMaps + "?view=objects&ns=" + s.namespace,
			"/api/v1/object/" + configMaps + "/" + s.namespace + "/huge-0", "/api/v1/resources", "/api/v1/search?q=huge",
			"/api/v1/related/" + configMaps + "/" + s.namespace + "/huge-0", "/api/v1/logs/shop/" + s.pod + "?follow=true",
			"/login",
		}
		start := must(s.counts())(p)
		var flooding sync.WaitGroup
		var mu sync.Mutex
		streams := 0
		for n := range 8 {
			flooding.Go(func() {
				for range pick(2, 20) {
					opened, err := floodStreams(p.Context(), attacker(n), s.address, config, paths, token, 250)
					mu.Lock()
					streams += opened
					mu.Unlock()
					if err != nil {
						p.Logf("a connection of the flood ended with: %v", err)
					}
				}
			})
		}
		flooding.Wait()
		s.requireReturn("HTTP/2 streams that are reset: what remains", start)
		s.requireNoErrors("HTTP/2 streams that are reset", streams)
	})
}

// requireNoErrors checks that no client caused a line at level error, as those are for the operator.
func (s *site) requireNoErrors(finding string, of int) {
	s.Helper()
	var lines []string
	for line := range strings.Lines(s.program.Log()) {
		if strings.Contains(line, "level=ERROR") {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		s.Logf("the first line at level error: %.500s", lines[0])
	}
	s.require(len(lines) == 0, finding+": lines at level error", "0", "%d of %d requests", len(lines), of)
}

// floodStreams opens streams on one connection, and resets each of them: half at once, half when they are being
// answered. It returns how many were opened before the server ended the connection.
func floodStreams(
	ctx context.Context, from, to string, config *tls.Config, paths []string, token string, count int,
) (opened int, err error) {
	raw, err := dial(ctx, from, to, 0)
	if err != nil {
		return 0, err
	}
	conn := tls.Client(raw, config)
	defer func() { _ = conn.Close() }() // The server may have closed it.
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return 0, err
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000}); err != nil {
		return 0, err
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }() // It ends with the connection.
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0) // Each block stands alone.
	for n := range count {
		block.Reset()
		for _, field := range [][2]string{
			{":method", "GET"},
			{":scheme", "https"},
			{":authority", to},
			{":path", paths[n%len(paths)]},
			{"authorization", token},
		} {
			_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // A buffer takes every write.
		}
		id := uint32(2*n + 1) //nolint:gosec // It is small.
		headers := http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}
		if err := framer.WriteHeaders(headers); err != nil {
			return n, ignoreClosed(err)
		}
		if n%2 == 1 {
			wait(2 * time.Millisecond)
		}
		if err := framer.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
			return n, ignoreClosed(err)
		}
	}
	return count, nil
}

// ignoreClosed drops the error of a connection that the server has ended, as it may.
func ignoreClosed(err error) error {
	if operation := new(net.OpError); errors.As(err, &operation) {
		return nil
	}
	return err
}
