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

// SignalError is the cancellation cause of a context that a signal has canceled.
type SignalError struct {
	Signal os.Signal
}

func (e SignalError) Error() string { return "stopped by " + e.Signal.String() }

// runCommand runs the user's command and blocks until it has ended. It returns an exit code other than 0 as an
// ExitError. When ctx ends, runCommand sends the signal that canceled ctx to the command, or SIGTERM if ctx ended for
// another reason. If the command is still running ten seconds later, runCommand kills it.
func (p plan) runCommand(ctx context.Context) error {
	args := p.opts.Command
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // the user gave this command to run
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.dir.kubeconfig(), "GLASSHOUSE_DEMO_DIR="+string(p.dir))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.opts.Stdin, p.opts.Stdout, p.opts.Stderr
	cmd.Cancel = func() error { return p.forward(ctx, cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	// dieWithParent makes the kernel signal the command when the thread that started the command ends. LockOSThread
	// keeps this thread alive until the command has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = dieWithParent()
	err := cmd.Run()
	if exitErr, ok := errors.AsType[*exec.ExitError](err); ok {
		return ExitError{Code: exitCode(exitErr)}
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
		return process.Signal(syscall.SIGTERM) //nolint:wrapcheck // os/exec reports this error
	case signal.Signal == os.Interrupt && isTerminal(p.opts.Stdin):
		return nil // the terminal has already sent Ctrl-C to the command
	default:
		return process.Signal(signal.Signal) //nolint:wrapcheck // os/exec reports this error
	}
}

func isTerminal(file *os.File) bool {
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// exitCode returns the exit code of a command as a shell does. If a signal ended the command, this is 128 plus the
// signal's number.
func exitCode(err *exec.ExitError) int {
	const killed = 128
	if status, ok := err.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return killed + int(status.Signal())
	}
	return err.ExitCode()
}
