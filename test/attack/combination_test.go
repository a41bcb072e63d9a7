package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func (s *site) identities(guest string) map[string][]string {
	return map[string][]string{"guest": {guest}, "restricted user": {bearer(s.restricted)}, "no login": nil}
}

// misuse is one method to misuse a route, such as never reading the response.
type misuse struct {
	name string
	run  func(ctx context.Context, from, to string, r request) error // An error means that the response is wrong.
}

func misuses() []misuse {
	return []misuse{
		{"unread", leaveUnread},
		{"slow", readSlowly},
		{"aborted", abort},
		{"oversized headers", func(ctx context.Context, from, to string, r request) error {
			r.headers = append(r.headers, "X-Large: "+strings.Repeat("a", 256<<10))
			return expectRefusal(ctx, from, to, r)
		}},
		{"oversized query", func(ctx context.Context, from, to string, r request) error {
			r.path += "?x=" + strings.Repeat("a", 64<<10)
			return expectRefusal(ctx, from, to, r)
		}},
		{"oversized body", func(ctx context.Context, from, to string, r request) error {
			r.headers = append(r.headers, fmt.Sprint("Content-Length: ", 1<<20))
			r.body = strings.Repeat("a", 1<<20)
			return expectRefusal(ctx, from, to, r)
		}},
		{"body shorter than its length", func(ctx context.Context, from, to string, r request) error {
			r.headers, r.body = append(r.headers, fmt.Sprint("Content-Length: ", 1<<40)), "a"
			return expectRefusal(ctx, from, to, r)
		}},
	}
}

func attempt(ctx context.Context, from, to string, r request) (conn net.Conn, ok bool) {
	conn, err := send(ctx, from, to, r, smallBuffer)
	return conn, err == nil
}

func leaveUnread(ctx context.Context, from, to string, r request) error {
	if conn, ok := attempt(ctx, from, to, r); ok {
		<-ctx.Done()
		_ = conn.Close()
	}
	return nil
}

func readSlowly(ctx context.Context, from, to string, r request) error {
	conn, ok := attempt(ctx, from, to, r)
	if !ok {
		return nil
	}
	defer func() { _ = conn.Close() }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := conn.Read(make([]byte, 1))
		if timeout := net.Error(nil); err != nil && (!errors.As(err, &timeout) || !timeout.Timeout()) {
			return nil // The server is allowed to disconnect a slow reader.
		}
	}
}

func abort(ctx context.Context, from, to string, r request) error {
	conn, ok := attempt(ctx, from, to, r)
	if !ok {
		return nil
	}
	_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	_, _ = io.ReadFull(conn, make([]byte, 100)) // Ignore the error, because the response can be short or late.
	reset(conn)
	return nil
}

// expectRefusal returns an error unless the server responds with 4xx or closes the connection within 15 s.
func expectRefusal(ctx context.Context, from, to string, r request) error {
	conn, ok := attempt(ctx, from, to, r)
	if !ok {
		return nil
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second))
	statusLine := make([]byte, 12)
	n, err := io.ReadFull(conn, statusLine)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("no response, and the connection was not closed")
	}
	if text := string(statusLine[:n]); n > 0 && !strings.HasPrefix(text, "HTTP/1.1 4") {
		return fmt.Errorf("got the response %q, want 4xx", text)
	}
	return nil
}

// matrix runs every combination of an identity, a misuse and a route.
type matrix struct {
	*site

	slots       chan struct{}
	running     sync.WaitGroup
	connections atomic.Int64
	combined    int
	worst       int64 // Peak resident memory in bytes.
	worstAt     string

	mu    sync.Mutex
	wrong map[string]int
}

// startAll runs each pair of an identity (such as guest) and a misuse on all routes, and records the peak memory.
func (m *matrix) startAll(guest string) {
	routes := slices.Concat(m.inventory(), m.writes())
	identities := m.identities(guest)
	for _, identity := range slices.Sorted(maps.Keys(identities)) {
		for _, kind := range misuses() {
			m.peak.Store(0)
			for _, r := range routes {
				m.start(identity, kind, r, identities[identity])
			}
			// A full run waits until all attacks of this pair have ended. A short run starts the next pair at once, to save
			// time.
			if isFull() {
				m.running.Wait()
			}
			m.recordPeak(kind.name + " as " + identity)
		}
	}
	m.running.Wait()
	m.recordPeak("last connections")
}

func (m *matrix) recordPeak(combinations string) {
	peak := m.peak.Load()
	m.Logf("RSS %d MB: %s", peak>>20, combinations)
	if peak > m.worst {
		m.worst, m.worstAt = peak, combinations
	}
}

func (m *matrix) start(identity string, kind misuse, r route, headers []string) {
	m.combined++
	for n := range shortOrFull(1, 20) {
		m.slots <- struct{}{}
		// Open at most 500 new connections per second, or 333 with GLASSHOUSE_ATTACK=full.
		wait(shortOrFull(2*time.Millisecond, 3*time.Millisecond))
		m.running.Go(func() {
			defer func() { <-m.slots }()
			ctx, cancel := context.WithTimeout(m.Context(), shortOrFull(400*time.Millisecond, 6*time.Second))
			defer cancel()
			m.connections.Add(1)
			err := kind.run(ctx, attacker(n), m.address, r.request(m.address, headers...))
			if err != nil && !m.hasEnded() {
				m.mu.Lock()
				m.wrong[fmt.Sprintf("%s, %s as %s: %v", r.name, kind.name, identity, err)]++
				m.mu.Unlock()
			}
		})
	}
}

// The program stays within its memory limit while attackers misuse every route. Afterward, no goroutines or file
// descriptors remain.
//
// Invariant: I44.
func TestEveryRouteSurvivesMisuse(t *testing.T) {
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		s.warmUp(guest)
		s.warmUp(bearer(s.restricted))
		start := must(s.counts())(p)
		baseline := s.health(shortOrFull(time.Second, 10*time.Second))
		m := &matrix{site: s, slots: make(chan struct{}, shortOrFull(300, 3000)), wrong: map[string]int{}}
		// Call s.writes before the attack: its first call requests openapi.json, which must not fail during the attack.
		s.writes()
		during := s.healthDuring(shortOrFull(6*time.Second, time.Minute), func() { m.startAll(guest) })
		logged := 0
		for wrongResponse, count := range m.wrong {
			if logged++; logged <= 10 {
				s.Logf("%d responses: %s", count, wrongResponse)
			}
		}
		s.require(m.worst > 0 && m.worst <= memoryLimit*9/10, "misuse of each route: memory of the worst combinations",
			memoryBar, "RSS %d MB (%s)", m.worst>>20, m.worstAt)
		s.requireMemory("misuse of each route", fmt.Sprintf("; %d combinations, %d connections", m.combined,
			m.connections.Load()))
		s.requireNoErrors("misuse of each route", int(m.connections.Load()))
		s.require(
			len(m.wrong) == 0, "misuse of each route: responses", "refused with 4xx or closed", "%d wrong", len(m.wrong),
		)
		s.requireHealth("misuse of each route", baseline, during)
		s.requireReturn("misuse of each route: resources afterwards", start, 30*time.Second)
	})
}
