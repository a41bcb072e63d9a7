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

// CachedBytes returns the program's own estimate of the bytes that objects and changes use in its memory.
func (p *Program) CachedBytes(ctx context.Context) (int, error) {
	return p.metric(ctx, "glasshouse_memory_held_bytes")
}

// LiveHeap returns the size of the live heap in bytes, after a garbage collection.
func (p *Program) LiveHeap(ctx context.Context) (int, error) {
	text, err := p.get(ctx, "/debug/pprof/heap?gc=1&debug=1") // HeapAlloc excludes the profile's memory.
	if err != nil {
		return 0, err
	}
	return number(text, `(?m)^# HeapAlloc = (\S+)$`)
}

// Stacks returns the stacks of the program's goroutines as text.
func (p *Program) Stacks(ctx context.Context) (string, error) {
	text, err := p.get(ctx, "/debug/pprof/goroutine?debug=1")
	return string(text), err
}

// PeakRSS returns the peak of the resident memory in bytes, from /proc, because no metric contains it.
func (p *Program) PeakRSS() (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's memory: %w", err)
	}
	kilobytes, err := number(status, `(?m)^VmHWM:\s+(\S+) kB`)
	return kilobytes << 10, err
}

// CPU returns the processor time that the program has used.
func (p *Program) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's time: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // The program's name before this may contain spaces.
	var ticks [2]int                              // The ticks in user mode and in kernel mode.
	for i, text := range strings.Fields(rest)[11:13] {
		if ticks[i], err = strconv.Atoi(text); err != nil {
			return 0, fmt.Errorf("read the program's time: %w", err)
		}
	}
	return time.Duration(ticks[0]+ticks[1]) * 10 * time.Millisecond, nil // A tick of Linux is 10 ms.
}

// Sockets returns the number of open files and sockets of the program.
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
	defer func() { _ = response.Body.Close() }() // The body was read already.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("measure the program: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("measure the program: %s is answered with %s", path, response.Status)
	}
	return text, nil
}

// number returns the number that pattern matches in text. The number may have a form like 1.5e+07.
func number(text []byte, pattern string) (int, error) {
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("nothing there matches %s", pattern)
	}
	value, err := strconv.ParseFloat(string(match[1]), 64)
	return int(value), err
}
