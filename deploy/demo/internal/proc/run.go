// Package proc runs the programs of the demo cluster as separate processes, each with a log file.
package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Spec describes a process to run. Name becomes argv[0].
type Spec struct {
	Name string
	Path string
	Args []string
	Env  []string
	Log  string // file for standard output and standard error; truncated at each start
}

// Run runs a process until ctx ends. If the process ends earlier, even with exit code 0, Run returns an EndedError.
func Run(ctx context.Context, spec Spec, gracePeriod time.Duration) error {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer log.Close() //nolint:errcheck // only the child process wrote to it
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer write.Close() //nolint:errcheck // nothing was written to it

	cmd := exec.CommandContext(ctx, spec.Path)
	cmd.Args = append([]string{spec.Name}, spec.Args...)
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	// File descriptor 3 is a pipe that closes when this process ends. The child process then exits (parts.DieWithParent).
	cmd.ExtraFiles = []*os.File{read}
	// Start the process in its own process group. Otherwise, Ctrl-C would stop all processes of the cluster at once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	// A process that ignores SIGTERM is killed after gracePeriod.
	cmd.WaitDelay = gracePeriod
	err = cmd.Start()
	_ = read.Close()
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	_ = cmd.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return &EndedError{
		Name: spec.Name, State: cmd.ProcessState.String(), Log: spec.Log, Tail: Tail(spec.Log, tailLines),
	}
}
