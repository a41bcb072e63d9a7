package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type latencies struct {
	p50, p99 time.Duration
	count    int
	failures int
}

func latenciesOf(all []time.Duration, failures int) latencies {
	s := latencies{count: len(all) + failures, failures: failures}
	if len(all) > 0 {
		slices.Sort(all)
		s.p50, s.p99 = all[len(all)/2], all[len(all)*99/100]
	}
	return s
}

func (l latencies) String() string {
	return fmt.Sprintf("p50 %v, p99 %v, %d of %d failed",
		l.p50.Round(100*time.Microsecond), l.p99.Round(100*time.Microsecond), l.failures, l.count)
}

// health contains the response times of a client that takes no part in the attack, and has its own address and user.
type health struct{ object, page, socket latencies }

func (h health) worse(other health) health {
	return health{h.object.worse(other.object), h.page.worse(other.page), h.socket.worse(other.socket)}
}

func (l latencies) worse(other latencies) latencies {
	return latencies{max(l.p50, other.p50), max(l.p99, other.p99), l.count + other.count, l.failures + other.failures}
}

func (h health) String() string {
	return fmt.Sprintf("object %v; page %v; socket %v", h.object, h.page, h.socket)
}

const (
	healthyAddress = "127.0.9.9"
	pulseName      = "pulse" // The healthy client reads this ConfigMap while the test changes it.
)

func (s *site) health(duration time.Duration) health {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), duration)
	defer cancel()
	return s.healthUntil(ctx)
}

func (s *site) warmHealth(duration time.Duration) health {
	s.Helper()
	s.check(eventually(30*time.Second, func() error {
		if h := s.health(500 * time.Millisecond); h.socket.count == 0 || h.socket.failures > 0 {
			return fmt.Errorf("healthy viewer without load: got %v, want updates without failures", h)
		}
		return nil
	}))
	return s.health(duration)
}

func (s *site) healthDuring(atLeast time.Duration, attack func()) health {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() {
		defer cancel()
		minimum := time.After(atLeast)
		attack()
		<-minimum
	})
	defer running.Wait()
	return s.healthUntil(ctx)
}

func (s *site) healthUntil(ctx context.Context) (h health) {
	s.Helper()
	objects := s.Core.CoreV1().ConfigMaps(s.hidden)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: pulseName}, Data: map[string]string{"beat": "none"}}
	_, err := objects.Create(context.WithoutCancel(ctx), cm, metav1.CreateOptions{})
	s.check(ignoreExisting(err))
	client := &http.Client{Timeout: 10 * time.Second, Transport: s.transport(healthyAddress)}
	defer client.CloseIdleConnections()
	var measuring sync.WaitGroup
	for path, target := range map[string]*latencies{
		"/api/v1/object/" + configMaps + "/" + s.hidden + "/" + pulseName: &h.object,
		"/o/" + configMaps + "/" + s.hidden + "/" + pulseName:             &h.page,
	} {
		measuring.Go(func() { *target = s.measureGets(ctx, client, path) })
	}
	measuring.Go(func() { h.socket = s.measureSocket(ctx) })
	measuring.Wait()
	return h
}

func (s *site) measureGets(ctx context.Context, client *http.Client, path string) latencies {
	var all []time.Duration
	failures := 0
	for ctx.Err() == nil {
		start := time.Now()
		if err := s.fetch(context.WithoutCancel(ctx), client, path); err != nil {
			failures++
		} else {
			all = append(all, time.Since(start))
		}
		wait(20 * time.Millisecond)
	}
	return latenciesOf(all, failures)
}

func (s *site) fetch(ctx context.Context, client *http.Client, path string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.program.URL+path, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.healthyToken)
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err = errors.Join(err, response.Body.Close()); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: got status %d", path, response.StatusCode)
	}
	return err
}

// measureSocket measures the time from a write to the API server to the message on a WebSocket.
func (s *site) measureSocket(ctx context.Context) latencies {
	var all []time.Duration
	failures := 0
	for ctx.Err() == nil {
		measured, err := s.measureUpdates(ctx)
		all = append(all, measured...)
		if err != nil && ctx.Err() == nil {
			failures++
			wait(100 * time.Millisecond)
		}
	}
	return latenciesOf(all, failures)
}

