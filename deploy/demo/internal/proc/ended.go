package proc

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

const tailLines = 12

// EndedError reports that a process ended unexpectedly.
type EndedError struct {
	Name, State, Log, Tail string
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("%s ended unexpectedly (%s); the end of %s:\n%s", e.Name, e.State, e.Log, e.Tail)
}

// Tail returns the last n lines of a file, each cut to 300 bytes, or the error text if it cannot read the file.
func Tail(path string, n int) string {
	const maxBytes, maxLineLength = 64 << 10, 300
	data, err := os.ReadFile(path)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	if len(data) > maxBytes {
		data = data[len(data)-maxBytes:]
	}
	data = bytes.TrimRight(data, "\n")
	if len(data) == 0 {
		return "  (empty)"
	}
	lines := strings.Split(string(data), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		if len(line) > maxLineLength {
			line = line[:maxLineLength] + "..."
		}
		lines[i] = "  " + line
	}
	return strings.Join(lines, "\n")
}
