package program

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Goroutines is how many goroutines the program has.
func (p *Program) Goroutines(ctx context.Context) (int, error) {
	return p.metric(ctx, "go_goroutines")
}

// RSS is the program's resident memory in bytes.
func (p *Program) RSS(ctx context.Context) (int, error) {
	return p.metric(ctx, "process_resident_memory_bytes")
}

// Held is how many bytes it says that the objects and changes take that it holds.
func (p *Program) Held(ctx context.Context) (int, error) {
	return p.metric(ctx, "glasshouse_memory_held_bytes")
}

// Live is how many bytes of its heap are in use once what is garbage has been collected.
func (p *Program) Live(ctx context.Context) (int, error) {
	text, err := p.get(ctx, "/debug/pprof/heap?gc=1&debug=1") // It is read before what the profile takes.
	if err != nil {
		return 0, err
	}
	return number(text, `(?m)^# HeapAlloc = (\S+)$`)
}

// Stacks is what its goroutines do.
func (p *Program) Stacks(ctx context.Context) (string, error) {
	text, err := p.get(ctx, "/debug/pprof/goroutine?debug=1")
	return string(text), err
}

// PeakRSS is the most it ever had, which no metric tells.
func (p *Program) PeakRSS() (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's memory: %w", err)
	}
	kilobytes, err := number(status, `(?m)^VmHWM:\s+(\S+) kB`)
	return kilobytes << 10, err
}

// CPU is how long it has computed.
func (p *Program) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's time: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // The name may hold spaces.
	var ticks [2]int                              // In user mode, and in the kernel.
	for i, text := range strings.Fields(rest)[11:13] {
		if ticks[i], err = strconv.Atoi(text); err != nil {
			return 0, fmt.Errorf("read the program's time: %w", err)
		}
	}
	return time.Duration(ticks[0]+ticks[1]) * 10 * time.Millisecond, nil // Linux counts hundredths of a second.
}

// Sockets is how many files and sockets the program has open.
func (p *Program) Sockets(ctx context.Context) (int, error) { return p.metric(ctx, "process_open_fds") }

func (p *Program) metric(ctx context.Context, name string) (int, error) {
	text, err := p.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	return number(text, `(?m)^`+name+` (\S+)$`)
}

func (p *Program) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metrics+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("measure the program: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("measure the program: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // Read.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("measure the program: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("measure the program: %s is answered with %s", path, response.Status)
	}
	return text, nil
}

// number is the one that a pattern finds, which may be written as 1.5e+07.
func number(text []byte, pattern string) (int, error) {
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("nothing there matches %s", pattern)
	}
	value, err := strconv.ParseFloat(string(match[1]), 64)
	return int(value), err
}
