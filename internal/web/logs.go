package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"glasshouse/internal/limit"
	"glasshouse/internal/watch"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
)

const (
	// maxLogs is the maximum number of logs that all callers together read at the same time.
	maxLogs = 100
	// A log starts with the last logTail lines by default. A client can request up to maxTail lines.
	logTail, maxTail = 500, 5000
	// logOpenWait is how long the response to a log request waits for the first line. The response then starts without
	// a line, with status 200, so later errors cannot change the HTTP status.
	logOpenWait = 2 * time.Second
	// logChunk is the maximum length of one part of a log, in bytes.
	logChunk = 64 << 10
)

// logs streams the log of a container as plain text. If the log is cut short, the response is aborted, so that the
// client does not mistake it for a complete log.
func (s *Server) logs(w http.ResponseWriter, r *http.Request) error {
	options, err := logOptionsOf(r)
	if err != nil {
		return err
	}
	release, err := s.acquireLog(guestOf(r), identityOf(r))
	if err != nil {
		return err
	}
	defer release()
	identityCtx, done := identityOf(r).Context(r.Context())
	defer done()
	ctx, cancel := context.WithCancel(identityCtx)
	defer cancel()
	cluster := s.clusterOf(r)
	defer context.AfterFunc(cluster.ctx, cancel)() //nolint:contextcheck // Ends the log when cluster.ctx ends.
	out := &logWriter{send: (&logResponse{http.NewResponseController(w), w}).send}
	body, err := openLog(ctx, s.access(r), param(r, "namespace"), param(r, "name"), options, out)
	if err != nil {
		switch {
		case out.started:
			panic(http.ErrAbortHandler) // Only an aborted response shows that the log is incomplete.
		case cluster.ctx.Err() != nil:
			return &problem{
				Title: "Not running", Status: http.StatusServiceUnavailable,
				Detail: "The program is stopping, or has switched to another cluster; retry in a moment.",
			}
		case errors.Is(context.Cause(identityCtx), auth.ErrEnded):
			if guestOf(r) != nil {
				return shareEnded()
			}
			return watch.NotLoggedIn("Your login has ended; log in again.")
		}
		return err
	}
	defer func() { _ = body.Close() }() // The log is complete or not needed, so ignore the error.
	if err := out.copy(body); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// acquireLog counts a log toward the limits until release is called. It returns a problem if all callers together, or
// this caller, have too many open logs.
func (s *Server) acquireLog(guest *share.Guest, identity auth.Identity) (release func(), err error) {
	quotas := append(quotasFor("logs", guest, identity, linkLogs, guestLogs, viewerLogs), limit.Limit{
		Key: "logs", Max: maxLogs,
	})
	if lease := s.limiter.TryAcquire(1, quotas...); lease != nil {
		return lease.Release, nil
	}
	return nil, &problem{
		Title: "Too many logs", Status: http.StatusServiceUnavailable,
		Detail: fmt.Sprintf("The maximum number of open logs is reached, which is %d logs in total, %d by one "+
			"user, %d through one link and %d through all links; close one, then retry.", maxLogs, viewerLogs,
			linkLogs, guestLogs),
	}
}

// openLog opens the log. If the API server does not respond within logOpenWait to a request that follows a log,
// openLog starts the response without a line.
func openLog(
	ctx context.Context, access *watch.Access, namespace, name string, options watch.LogOptions, out *logWriter,
) (io.ReadCloser, error) {
	type result struct {
		body io.ReadCloser
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var log result
		defer func() { done <- log }()
		defer recoverAsError(&log.err)
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
	// The API server has not responded yet. Wait for it until ctx ends. ctx ends when the client disconnects.
	log := <-done
	if err == nil || log.err != nil {
		return log.body, log.err
	}
	_ = log.body.Close()
	return nil, err
}

// logWriter removes escape sequences from a log and sends the text in parts of at most logChunk bytes.
type logWriter struct {
	// send sends a part of the log, which ends with a complete character. waiting is true if the API server has not
	// responded yet. The first part can be empty, and so can the first part after the response of the API server.
	send      func(part []byte, waiting bool) error
	responded bool // The API server has responded.
	started   bool
	text      plainText
	buf       []byte
}

// copy sends the lines of a log as they arrive. It first sends an empty part, to show that the log is open.
func (l *logWriter) copy(from io.Reader) error {
	l.responded, l.started = true, false
	if err := l.flush(); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(from, logChunk)
	for {
		line, err := lines.ReadSlice('\n')
		l.buf = l.text.append(l.buf, line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			l.buf = l.text.finish(l.buf)
			err = errors.Join(ignoreError(err, io.EOF), l.flush())
			return err
		}
		if lines.Buffered() > 0 && len(l.buf) < logChunk {
			// More lines are already available, so send them in the same part.
			continue
		}
		if err := l.flush(); err != nil {
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

// flush sends the buffered text in parts of at most logChunk bytes.
func (l *logWriter) flush() error {
	if l.started && len(l.buf) == 0 {
		return nil
	}
	l.started = true
	rest := l.buf
	l.buf = l.buf[:0]
	for {
		part := rest
		if len(part) > logChunk {
			part = part[:logChunk]
			for !utf8.RuneStart(rest[len(part)]) {
				part = part[:len(part)-1]
			}
		}
		rest = rest[len(part):]
		if err := l.send(part, !l.responded); err != nil || len(rest) == 0 {
			return err
		}
	}
}

// logResponse sends a log as an HTTP response. A client must accept each part of the log within writeTimeout.
type logResponse struct {
	*http.ResponseController

	out http.ResponseWriter
}

func (l *logResponse) send(part []byte, _ bool) error {
	l.out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := l.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := l.out.Write(part)
	return errors.Join(err, l.Flush())
}

// logOptionsOf returns the log options in the query parameters of a request.
func logOptionsOf(r *http.Request) (o watch.LogOptions, err error) {
	values, err := valuesOf(r, "container", "follow", "previous", "since", "tail", "timestamps")
	if err != nil {
		return o, err
	}
	o.Container, o.Tail = values.Get("container"), logTail
	for name, flag := range map[string]*bool{
		"follow": &o.Follow, "previous": &o.Previous, "timestamps": &o.Timestamps,
	} {
		switch text := values.Get(name); text {
		case "true", "1":
			*flag = true
		case "", "false", "0":
		default:
			return o, badRequest("Invalid boolean", "The value of %s is %.40q, but must be true or false.", name, text)
		}
	}
	if text := values.Get("tail"); text != "" {
		if o.Tail, err = strconv.Atoi(text); err != nil {
			o.Tail = -1
		}
		if err := checkTail(o.Tail, text); err != nil {
			return o, err
		}
	}
	return o, setSince(&o, values.Get("since"))
}

// checkTail returns a problem if tail is not a valid number of last lines. text is the value of tail in the request.
func checkTail(tail int, text string) error {
	if tail < 0 || tail > maxTail {
		return badRequest("Invalid number of lines",
			"The value of tail is %.40q, but must be an integer up to %d.", text, maxTail)
	}
	return nil
}

// setSince sets Since from a time, or Age from a duration. The log then starts there. An empty text changes nothing.
func setSince(o *watch.LogOptions, text string) (err error) {
	if text == "" {
		return nil
	}
	if o.Since, err = time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	if o.Age, err = time.ParseDuration(text); err != nil || o.Age <= 0 {
		return badRequest("Invalid time",
			"The value of since is %.40q, but must be an age, such as 10m, or a time, such as 2026-11-21T10:00:00Z.", text)
	}
	return nil
}
