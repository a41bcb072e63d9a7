// Package program runs the dashboard as a separate process, and measures it from outside.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Program is a running dashboard process.
type Program struct {
	URL string

	cmd     *exec.Cmd
	out     *buffer
	ended   chan struct{}
	err     error
	metrics string
}

// Options describe a dashboard process.
type Options struct {
	Path string
	Args []string
	Env  []string // Variables in addition to those of the test process.
}

// Start returns when the program accepts connections. The program runs until Stop or the end of this process.
func Start(ctx context.Context, options Options) (*Program, error) {
	p := &Program{out: &buffer{}, ended: make(chan struct{})}
	args := append([]string{"--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, options.Args...)
	p.cmd = exec.Command(options.Path, args...) //nolint:gosec,noctx // This is the program under test; Stop ends it.
	p.cmd.Env = slices.Concat(os.Environ(), options.Env)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// Pdeathsig kills the program when its parent thread ends. So keep the thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", options.Path, err)
	}
	return p, p.waitForURLs(ctx)
}

func (p *Program) waitForURLs(ctx context.Context) error {
	line := regexp.MustCompile(`(?s) metrics=(http://\S+)/metrics\n.* at (https?://\S+)/\n`)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if match := line.FindStringSubmatch(p.Log()); match != nil {
			p.metrics, p.URL = match[1], match[2]
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ended:
			return fmt.Errorf("the program exited: %w\n%s", p.err, p.Log())
		case <-tick.C:
		}
	}
}

// PID returns the process ID of the program.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// MetricsAddress returns the host and port for metrics and probes.
func (p *Program) MetricsAddress() string { return strings.TrimPrefix(p.metrics, "http://") }

// Log returns all output of the program so far.
func (p *Program) Log() string { return p.out.String() }

// Stop sends SIGTERM, and kills the program if it still runs after the timeout. It returns an error if the program was
// killed, or if its exit code is not 0.
func (p *Program) Stop(timeout time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // An error means that the program has already ended.
	select {
	case <-p.ended:
		return p.err
	case <-time.After(timeout):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return errors.New("the program did not exit within " + timeout.String())
	}
}

// Ended returns a channel that is closed when the program has ended.
func (p *Program) Ended() <-chan struct{} { return p.ended }

type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
