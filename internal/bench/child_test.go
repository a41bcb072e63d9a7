//go:build integration

package bench_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child is a server in its own process, so that its memory and CPU time can be measured.
type child struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	address string
}

func startChild(t *testing.T, command *exec.Cmd) *child {
	t.Helper()
	c := &child{t: t, command: command}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if c.in, err = command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.end)
	lines := bufio.NewReader(out)
	for c.address == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the server did not print an address: %v", err)
		}
		if match := regexp.MustCompile(`http://([0-9.:]+)/`).FindStringSubmatch(line); match != nil {
			c.address = match[1]
		}
	}
	return c
}

func (c *child) end() {
	if c.command.ProcessState != nil {
		return
	}
	_ = c.in.Close()
	_ = c.command.Process.Signal(syscall.SIGTERM)
	killed := time.AfterFunc(20*time.Second, func() { _ = c.command.Process.Kill() })
	_ = c.command.Wait()
	killed.Stop()
}

func (c *child) cpu() float64 {
	c.t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(c.command.Process.Pid) + "/stat")
	if err != nil {
		c.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	ticks := 0.0
	for _, field := range fields[11:13] { // The fields utime and stime of proc(5), in units of 1/100 s.
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			c.t.Fatal(err)
		}
		ticks += n
	}
	return ticks / 100
}

func (c *child) rss() float64 { return resident(c.t, strconv.Itoa(c.command.Process.Pid), "VmRSS") }

func (c *child) peak() float64 { return resident(c.t, strconv.Itoa(c.command.Process.Pid), "VmHWM") }

// resident returns one memory value in KiB from /proc/PID/status; see proc(5).
func resident(t *testing.T, process, name string) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Fatalf("no field %s in the status of the process", name)
	return 0
}

func build(t *testing.T) string {
	t.Helper()
	binary := t.TempDir() + "/dashboard"
	command := exec.CommandContext(
		t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../../cmd/dashboard",
	)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

func startOnServer(t *testing.T, binary, api string) *child {
	t.Helper()
	command := exec.CommandContext( //nolint:gosec // The executable is the one that the function build has compiled.
		context.WithoutCancel(t.Context()), binary,
		"--server", api, "--listen", "127.0.0.1:0", "--log-level", "warn",
	)
	command.Env = append(os.Environ(), "KUBECONFIG=/dev/null")
	return startChild(t, command)
}

func startOnCluster(t *testing.T, binary string) *child {
	t.Helper()
	return startChild(t, exec.CommandContext( //nolint:gosec // The test has compiled the binary.
		context.WithoutCancel(t.Context()), binary, "--listen", "127.0.0.1:0", "--log-level", "warn",
	))
}
