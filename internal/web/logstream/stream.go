// Package logstream streams the log of a container as plain text, in parts. HTTP responses and sockets send these
// parts.
package logstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

const (
	// DefaultTail and maxTail are the default and the maximum number of last lines of a log that a client receives.
	DefaultTail, maxTail = 500, 5000
	// logOpenWait is the maximum wait for the API server's response. After this wait, the response to the client starts
	// with status 200, although the API server can still respond with an error.
	logOpenWait = 2 * time.Second
	// logChunk is the maximum length of one part of a log, in bytes.
	logChunk = 64 << 10
)

// Open requests the log of a container. If the API server does not respond to the request for a followed log within
// logOpenWait, Open writes an empty part to out, and continues to wait.
func Open(
	ctx context.Context, access *watch.Access, namespace, name string, options watch.LogOptions, out *Writer,
) (io.ReadCloser, error) {
	type result struct {
		body io.ReadCloser
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var log result
		defer func() { done <- log }()
		defer request.RecoverAsError(&log.err)
		log.body, log.err = access.Logs(ctx, namespace, name, options)
	}()
	var openTimeout <-chan time.Time
	if options.Follow {
		openTimeout = time.After(logOpenWait)
	}
	select {
	case log := <-done:
		return log.body, log.err
	case <-openTimeout:
	}
	err := out.flush()
	// Even if flush failed, wait for the API server's response or the end of ctx: the body of a response must be closed.
	log := <-done
	if err == nil || log.err != nil {
		return log.body, log.err
	}
	_ = log.body.Close()
	return nil, err
}

// Writer removes escape sequences from a log and sends the text in parts of at most logChunk bytes.
type Writer struct {
	// Send sends a part of the log, which can be empty. awaitsServer means that the API server has not responded yet.
	Send      func(part []byte, awaitsServer bool) error
	Started   bool // Whether a part was sent since Copy was called.
	responded bool
	text      plainText
	buf       []byte
}

// Copy sends the lines of a log as they arrive. It first sends an empty part, which shows that the log is open.
func (w *Writer) Copy(from io.Reader) error {
	w.responded, w.Started = true, false
	if err := w.flush(); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(from, logChunk)
	for {
		line, err := lines.ReadSlice('\n')
		w.buf = w.text.append(w.buf, line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			w.buf = w.text.finish(w.buf)
			err = errors.Join(ignoreError(err, io.EOF), w.flush())
			return err
		}
		if lines.Buffered() > 0 && len(w.buf) < logChunk {
			// More lines are already available, so send them in the same part.
			continue
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
}

func ignoreError(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

func (w *Writer) flush() error {
	if w.Started && len(w.buf) == 0 {
		return nil
	}
	w.Started = true
	rest := w.buf
	w.buf = w.buf[:0]
	for {
		part := rest
		if len(part) > logChunk {
			part = part[:logChunk]
			for !utf8.RuneStart(rest[len(part)]) {
				part = part[:len(part)-1]
			}
		}
		rest = rest[len(part):]
		if err := w.Send(part, !w.responded); err != nil || len(rest) == 0 {
			return err
		}
	}
}
