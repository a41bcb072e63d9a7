package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// identities are the headers of the attackers.
func (s *site) identities(guest string) map[string][]string {
	return map[string][]string{"guest": {guest}, "restricted user": {bearer(s.restricted)}, "nobody": nil}
}

// misuse is a way to misuse a route. run returns when the misuse is over, and at the latest when ctx ends.
type misuse struct {
	name string
	run  func(ctx context.Context, from, to string, r request) error // The error is a wrong answer.
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

// attempt sends a request, which the server may refuse by closing the connection.
func attempt(ctx context.Context, from, to string, r request) (conn net.Conn, ok bool) {
	conn, err := send(ctx, from, to, r, smallBuffer)
	return conn, err == nil
}

// leaveUnread sends a request, and does not read the response until ctx ends.
func leaveUnread(ctx context.Context, from, to string, r request) error {
	if conn, ok := attempt(ctx, from, to, r); ok {
		<-ctx.Done()
		_ = conn.Close() // The server may have closed it.
	}
	return nil
}

// readSlowly reads one byte each 100 ms.
func readSlowly(ctx context.Context, from, to string, r request) error {
	conn, ok := attempt(ctx, from, to, r)
	if !ok {
		return nil
	}
	defer func() { _ = conn.Close() }() // The server may have closed it.
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
			return nil // A slow reader may be cut off.
		}
	}
}

// abort reads a few bytes and resets the connection.
func abort(ctx context.Context, from, to string, r request) error {
	conn, ok := attempt(ctx, from, to, r)
	if !ok {
		return nil
	}
	_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	_, _ = io.ReadFull(conn, make([]byte, 100)) // The answer may be shorter, or late.
	reset(conn)
	return nil
}

// expectRefusal fails if a request is answered with 200 or 500, or keeps its connection.
func expectRefusal(ctx context.Context, from, to string, r request) error {
	conn, ok := attempt(ctx, from, to, r)
	if !ok {
		return nil // It was closed while it was sent.
	}
	defer func() { _ = conn.Close() }() // The server may have closed it.
	_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second))
	answer := make([]byte, 12)
	n, err := io.ReadFull(conn, answer)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("no answer, and the connection stays")
	}
	if text := string(answer[:n]); n > 0 && !strings.HasPrefix(text, "HTTP/1.1 4") {
		return fmt.Errorf("it is answered with %q", text)
	}
	return nil
}

// Each identity misuses each route in each way. The program stays within the memory limit and leaks nothing.
func TestEveryRouteSurvivesMisuse(t *testing.T) {
	onEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		s.warm(guest)
		s.warm(bearer(s.restricted))
		start := must(s.counts())(p)
		quiet := s.health(pick(2*time.Second, 10*time.Second))
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		var running sync.WaitGroup
		var connections atomic.Int64
		var mu sync.Mutex
		wrong := map[string]int{}
		slots := make(chan struct{}, pick(300, 3000))
		s.peak.Store(0)
		routes := s.inventory()
		combinations, perCombination := 0, pick(2, 6)
		// The attack is spread over the time in which the healthy viewer is measured.
		running.Go(func() {
			for who, headers := range s.identities(guest) {
				for _, r := range routes {
					for _, m := range misuses() {
						combinations++
						for n := range perCombination {
							slots <- struct{}{}
							wait(3 * time.Millisecond) // Hundreds of connections a second are enough.
							running.Go(func() {
								defer func() { <-slots }()
								ctx, cancel := context.WithTimeout(ctx, pick(700*time.Millisecond, 4*time.Second))
								defer cancel()
								connections.Add(1)
								err := m.run(ctx, attacker(n), s.address, r.request(s.address, headers...))
								if err != nil && !s.killed() {
									mu.Lock()
									wrong[fmt.Sprintf("%s, %s as %s: %v", r.name, m.name, who, err)]++
									mu.Unlock()
								}
							})
						}
					}
				}
			}
		})
		during := s.health(pick(6*time.Second, 30*time.Second))
		running.Wait()
		shown := 0
		for what, times := range wrong {
			if shown++; shown <= 10 {
				s.Logf("%d times: %s", times, what)
			}
		}
		memory, within := s.memory()
		s.require(within, "misuse of each route: memory", "RSS at most 90 % of 512 MB, never killed",
			"%s; %d combinations, %d connections",
			memory, combinations, connections.Load())
		s.requireNoErrors("misuse of each route", int(connections.Load()))
		s.require(len(wrong) == 0, "misuse of each route: answers", "refused with 4xx or closed", "%d wrong", len(wrong))
		s.requireHealth("misuse of each route", quiet, during)
		s.requireReturn("misuse of each route: what remains", start)
	})
}
