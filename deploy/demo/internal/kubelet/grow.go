package kubelet

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	lineInterval = time.Second
	maxLogSize   = 1 << 20
)

// Grow appends one line per second to a log file until ctx ends. It rotates the file at maxLogSize.
func Grow(ctx context.Context, path string) error {
	tick := time.NewTicker(lineInterval)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			if err := appendLine(
				path, fmt.Sprintf("%s stdout F %s\n", now.UTC().Format(time.RFC3339Nano), requestLine(n)),
			); err != nil {
				return err
			}
		}
	}
}

func appendLine(path, line string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogSize {
		return rotate(path, line)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of the pods: %w", err)
	}
	_, err = file.WriteString(line)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write to the log of the pods: %w", err)
	}
	return nil
}

func rotate(path, line string) error {
	if err := os.WriteFile(path+".new", []byte(line), 0o600); err != nil {
		return fmt.Errorf("restart the log of the pods: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("restart the log of the pods: %w", err)
	}
	return nil
}

func requestLine(n int) string {
	path := []string{"/api/items", "/api/orders", "/api/cart", "/healthz", "/api/search?q=größe"}[n%5]
	duration := 3 + n*37%180
	switch {
	case n%29 == 28:
		return fmt.Sprintf(
			"\x1b[31mlevel=error\x1b[0m msg=\"request\" method=GET path=%s status=502 took=%dms "+
				"error=\"connection refused\"",
			path, duration,
		)
	case n%11 == 10:
		return fmt.Sprintf("\x1b[33mlevel=warn\x1b[0m msg=\"slow request\" method=GET path=%s status=200 took=1.%ds",
			path, duration)
	}
	return fmt.Sprintf("level=info msg=\"request\" method=GET path=%s status=200 took=%dms", path, duration)
}
