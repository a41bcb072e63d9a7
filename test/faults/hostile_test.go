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

	"github.com/coder/websocket"
)

// A thousand hostile connections come from one address. The latency of a viewer at another address at most doubles. It
// is measured from a write to its WebSocket message, at the 99th percentile.
func TestHostileCrowd(t *testing.T) {
	if address, namespace, asked := strings.Cut(os.Getenv(victim), " "); asked {
		attackAll(t.Context(), address, namespace)
		return
	}
	const writes = 400
	w := open(t, setting{})
	check(t, w.Apply(t.Context(), w.namespace, "it", "begin"))
	becomes(t, 20*time.Second, "live", w.look(1, w.rows())...)
	delays(t, w, 50) // This completes one-time work before the measurement.
	before := delays(t, w, writes)

	// The attackers run as this test binary in another process, with low priority, so that they do not take processor
	// time from the measured viewer.
	crowd := exec.CommandContext(t.Context(), //nolint:gosec // It runs this test binary.
		"nice", "-n", "19", os.Args[0], "-test.run=^TestHostileCrowd$", "-test.v")
	crowd.Env = append(os.Environ(), victim+"="+strings.TrimPrefix(w.program.URL, "http://")+" "+w.namespace)
	said := must(crowd.StdoutPipe())(t)
	check(t, crowd.Start())
	t.Cleanup(func() {
		_ = crowd.Process.Kill() // The process does not end by itself.
		_ = crowd.Wait()         // The error is that the process was killed.
	})
	var open atomic.Int64
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				open.Store(int64(n))
			}
		}
	}()
	pass(5 * time.Second)
	first, cpu := open.Load(), must(w.program.CPU())(t)
	began := time.Now()
	during := delays(t, w, writes)
	last := open.Load()
	t.Logf("without: %v; with %d and %d of %d connections open: %v, and %v of processor in %v; at most %d MB",
		before, first, last, hostile, during, must(w.program.CPU())(t)-cpu,
		time.Since(began).Round(time.Millisecond), must(w.program.PeakRSS())(t)>>20)
	if first < hostile/2 {
		t.Errorf("%d of %d hostile connections are open: this measures nothing", first, hostile)
	}
	if most := max(2*before.p99, before.p99+50*time.Millisecond); during.p99 > most {
		t.Errorf("the 99th percentile is %v, want %v at most", during.p99, most)
	}
}

// victim is the environment variable for the hostile process. It contains the address and the namespace to attack.
const victim = "GLASSHOUSE_VICTIM"

const hostile = 1000

// attackAll keeps the hostile connections open until the process is killed, and prints how many are open.
func attackAll(ctx context.Context, address, namespace string) {
	ways := []func(*attack) error{slowly, silently, hugely, flooding, headed, deafly}
	var running atomic.Int64
	var attackers sync.WaitGroup
	for i := range hostile {
		attackers.Go(func() {
			for ctx.Err() == nil {
				a := &attack{ctx: ctx, address: address, namespace: namespace, running: &running}
				_ = a.run(ways[i%len(ways)]) // An error means that the server or ctx has ended the connection.
				_ = a.rest(time.Second)      // As above.
			}
		})
	}
	for ctx.Err() == nil {
		pass(200 * time.Millisecond)
		fmt.Println(running.Load()) //nolint:forbidigo // The process that started this one reads it.
	}
	attackers.Wait()
}

type spread struct{ median, p99, longest, write, told time.Duration }

func (s spread) String() string {
	return fmt.Sprintf("median %v, p99 %v, longest %v (the writes' p99 %v, behind them %v)",
		s.median.Round(time.Microsecond), s.p99.Round(time.Microsecond), s.longest.Round(time.Microsecond),
		s.write.Round(time.Microsecond), s.told.Round(time.Microsecond))
}

