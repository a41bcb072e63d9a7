package listwatch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// maxLine is the maximum length of one event, in bytes. etcd accepts objects of 1.5 MiB. Even escaped, and with cells
// and column definitions, they are far shorter than this limit.
const maxLine = 64 << 20

// reflectorBatch is the number of list objects that are passed to client-go's Reflector at once. The Reflector stores
// them until the list ends. Waking it for each object took as long as decoding several objects.
const reflectorBatch = 64

// maxSilence is the maximum time without data on a watch; after it, the watch is closed. API servers send a bookmark
// about every minute. HTTP/2 pings detect a dead connection sooner, but HTTP/1.1, which some proxies use, has no pings.
const maxSilence = 150 * time.Second

// watchGracePeriod is how long to wait for the first event of a watch before the watch counts as working. If an API
// server no longer has the events after the requested version, it accepts the watch and then immediately sends an
// error.
const watchGracePeriod = 500 * time.Millisecond

// stream reads a watch and delivers its events one by one. It is the watch.Interface that the Reflector reads.
type stream struct {
	source *Source
	body   io.ReadCloser
	cancel context.CancelFunc
	events chan watch.Event
	done   chan struct{}
}

func startStream(
	ctx context.Context, cancel context.CancelFunc, body io.ReadCloser, source *Source, initial bool,
) *stream {
	s := &stream{source: source, body: body, cancel: cancel, events: make(chan watch.Event), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.events)
		defer func() { _ = body.Close() }() // An error does not matter, because the stream has ended.
		if err := s.read(ctx, initial); err != nil && ctx.Err() == nil {
			s.send(ctx, watch.Event{Type: watch.Error, Object: statusOf(err)})
		}
	}()
	return s
}

// ResultChan returns the channel of events. It is closed at the end of the watch.
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

// Stop ends the watch, and returns when its goroutine has ended.
func (s *stream) Stop() {
	s.cancel()
	<-s.done
}

func (s *stream) send(ctx context.Context, events ...watch.Event) {
	for _, e := range events {
		select {
		case s.events <- e:
		case <-ctx.Done():
			return
		}
	}
}

// errStalled is the error of a streaming list that makes no progress. Some proxies and servers never send the bookmark
// at the end of the list, and client-go would wait forever (kubernetes#135895). After this error, the Reflector uses a
// normal list, then a watch.
var errStalled = errors.New("the streaming list made no progress")

// read reads events until the stream ends.
func (s *stream) read(ctx context.Context, initial bool) (err error) {
	defer s.source.recover(&err)
	body := &batchReader{source: s.body, isList: initial}
	lines := &lineReader{r: bufio.NewReaderSize(body, 64<<10)}
	if initial {
		if err := s.readList(ctx, lines); err != nil {
			if failed := s.source.options.Failed; failed != nil && ctx.Err() == nil && !errors.Is(err, errStalled) {
				failed(err)
			}
			return err
		}
		body.isList = false
	}
	return s.readEvents(ctx, lines, initial)
}

// readList reads the initial events of a streaming list, to the end of the list. It delays the first objects until
// their compression dictionary exists, because building it changes them, and a receiver may read an Object at any time.
func (s *stream) readList(ctx context.Context, lines *lineReader) error {
	options := &s.source.options
	s.source.decoder.beginList()
	var gaveUp atomic.Bool
	stalled := time.AfterFunc(options.Stall, func() {
		gaveUp.Store(true)
		_ = s.body.Close() // The list has failed already.
	})
	defer stalled.Stop()
	var pending []watch.Event
	onlyAdded := true
	for objects := 1; ; objects++ {
		line, err := lines.next()
		switch {
		case gaveUp.Load():
			options.Stalled()
			return errStalled
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		e, err := s.source.decoder.event(line, true)
		if err != nil {
			return err
		}
		if e.listEnds {
			stalled.Stop()
			s.endList(ctx, append(pending, e.forReflector()), objects-1, onlyAdded)
			return nil
		}
		if e.kind == watch.Error {
			return apierrors.FromObject(e.status)
		}
		// A list consists of ADDED events. After the first event of another kind, only the bookmark at the end of the
		// list is missing. Later changes do not count as progress: on a busy cluster they would never end.
		if onlyAdded = onlyAdded && e.kind == watch.Added; onlyAdded {
			stalled.Reset(options.Stall)
			options.Observe(objects, s.source.decoder.listBytes)
		}
		pending = append(pending, e.forReflector())
		if !s.source.decoder.collecting() && len(pending) >= reflectorBatch {
			s.send(ctx, pending...)
			pending = pending[:0]
		}
	}
}

// endList sends the rest of a list. onlyAdded means that only objects of the list were received; then their final
// number and size are reported.
func (s *stream) endList(ctx context.Context, rest []watch.Event, objects int, onlyAdded bool) {
	s.source.decoder.endList()
	if onlyAdded {
		s.source.options.Observe(objects, s.source.decoder.listBytes)
	}
	s.send(ctx, rest...)
}

// readEvents reads the events after a list. It returns no error for an interrupted or silent stream: the Reflector
// resumes the watch from the last event.
func (s *stream) readEvents(ctx context.Context, lines *lineReader, initial bool) error {
	silenceTimer := time.AfterFunc(maxSilence, func() { _ = s.body.Close() }) // The watch has failed already.
	defer silenceTimer.Stop()
	startup := time.AfterFunc(watchGracePeriod, s.source.options.Established)
	defer startup.Stop()
	if initial {
		startup.Stop()
	}
	for {
		line, err := lines.next()
		silenceTimer.Reset(maxSilence)
		if err != nil {
			return nil // Not an error; see above.
		}
		e, err := s.source.decoder.event(line, false)
		if err != nil {
			return err
		}
		if first := startup.Stop(); first && e.kind != watch.Error {
			s.source.options.Established()
		}
		s.send(ctx, e.forReflector())
		if e.kind == watch.Error {
			return nil
		}
	}
}

// statusOf returns the ERROR event for a stream that this program has ended because of an error. The Reflector then
// starts a new list, except for the reasons after which client-go retries.
func statusOf(err error) *metav1.Status {
	if sent, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return &sent.ErrStatus
	}
	status := &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonUnknown, Message: err.Error()}
	if errors.Is(err, errStalled) {
		status.Reason = metav1.StatusReasonTimeout
	}
	return status
}

// lineReader splits a stream into lines. A line is valid until the next call of next.
type lineReader struct {
	r        *bufio.Reader
	longLine []byte
	lastLine []byte // The line that the last call of next returned.
}

// next returns a line, which is valid until the next call. The next call overwrites the line with zeros, because it
// contains values that are not masked yet.
func (l *lineReader) next() ([]byte, error) {
	clear(l.lastLine)
	line, err := l.read()
	l.lastLine = line
	return line, err
}

func (l *lineReader) read() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return nil, io.ErrUnexpectedEOF
		}
		return line, err
	}
	if cap(l.longLine) > 1<<20 {
		l.longLine = nil // Do not keep the memory for one large object forever.
	}
	l.longLine = append(l.longLine[:0], line...)
	clear(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(l.longLine) > maxLine {
			return nil, errors.New("an event of more than 64 MiB")
		}
		line, err = l.r.ReadSlice('\n')
		l.longLine = append(l.longLine, line...)
		clear(line)
	}
	return l.longLine, err
}
