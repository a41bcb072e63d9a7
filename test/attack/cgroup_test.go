package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

type cgroup struct {
	dir string
	v2  bool
}

func newCgroup(name string, limit int64) (*cgroup, error) {
	parent, v2, err := currentCgroup()
	if err != nil {
		return nil, err
	}
	g := &cgroup{dir: filepath.Join(parent, name), v2: v2}
	if err := os.Mkdir(g.dir, 0o755); err != nil { //nolint:gosec // The kernel sets the file modes of a cgroup.
		return nil, fmt.Errorf("create the cgroup: %w", err)
	}
	limits := map[bool]string{false: "memory.limit_in_bytes", true: "memory.max"}
	if err := g.write(limits[v2], strconv.FormatInt(limit, 10)); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func currentCgroup() (dir string, v2 bool, err error) {
	const root = "/sys/fs/cgroup"
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false, fmt.Errorf("find the cgroup: %w", err)
	}
	unified := ""
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "memory":
			return filepath.Join(root, "memory", parts[2]), false, nil
		case parts[0] == "0":
			unified = filepath.Join(root, parts[2])
		}
	}
	controllers, err := os.ReadFile(filepath.Join(unified, "cgroup.subtree_control"))
	if err != nil || !strings.Contains(string(controllers), "memory") {
		return "", false, errors.New("no memory controller is available")
	}
	return unified, true, nil
}

// wrap writes a script that joins the cgroup and then executes the program, so that the cgroup counts all its memory.
func (c *cgroup) wrap(program, dir string) (script string, err error) {
	script = filepath.Join(dir, "in-cgroup")
	text := fmt.Sprintf("#!/bin/sh\necho $$ >%s/cgroup.procs && exec %s \"$@\"\n", c.dir, program)
	// Prevent forks until the script is closed. A process forked before that would inherit the open script, and executing
	// the script would fail with "text file busy" (golang.org/issue/22315).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil { //nolint:gosec // It must be executable.
		return "", fmt.Errorf("write the start script: %w", err)
	}
	return script, nil
}

func (c *cgroup) peak() (int64, error) {
	names := map[bool]string{false: "memory.max_usage_in_bytes", true: "memory.peak"}
	text, err := os.ReadFile(filepath.Join(c.dir, names[c.v2]))
	if err != nil {
		return 0, fmt.Errorf("read the cgroup's peak: %w", err)
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// kills counts processes that the kernel killed for lack of memory. In contrast, memory.failcnt includes allocations
// that succeed later.
func (c *cgroup) kills() (count int, err error) {
	names := map[bool]string{false: "memory.oom_control", true: "memory.events"}
	text, err := os.ReadFile(filepath.Join(c.dir, names[c.v2]))
	if err != nil {
		return 0, fmt.Errorf("read the cgroup's events: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == "oom_kill" {
			return strconv.Atoi(value)
		}
	}
	return 0, fmt.Errorf("%s has no oom_kill", names[c.v2])
}

func (c *cgroup) write(name, text string) error {
	file := filepath.Join(c.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // An existing file keeps its mode.
		return fmt.Errorf("set up the cgroup: %w", err)
	}
	return nil
}

func (c *cgroup) remove() error {
	if err := os.Remove(c.dir); err != nil {
		return fmt.Errorf("remove the cgroup: %w", err)
	}
	return nil
}
