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

// A Program is a running dashboard.
type Program struct {
	URL string

	cmd     *exec.Cmd
	out     *buffer
	ended   chan struct{}
	err     error
	metrics string // The URL of its metrics and profiles.
}

// Options describe how to run the dashboard.
type Options struct {
	Path string
	Args []string
	Env  []string // Added to the environment of this process.
}

// Start starts the program, and returns when it serves. The program runs until Stop is called, or until this process
// ends.
func Start(ctx context.Context, options Options) (*Program, error) {
	p := &Program{out: &buffer{}, ended: make(chan struct{})}
	args := append([]string{"--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, options.Args...)
	p.cmd = exec.Command(options.Path, args...) //nolint:gosec,noctx // This is the program under test; Stop ends it.
	p.cmd.Env = slices.Concat(os.Environ(), options.Env)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The kernel sends the parent-death signal when the starting thread ends. Therefore this thread is kept until
		// the process has ended.
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

// waitForURLs waits until the program has logged the lines that contain its URLs.
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

// PID returns the ID of the program's process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// MetricsAddress returns the host and port of the program's metrics and probes.
func (p *Program) MetricsAddress() string { return strings.TrimPrefix(p.metrics, "http://") }

// Log returns the program's output so far.
func (p *Program) Log() string { return p.out.String() }

// Stop sends SIGTERM to the program, and waits until it has ended. After the timeout it kills the program
// and returns an error. An exit code other than 0 is an error too.
func (p *Program) Stop(timeout time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // If the process has already ended, Wait reports this.
	select {
	case <-p.ended:
		return p.err
	case <-time.After(timeout):
		_ = p.cmd.Process.Kill() // If the process has ended already, there is nothing to kill.
		<-p.ended
		return errors.New("it did not end within " + timeout.String())
	}
}

// Ended returns a channel that is closed when the program has ended.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// buffer collects the output of the program, and can be read meanwhile.
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
