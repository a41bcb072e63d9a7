package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
)

// ErrNotTold says that this program has no way to tell.
var ErrNotTold = errors.New("this dashboard has no --metrics-listen")

// Goroutines is how many goroutines the program has.
func (p *Program) Goroutines(ctx context.Context) (int, error) {
	if p.metrics == "" {
		return 0, ErrNotTold
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("read metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("read metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // Read.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, fmt.Errorf("read metrics: %w", err)
	}
	return number(text, `(?m)^go_goroutines (\d+)`)
}

// RSS is the program's resident memory in bytes.
func (p *Program) RSS() (int, error) { return p.memory("VmRSS") }

// PeakRSS is the most it ever had.
func (p *Program) PeakRSS() (int, error) { return p.memory("VmHWM") }

func (p *Program) memory(field string) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's memory: %w", err)
	}
	kilobytes, err := number(status, `(?m)^`+field+`:\s+(\d+) kB`)
	return kilobytes << 10, err
}

// Sockets is how many files and sockets the program has open.
func (p *Program) Sockets() (int, error) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the program's files: %w", err)
	}
	return len(files), nil
}

func number(text []byte, pattern string) (int, error) {
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("nothing there matches %s", pattern)
	}
	return strconv.Atoi(string(match[1]))
}
