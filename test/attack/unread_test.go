package attack

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// attacker returns one of eight client addresses, because the program has limits per address.
func attacker(n int) string { return fmt.Sprintf("127.0.1.%d", 1+n%8) }

type connections struct {
	mu       sync.Mutex
	conns    []net.Conn
	failures int
}

func sendUnread(ctx context.Context, address string, count int, requestAt func(n int) request) *connections {
	c := &connections{}
	slots := make(chan struct{}, 64)
	var opening sync.WaitGroup
	for n := range count {
		slots <- struct{}{}
		opening.Go(func() {
			defer func() { <-slots }()
			conn, err := send(ctx, attacker(n), address, requestAt(n), smallBuffer)
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				c.failures++
			} else {
				c.conns = append(c.conns, conn)
			}
		})
	}
	opening.Wait()
	return c
}

func (c *connections) close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

func (s *site) warmUp(headers ...string) {
	s.Helper()
	for _, r := range s.inventory() {
		conn, err := send(s.Context(), "127.0.0.1", s.address, r.request(s.address, headers...), 0)
		if err != nil {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, _ = http.ReadResponse(bufio.NewReader(conn), nil) //nolint:bodyclose // The next line closes the connection.
		_ = conn.Close()
	}
}

type unreadAttack struct {
	name     string
	requests []request
}

const allRoutes = "all routes at once"

func largest() []string {
	return []string{
		"socket object", "/api/v1/object/{group}/{version}/{resource}/{namespace}/{name} ?format=yaml", manySubscriptions,
	}
}

func (s *site) unreadAttacks(guest string) (waves []unreadAttack) {
	s.Helper()
	all, others := unreadAttack{name: allRoutes}, unreadAttack{name: "POST, PUT and DELETE"}
	for _, r := range s.inventory() {
		asGuest, asUser := r.request(s.address, guest), r.request(s.address, bearer(s.creator))
		all.requests = append(all.requests, asGuest, asUser)
		if isFull() {
			waves = append(waves, unreadAttack{r.name + " as guest", []request{asGuest}})
		}
		if isFull() || slices.Contains(largest(), r.name) {
			waves = append(waves, unreadAttack{r.name + " as user", []request{asUser}})
		}
	}
	for _, r := range s.writes() {
		others.requests = append(others.requests, r.request(s.address, guest), r.request(s.address, bearer(s.creator)))
	}
	return append([]unreadAttack{all, others}, waves...)
}

type result struct {
	name   string
	peak   int64
	killed bool
	health health
}

func (s *site) runUnread(w unreadAttack) result {
	s.Helper()
	s.peak.Store(0)
	c := sendUnread(s.Context(), s.address, 600, func(n int) request { return w.requests[n%len(w.requests)] })
	defer c.close()
	r := result{name: w.name}
	if r.killed = s.hasEnded(); !r.killed {
		r.health = s.health(shortOrFull(1500*time.Millisecond, 5*time.Second))
	}
	if failures := r.health.object.failures + r.health.page.failures; failures > 0 && s.group != nil {
		select {
		case <-s.program.Ended():
		case <-time.After(3 * time.Second): // The kernel needs time to kill a process that is out of memory.
		}
	}
	r.peak, r.killed = s.peak.Load(), s.hasEnded()
	s.Logf("%s: RSS %d MB, killed %t, %d connections, %d refused; %v", w.name, r.peak>>20, r.killed, len(c.conns),
		c.failures, r.health)
	return r
}

// Clients that never read do not push memory above 90 % of its limit. A healthy client still gets fast responses.
//
// Invariant: I44.
func TestUnreadResponsesStayWithinTheMemoryLimit(t *testing.T) {
	runOnEach(t, func(p *probe) {
		open := func() (s *site, guest string) {
			s = p.open()
			guest = s.shareContent()
			s.warmUp(guest)
			s.warmUp(bearer(s.creator))
			return s, guest
		}
		s, guest := open()
		start := must(s.counts())(p)
		baseline := s.health(shortOrFull(time.Second, 10*time.Second))
		var worst result
		var slowest, burstHealth health
		kills := 0
		waves := s.unreadAttacks(guest)
		for i := range waves {
			r := s.runUnread(s.unreadAttacks(guest)[i])
			if r.peak > worst.peak {
				worst = r
			}
			if r.name == allRoutes {
				burstHealth = r.health
			} else {
				slowest = slowest.worse(r.health)
			}
			if r.killed {
				kills++
				s.stop()
				s, guest = open()
				start = must(s.counts())(p)
			}
		}
		s.require(kills == 0 && worst.peak > 0 && worst.peak <= memoryLimit*9/10,
			"unread responses: memory of the worst wave",
			memoryBar, "RSS %d MB (%s), killed in %d of %d waves", worst.peak>>20, worst.name, kills, len(waves))
		s.requireMemory("unread responses: last wave", "")
		s.requireHealth("unread responses", baseline, slowest)
		s.requireHealth("unread responses of "+allRoutes, baseline, burstHealth)
		s.requireReturn("unread responses: resources afterwards", start, 30*time.Second)
	})
}

func TestUnreadExportsDoNotBlockOtherAddresses(t *testing.T) {
	runOnEach(t, func(p *probe) {
		s := p.open()
		guest := s.shareContent()
		export := get("/api/v1/snapshot/"+configMaps+"?view=objects&ns="+s.namespace, guest)
		s.warmUp(guest)
		var conns []net.Conn
		for range 2 {
			conns = append(conns, must(send(p.Context(), attacker(0), s.address, export, smallBuffer))(p))
		}
		defer (&connections{conns: conns}).close()
		wait(time.Second)
		start := time.Now()
		conn := must(send(p.Context(), healthyAddress, s.address, export, 0))(p)
		defer func() { _ = conn.Close() }()
		_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second))
		line, err := bufio.NewReader(conn).ReadString('\n')
		elapsed := time.Since(start)
		s.require(err == nil && strings.Contains(line, " 200 ") && elapsed <= time.Second,
			"two unread exports of a guest: an export of the same guest from another address",
			"first byte within 1 s", "%.12q after %v", line, elapsed.Round(time.Millisecond))
	})
}
