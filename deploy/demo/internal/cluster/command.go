package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"
)

// SignalError is the cause of a context that a signal ended.
type SignalError struct {
	Signal os.Signal
}

func (e SignalError) Error() string { return "stopped by " + e.Signal.String() }

// runCommand runs the command against the cluster and blocks until it has ended. Its exit code becomes an ExitError
// unless it is 0. When ctx ends the command is sent the same signal, SIGTERM where it was none, and killed after ten
// seconds.
func (p plan) runCommand(ctx context.Context) error {
	args := p.opts.Command
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // running it is what was asked for
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.dir.kubeconfig(), "GLASSHOUSE_DEMO_DIR="+string(p.dir))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.opts.Stdin, p.opts.Stdout, p.opts.Stderr
	cmd.Cancel = func() error { return p.forward(ctx, cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	// The kernel watches the thread that starts the command, so this one is kept until the command has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = dieWithParent()
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return ExitError{Code: exitCode(exit)}
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	return nil
}

func (p plan) forward(ctx context.Context, process *os.Process) error {
	signal, ok := errors.AsType[SignalError](context.Cause(ctx))
	switch {
	case !ok:
		return process.Signal(syscall.SIGTERM) //nolint:wrapcheck // exec reports it
	case signal.Signal == os.Interrupt && isTerminal(p.opts.Stdin):
		return nil // Ctrl-C went to the command as well; twice is a different word
	default:
		return process.Signal(signal.Signal) //nolint:wrapcheck // exec reports it
	}
}

func isTerminal(file *os.File) bool {
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// exitCode is the code as a shell gives it: 128 and the signal's number for a command that was killed.
func exitCode(err *exec.ExitError) int {
	const killed = 128
	if status, ok := err.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return killed + int(status.Signal())
	}
	return err.ExitCode()
}
