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

// Goroutines returns the number of goroutines of the program.
func (p *Program) Goroutines(ctx context.Context) (int, error) {
	return p.metric(ctx, "go_goroutines")
}

// RSS returns the program's resident memory in bytes.
func (p *Program) RSS(ctx context.Context) (int, error) {
	return p.metric(ctx, "process_resident_memory_bytes")
}

// CachedBytes returns the program's own estimate of the bytes for objects and changes.
func (p *Program) CachedBytes(ctx context.Context) (int, error) {
	return p.metric(ctx, "glasshouse_memory_held_bytes")
}

// LiveHeap collects garbage in the program, and returns the bytes of the remaining heap.
func (p *Program) LiveHeap(ctx context.Context) (int, error) {
	// HeapAlloc in this text excludes the memory for the profile itself.
	text, err := p.get(ctx, "/debug/pprof/heap?gc=1&debug=1")
	if err != nil {
		return 0, err
	}
	return number(text, `(?m)^# HeapAlloc = (\S+)$`)
}

// Stacks returns the stack traces of all goroutines.
func (p *Program) Stacks(ctx context.Context) (string, error) {
	text, err := p.get(ctx, "/debug/pprof/goroutine?debug=1")
	return string(text), err
}

// PeakRSS returns the peak resident memory in bytes. It reads /proc, because no metric contains the peak.
func (p *Program) PeakRSS() (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's memory use: %w", err)
	}
	kilobytes, err := number(status, `(?m)^VmHWM:\s+(\S+) kB`)
	return kilobytes << 10, err
}

// CPU returns the used CPU time.
func (p *Program) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's CPU time: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // The process name before ") " can contain spaces.
	var ticks [2]int                              // User mode and kernel mode.
	for i, text := range strings.Fields(rest)[11:13] {
		if ticks[i], err = strconv.Atoi(text); err != nil {
			return 0, fmt.Errorf("parse the program's CPU time: %w", err)
		}
	}
	return time.Duration(ticks[0]+ticks[1]) * 10 * time.Millisecond, nil // A clock tick is 10 ms on Linux.
}

// Sockets returns the number of open file descriptors, including sockets.
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
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("measure the program: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("measure the program: GET %s: status %s", path, response.Status)
	}
	return text, nil
}

func number(text []byte, pattern string) (int, error) {
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("no match for %s", pattern)
	}
	value, err := strconv.ParseFloat(string(match[1]), 64)
	return int(value), err
}
