package faults

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
)

// Hostile connections increase the p99 latency of another viewer by at most 100 %, or 50 ms if that is more.
//
// Invariant: I44.
func TestHostileConnectionsDelayOthersLittle(t *testing.T) {
	if address, namespace, isAttacker := strings.Cut(os.Getenv(victimEnv), " "); isAttacker {
		attackAll(t.Context(), address, namespace)
		return
	}
	const writes = 400
	w := open(t, options{})
	check(t, w.Apply(t.Context(), w.namespace, "it", "begin"))
	waitForState(t, 20*time.Second, "live", w.startViewers(1, w.rows())...)
	// The program does one-time work during this first measurement, so ignore its result.
	measureDelays(t, w, 50)
	before := measureDelays(t, w, writes)

	// The attackers run in another process. Its low priority leaves CPU time to the measured viewer.
	attackers := exec.CommandContext(t.Context(), //nolint:gosec // It runs this test binary.
		"nice", "-n", "19", os.Args[0], "-test.run=^TestHostileConnectionsDelayOthersLittle$", "-test.v")
	attackers.Env = append(os.Environ(), victimEnv+"="+strings.TrimPrefix(w.program.URL, "http://")+" "+w.namespace)
	stdout := must(attackers.StdoutPipe())(t)
	check(t, attackers.Start())
	t.Cleanup(func() {
		_ = attackers.Process.Kill()
		_ = attackers.Wait()
	})
	var openCount atomic.Int64
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				openCount.Store(int64(n))
			}
		}
	}()
	sleep(5 * time.Second)
	first, cpu := openCount.Load(), must(w.program.CPU())(t)
	start := time.Now()
	during := measureDelays(t, w, writes)
	last := openCount.Load()
	t.Logf("without load: %v; with %d to %d of %d connections open: %v; CPU time %v in %v; peak RSS %d MB",
		before, first, last, hostileConnections, during, must(w.program.CPU())(t)-cpu,
		time.Since(start).Round(time.Millisecond), must(w.program.PeakRSS())(t)>>20)
	if first < hostileConnections/2 {
		t.Errorf("only %d of %d hostile connections are open, so the test is not valid", first, hostileConnections)
	}
	if limit := max(2*before.p99, before.p99+50*time.Millisecond); during.p99 > limit {
		t.Errorf("p99 is %v, want at most %v", during.p99, limit)
	}
}

// victimEnv is the name of the environment variable that contains the address and the namespace to attack. Only the
// attacking process has this variable.
const victimEnv = "GLASSHOUSE_VICTIM"

const hostileConnections = 1000

// attackAll attacks until this process is killed, and prints the number of open connections every 200 ms.
func attackAll(ctx context.Context, address, namespace string) {
	attacks := []func(*attack) error{
		sendSlowHeader,
		stayIdle,
		sendLargeFrames,
		floodSubscriptions,
		sendManyHeaders,
		neverRead,
	}
	var running atomic.Int64
	var attackers sync.WaitGroup
	for i := range hostileConnections {
		attackers.Go(func() {
			for ctx.Err() == nil {
				a := &attack{ctx: ctx, address: address, namespace: namespace, running: &running}
				_ = a.run(attacks[i%len(attacks)]) // Ignore the error: the server or ctx has ended the connection.
				_ = a.sleep(time.Second)
			}
		})
	}
	for ctx.Err() == nil {
		sleep(200 * time.Millisecond)
		fmt.Println(running.Load()) //nolint:forbidigo // The process that started this one reads it.
	}
	attackers.Wait()
}

type latencies struct{ median, p99, longest, write, delivery time.Duration }

func (l latencies) String() string {
	return fmt.Sprintf("median %v, p99 %v, maximum %v (p99 of writes %v, of deliveries %v)",
		l.median.Round(time.Microsecond), l.p99.Round(time.Microsecond), l.longest.Round(time.Microsecond),
		l.write.Round(time.Microsecond), l.delivery.Round(time.Microsecond))
}

