package attack

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

// upgrade opens a WebSocket without a library, so that tests can write arbitrary frames.
func (s *site) upgrade(ctx context.Context, from string, headers ...string) (net.Conn, error) {
	r := route{path: "/api/v1/live", subscribe: `{"op":"ping","id":1}`}
	conn, err := send(ctx, from, s.address, r.request(s.address, headers...), 0)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAtLeast(conn, make([]byte, 4096), 12); err != nil {
		_ = conn.Close()
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	return conn, nil
}

func (s *site) floods() map[string]string {
	var many []string
	for id := range 200 {
		many = append(many, fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"ns":[%q],"view":"rows"}`, id+1,
			configMaps, s.namespace))
	}
	return map[string]string{
		"frames of 1 MB":            livetest.TextFrame(strings.Repeat("a", 1<<20-16)),
		"frame of 2^62 bytes":       "\x81\xff\x40" + strings.Repeat("\x00", 11) + strings.Repeat("a", 1<<16),
		"subscriptions":             livetest.TextFrame("[" + strings.Join(many, ",") + "]"),
		"subscribe and unsubscribe": livetest.TextFrame(fmt.Sprintf(`[%s,{"op":"unsubscribe","id":1}]`, many[0])),
		"tiny frames":               strings.Repeat(livetest.TextFrame(`{}`), 1000),
		"unterminated fragments":    "\x01\x81\x00\x00\x00\x00[" + strings.Repeat("\x00\x81\x00\x00\x00\x00[", 5000),
		"pings":                     strings.Repeat("\x89\x80\x00\x00\x00\x00", 5000),
		"deep JSON":                 livetest.TextFrame(strings.Repeat("[", 30_000)),
		"binary frames":             strings.Repeat("\x82\x81\x00\x00\x00\x00a", 1000),
		"frames without a mask":     "\x81\x02{}",
		"reserved bits":             "\xf1\x80\x00\x00\x00\x00",
	}
}

func TestFrameFloodsDoNotAffectOthers(t *testing.T) {
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		s.warmUp(guest)
		start := must(s.counts())(p)
		baseline := s.health(shortOrFull(time.Second, 10*time.Second))
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		s.peak.Store(0)
		var flooding sync.WaitGroup
		n := 0
		for _, text := range s.floods() {
			for _, header := range []string{guest, bearer(s.restricted)} {
				for range shortOrFull(1, 10) {
					n++
					flooding.Go(func() { s.flood(ctx, attacker(n), text, header) })
				}
			}
		}
		during := s.health(shortOrFull(3*time.Second, 20*time.Second))
		cancel()
		flooding.Wait()
		s.requireMemory("S39: floods of frames", "")
		s.requireHealth("S39: floods of frames", baseline, during)
		// While a client exceeds the rate limit, the program reads none of its frames, and cannot notice that the client
		// has closed the WebSocket. Only the next ping detects this, after up to 55 s. Short runs do not wait for that.
		if isFull() {
			s.requireReturn("S39: floods of frames: resources afterwards", start, time.Minute)
		}
	})
}

func (s *site) flood(ctx context.Context, from, text, header string) {
	for ctx.Err() == nil && !s.hasEnded() {
		conn, err := s.upgrade(ctx, from, header)
		if err != nil {
			wait(200 * time.Millisecond)
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		for err == nil && ctx.Err() == nil {
			if _, err = io.WriteString(conn, text); err == nil {
				wait(5 * time.Millisecond)
			}
		}
		stop()
		_ = conn.Close()
		wait(100 * time.Millisecond)
	}
}
