// Package program runs the dashboard as a separate process, and measures the process from outside.
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

// Options are the path, arguments and environment of a dashboard process.
type Options struct {
	Path string
	Args []string
	Env  []string // Added to the environment of the test process.
}

// Start starts the program, and returns when the program accepts connections. The program runs until Stop is called
// or this process ends.
func Start(ctx context.Context, options Options) (*Program, error) {
	p := &Program{out: &buffer{}, ended: make(chan struct{})}
	args := append([]string{"--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, options.Args...)
	p.cmd = exec.Command(options.Path, args...) //nolint:gosec,noctx // This is the program under test; Stop ends it.
	p.cmd.Env = slices.Concat(os.Environ(), options.Env)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The kernel kills the program when the thread that started it ends (Pdeathsig). Therefore this goroutine
		// keeps its thread until the program has ended.
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
			return fmt.Errorf("it ended: %w\n%s", p.err, p.Log())
		case <-tick.C:
		}
	}
}

// PID returns the process ID of the program.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// MetricsAddress returns the host and port on which the program serves metrics and probes.
func (p *Program) MetricsAddress() string { return strings.TrimPrefix(p.metrics, "http://") }

// Log returns everything that the program has written to stdout and stderr so far.
func (p *Program) Log() string { return p.out.String() }

// Stop sends SIGTERM to the program, and waits until it has ended. It returns an error if the exit code is not 0. If
// the program is still running after the timeout, Stop kills it and returns an error.
func (p *Program) Stop(timeout time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // An error means that the program has already ended.
	select {
	case <-p.ended:
		return p.err
	case <-time.After(timeout):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return errors.New("it did not end within " + timeout.String())
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
