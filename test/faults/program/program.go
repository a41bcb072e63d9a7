// Package program runs the dashboard as a process of its own, and looks at it from outside.
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

// A Program is a dashboard that runs.
type Program struct {
	URL string

	cmd     *exec.Cmd
	out     *buffer
	ended   chan struct{}
	err     error
	metrics string // The address of its metrics and profiles.
}

// Options say how to run it.
type Options struct {
	Path string
	Args []string
	Env  []string // Beside this process's own.
}

// Start runs the program and returns when it serves. It ends by Stop, or with this process.
func Start(ctx context.Context, options Options) (*Program, error) {
	p := &Program{out: &buffer{}, ended: make(chan struct{})}
	args := append([]string{"--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, options.Args...)
	p.cmd = exec.Command(options.Path, args...) //nolint:gosec,noctx // It is what is tested, and it is ended by a signal.
	p.cmd.Env = slices.Concat(os.Environ(), options.Env)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		// The kernel watches the thread that starts a process, so this one is kept until the process has ended.
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
	return p, p.serves(ctx)
}

// serves waits for the lines that say where it serves.
func (p *Program) serves(ctx context.Context) error {
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

// PID is the number of its process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// MetricsAddress is the host and port of its metrics and probes.
func (p *Program) MetricsAddress() string { return strings.TrimPrefix(p.metrics, "http://") }

// Log is what it has written so far.
func (p *Program) Log() string { return p.out.String() }

// Stop asks the program to end, and waits for that; one that does not in time is killed, which is an error, as is
// another exit code than 0.
func (p *Program) Stop(patience time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // It may have ended, which Wait tells.
	select {
	case <-p.ended:
		return p.err
	case <-time.After(patience):
		_ = p.cmd.Process.Kill() // As above.
		<-p.ended
		return errors.New("it did not end within " + patience.String())
	}
}

// Ended is closed when the program has ended.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// buffer takes the program's output while it is read.
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
