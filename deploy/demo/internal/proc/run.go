// Package proc runs a part of the cluster as a process of its own, with its log in a file.
package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Spec says what to run. Name becomes the process's own name (argv[0]).
type Spec struct {
	Name string
	Path string
	Args []string
	Env  []string // added to this process's own
	Log  string   // file that takes both outputs; begun anew at each start
}

// Run starts the process and blocks until it has ended. When ctx ends the process is asked to stop (SIGTERM) and
// killed after grace; that is no error. A process that ends while ctx lives is one, whatever its exit code: the error
// names it and carries the end of its log.
//
// The process gets the reading end of a pipe as file descriptor 3, whose other end is held here. It closes when this
// process ends, however it ends.
func Run(ctx context.Context, spec Spec, grace time.Duration) error {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer log.Close() //nolint:errcheck // the process wrote it, not we
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer write.Close() //nolint:errcheck // nothing was written to it

	cmd := exec.CommandContext(ctx, spec.Path)
	cmd.Args = append([]string{spec.Name}, spec.Args...)
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{read}
	// A group of its own: Ctrl-C in a terminal goes to the whole foreground group, and parts stop in order, not at once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err = cmd.Start()
	_ = read.Close()
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	_ = cmd.Wait() // How it ended is told by its state.
	if ctx.Err() != nil {
		return nil
	}
	return &EndedError{
		Name: spec.Name, State: cmd.ProcessState.String(), Log: spec.Log, Tail: Tail(spec.Log, tailLines),
	}
}