func (s *site) measureUpdates(ctx context.Context) (all []time.Duration, err error) {
	client, err := s.socket(ctx, healthyAddress, http.Header{"Authorization": {"Bearer " + s.healthyToken}}, nil)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	subscribe := fmt.Sprintf(`{"op":"subscribe","id":1,"resource":%q,"ns":[%q],"name":%q,"view":"object"}`, configMaps,
		s.hidden, pulseName)
	if err := client.Send(ctx, subscribe); err != nil {
		return nil, err
	}
	if err := readUntil(ctx, client, `"type":"snapshot"`); err != nil {
		return nil, err
	}
	for {
		start := time.Now()
		marker := fmt.Sprint("beat-", start.UnixNano())
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: pulseName}, Data: map[string]string{"beat": marker}}
		if _, err := s.Core.CoreV1().ConfigMaps(s.hidden).Update(ctx, cm, metav1.UpdateOptions{}); err != nil {
			return all, err
		}
		if err := readUntil(ctx, client, marker); err != nil {
			return all, err
		}
		all = append(all, time.Since(start))
		wait(20 * time.Millisecond)
	}
}

func (s *site) transport(from string) *http.Transport {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: s.tls}
}

func (s *site) socket(
	ctx context.Context, from string, header http.Header, onFault func(string),
) (*livetest.Client, error) {
	if header.Get("Cookie") != "" {
		header.Set("Origin", s.program.URL)
	}
	return livetest.Open(ctx, s.program.URL, livetest.Options{
		HTTP: &http.Client{Transport: s.transport(from)}, Header: header, OnFault: onFault,
	})
}

func readUntil(ctx context.Context, client *livetest.Client, text string) error {
	for {
		m, err := client.Read(ctx)
		if err != nil {
			return err
		}
		if strings.Contains(string(m.Raw), text) {
			return nil
		}
	}
}

// socketFloor is the increase of the p99 latency that is always permitted, because a single scheduler delay can cause
// it.
const socketFloor = 15 * time.Millisecond

// shortLimit is the latency above which short runs (without GLASSHOUSE_ATTACK=full) fail. The limits of full runs do
// not apply, because a short run has too few samples for a p99.
const shortLimit = 3 * time.Second

func (s *site) requireHealth(finding string, before, during health) {
	s.Helper()
	works := during.object.failures+during.page.failures == 0 && during.object.count > 0 && during.page.count > 0
	slowest := max(during.object.p99, during.page.p99)
	s.latencyReporter(works, slowest)(works && slowest <= time.Second, finding+": healthy GET", "p99 1 s, no failure",
		"object %v; page %v (without load %v)", during.object, during.page, before.object)
	s.requireSocket(finding+": healthy socket", before.socket, during.socket)
}

// requireSocket requires that the p99 latency of a WebSocket during an attack is at most twice the p99 without load, or
// at most socketFloor more. docs/limits.md lists the attacks that miss this goal.
func (s *site) requireSocket(finding string, before, during latencies) {
	s.Helper()
	works := during.failures == 0 && during.count > 0 && before.p99 > 0
	s.latencyReporter(works, during.p99)(works && during.p99 <= max(2*before.p99, before.p99+socketFloor), finding,
		fmt.Sprintf("p99 at most twice that without load, or %v more; no failure", socketFloor),
		"%v (%.1f times the p99 without load, %v)", during, float64(during.p99)/float64(max(1, before.p99)),
		before.p99.Round(100*time.Microsecond))
}

// latencyReporter returns s.require, which can fail the test. For a short run in which all requests succeeded (works)
// and no latency exceeded shortLimit, it returns s.report, which cannot fail the test.
func (s *site) latencyReporter(works bool, slowest time.Duration) func(bool, string, string, string, ...any) {
	if works && !isFull() && slowest <= shortLimit {
		return s.report
	}
	return s.require
}