func measureDelays(t *testing.T, w *testbed, writes int) latencies {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tab := livetest.OpenTab(ctx, t, w.program.URL, livetest.Options{})
	defer tab.Close()
	tab.Send(fmt.Sprintf(
		`{"op":"subscribe","id":1,"resource":%q,"ns":[%q],"name":"it","view":"object"}`, configMaps, w.namespace))
	tab.UntilContains(`"type":"snapshot"`)
	total, written, delivery := make([]time.Duration, writes), make([]time.Duration, writes), make([]time.Duration, writes)
	prefix := rand.Text()
	for i := range total {
		value := fmt.Sprint(prefix, "-", i, "-")
		start := time.Now()
		check(t, w.Apply(ctx, w.namespace, "it", value))
		written[i] = time.Since(start)
		tab.UntilContains(value)
		total[i] = time.Since(start)
		delivery[i] = total[i] - written[i]
		sleep(20 * time.Millisecond)
	}
	for _, durations := range [][]time.Duration{total, written, delivery} {
		slices.Sort(durations)
	}
	last := len(total) * 99 / 100
	return latencies{total[len(total)/2], total[last], total[len(total)-1], written[last], delivery[last]}
}

type attack struct {
	ctx                context.Context //nolint:containedctx // The context lives as long as the attack.
	address, namespace string
	running            *atomic.Int64
	conn               net.Conn
}

func (a *attack) run(method func(*attack) error) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 10 * time.Second}
	conn, err := dialer.DialContext(a.ctx, "tcp", a.address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(a.ctx, func() { _ = conn.Close() })
	defer stop()
	a.conn = conn
	a.running.Add(1)
	defer a.running.Add(-1)
	return method(a)
}

func (a *attack) write(text string) error {
	_, err := io.WriteString(a.conn, text)
	return err
}

func (a *attack) sleep(duration time.Duration) error {
	select {
	case <-a.ctx.Done():
		return a.ctx.Err()
	case <-time.After(duration):
		return nil
	}
}

func sendSlowHeader(a *attack) error {
	err := a.write("GET /r/core/v1/pods HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	for err == nil {
		if err = a.sleep(time.Second); err == nil {
			err = a.write("a")
		}
	}
	return err
}

func stayIdle(a *attack) error { return a.sleep(time.Hour) }

func (a *attack) upgrade() error {
	_, err := livetest.Upgrade(a.conn, "")
	return err
}

func sendLargeFrames(a *attack) error {
	if err := a.upgrade(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, a.conn) }()
	frame := livetest.TextFrame(strings.Repeat("a", 1<<20-16))
	for {
		if err := a.write(frame); err != nil {
			return err
		}
	}
}

func floodSubscriptions(a *attack) error {
	if err := a.upgrade(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, a.conn) }()
	for {
		text := fmt.Sprintf(
			`[{"op":"subscribe","id":1,"resource":%q,"ns":[%q]},{"op":"unsubscribe","id":1}]`, configMaps, a.namespace,
		)
		if err := a.write(livetest.TextFrame(text)); err != nil {
			return err
		}
		if err := a.sleep(10 * time.Millisecond); err != nil { // 100 messages per second; the limit is 20.
			return err
		}
	}
}

// sendManyHeaders sends requests with almost the largest header that the server accepts: 90 fields with 30 KiB. The
// limits are 100 fields and 32 KiB.
func sendManyHeaders(a *attack) error {
	go func() { _, _ = io.Copy(io.Discard, a.conn) }()
	request := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" +
		strings.Repeat("X-Many: "+strings.Repeat("a", 330)+"\r\n", 90) + "\r\n"
	for {
		if err := a.write(request); err != nil {
			return err
		}
	}
}

func neverRead(a *attack) error {
	if err := a.upgrade(); err != nil {
		return err
	}
	text := fmt.Sprintf(
		`{"op":"subscribe","id":1,"resource":%q,"ns":[%q],"name":"it","view":"object"}`, configMaps, a.namespace,
	)
	if err := a.write(livetest.TextFrame(text)); err != nil {
		return err
	}
	return a.sleep(time.Hour)
}