// delays writes an object repeatedly, and measures the time from each write to its WebSocket message.
func delays(t *testing.T, w *scene, writes int) spread {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial( //nolint:bodyclose // The connection owns the body.
		ctx, strings.Replace(w.program.URL, "http://", "ws://", 1)+"/api/v1/live",
		&websocket.DialOptions{Subprotocols: []string{"glasshouse.v1+json"}},
	)
	check(t, err)
	defer func() { _ = conn.CloseNow() }() // All messages of interest were read.
	conn.SetReadLimit(64 << 20)
	check(t, conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil,
		`{"op":"subscribe","id":1,"resource":%q,"ns":[%q],"name":"it","view":"object"}`, configMaps, w.namespace)))
	until := func(text string) {
		for {
			_, frame, err := conn.Read(ctx)
			check(t, err)
			if strings.Contains(string(frame), text) {
				return
			}
		}
	}
	until(`"type":"snapshot"`)
	all, wrote, told := make([]time.Duration, writes), make([]time.Duration, writes), make([]time.Duration, writes)
	mark := rand.Text()
	for i := range all {
		value := fmt.Sprint(mark, "-", i, "-")
		began := time.Now()
		check(t, w.Apply(ctx, w.namespace, "it", value))
		wrote[i] = time.Since(began)
		until(value)
		all[i] = time.Since(began)
		told[i] = all[i] - wrote[i]
		pass(20 * time.Millisecond)
	}
	for _, some := range [][]time.Duration{all, wrote, told} {
		slices.Sort(some)
	}
	last := len(all) * 99 / 100
	return spread{all[len(all)/2], all[last], all[len(all)-1], wrote[last], told[last]}
}

// attack is one hostile connection.
type attack struct {
	ctx                context.Context //nolint:containedctx // The context lives as long as the attack.
	address, namespace string
	running            *atomic.Int64
	conn               net.Conn
}

func (a *attack) run(way func(*attack) error) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 10 * time.Second}
	conn, err := dialer.DialContext(a.ctx, "tcp", a.address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // The server may have closed it.
	stop := context.AfterFunc(a.ctx, func() { _ = conn.Close() })
	defer stop()
	a.conn = conn
	a.running.Add(1)
	defer a.running.Add(-1)
	return way(a)
}

func (a *attack) write(text string) error {
	_, err := io.WriteString(a.conn, text)
	return err
}

// rest waits for the given time, and returns early with an error if the context ends.
func (a *attack) rest(long time.Duration) error {
	select {
	case <-a.ctx.Done():
		return a.ctx.Err()
	case <-time.After(long):
		return nil
	}
}

// slowly sends an HTTP header that never ends, one byte a second.
func slowly(a *attack) error {
	err := a.write("GET /r/core/v1/pods HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	for err == nil {
		if err = a.rest(time.Second); err == nil {
			err = a.write("a")
		}
	}
	return err
}

// silently connects and never sends anything.
func silently(a *attack) error { return a.rest(time.Hour) }

// upgrade opens a WebSocket without a library, so that the attack can send its own frames.
func (a *attack) upgrade() error {
	if err := a.write("GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n" +
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
		"Sec-WebSocket-Protocol: glasshouse.v1+json\r\n\r\n"); err != nil {
		return err
	}
	_, err := a.conn.Read(make([]byte, 16)) // Wait for the response.
	return err
}

// hugely sends frames of 1 MB, one after the other.
func hugely(a *attack) error {
	if err := a.upgrade(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, a.conn) }() // It ends when the connection closes.
	frame := string([]byte{
		0x81, 0x80 | 127, 0, 0, 0, 0, 0, 0x0f, 0xff, 0xf0, 0, 0, 0, 0,
	}) + strings.Repeat("a", 0x0ffff0)
	for {
		if err := a.write(frame); err != nil {
			return err
		}
	}
}

// flooding subscribes and unsubscribes repeatedly.
func flooding(a *attack) error {
	if err := a.upgrade(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, a.conn) }() // It ends when the connection closes.
	for {
		text := fmt.Sprintf(
			`[{"op":"subscribe","id":1,"resource":%q,"ns":[%q]},{"op":"unsubscribe","id":1}]`, configMaps, a.namespace,
		)
		frame := append(
			[]byte{0x81, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}, //nolint:gosec // It is short.
			text...,
		)
		if err := a.write(string(frame)); err != nil {
			return err
		}
		if err := a.rest(10 * time.Millisecond); err != nil { // This is much faster than 20 messages a second.
			return err
		}
	}
}

// headed sends requests with as many headers as the server accepts, one after the other.
func headed(a *attack) error {
	go func() { _, _ = io.Copy(io.Discard, a.conn) }() // It ends when the connection closes.
	request := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-Many: a\r\n", 5000) + "\r\n"
	for {
		if err := a.write(request); err != nil {
			return err
		}
	}
}

// deafly subscribes to an object that changes, and never reads from the connection.
func deafly(a *attack) error {
	if err := a.upgrade(); err != nil {
		return err
	}
	text := fmt.Sprintf(
		`{"op":"subscribe","id":1,"resource":%q,"ns":[%q],"name":"it","view":"object"}`, configMaps, a.namespace,
	)
	frame := append(
		[]byte{0x81, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}, //nolint:gosec // It is short.
		text...,
	)
	if err := a.write(string(frame)); err != nil {
		return err
	}
	return a.rest(time.Hour)
}
