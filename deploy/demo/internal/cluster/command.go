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

// SignalError is the cause of a context that a signal canceled.
type SignalError struct {
	Signal os.Signal
}

func (e SignalError) Error() string { return "stopped by " + e.Signal.String() }

// runCommand runs the user's command. When ctx ends, the command gets the signal that canceled ctx, or SIGTERM if ctx
// ended for another reason. Ten seconds later, runCommand kills the command.
func (p plan) runCommand(ctx context.Context) error {
	args := p.opts.Command
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // the user provides the command
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.dir.kubeconfig(), "GLASSHOUSE_DEMO_DIR="+string(p.dir))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.opts.Stdin, p.opts.Stdout, p.opts.Stderr
	cmd.Cancel = func() error { return p.forward(ctx, cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	// dieWithParent ends the command when the thread that started it ends, so keep this thread alive.
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
		return process.Signal(syscall.SIGTERM) //nolint:wrapcheck // exec.Cmd wraps this error
	case signal.Signal == os.Interrupt && isTerminal(p.opts.Stdin):
		return nil // the terminal has already sent Ctrl-C to the command
	default:
		return process.Signal(signal.Signal) //nolint:wrapcheck // exec.Cmd wraps this error
	}
}

func isTerminal(file *os.File) bool {
	return file != nil && term.IsTerminal(int(file.Fd()))
}

// exitCode returns 128 plus the signal number for a killed command, as a shell does.
func exitCode(err *exec.ExitError) int {
	const killed = 128
	if status, ok := err.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return killed + int(status.Signal())
	}
	return err.ExitCode()
}
