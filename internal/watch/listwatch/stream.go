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

// maxLine is the maximum length of one event, in bytes. Real events are shorter: etcd limits objects to 1.5 MiB.
const maxLine = 64 << 20

// reflectorBatch is the number of list objects that are sent to client-go's Reflector at once, because each send is
// slow.
const reflectorBatch = 64

// listBuffer is the size of the buffer for a list: a large buffer needs fewer reads. eventBuffer is the size of the
// buffer for the events after the list: it is small, because an open watch keeps it.
const listBuffer, eventBuffer = 64 << 10, 4 << 10

// maxSilence is the maximum time without data on a watch. A longer silence counts as a lost connection, because API
// servers send a bookmark about every minute.
const maxSilence = 150 * time.Second

// watchGracePeriod is the time after which a silent watch counts as working. An expired resourceVersion causes an
// error event earlier.
const watchGracePeriod = 500 * time.Millisecond

// stream reads the response to a watch and sends its events to a channel. It implements watch.Interface for
// client-go's Reflector.
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
		defer func() { _ = body.Close() }()
		if err := s.read(ctx, initial); err != nil && ctx.Err() == nil {
			s.send(ctx, watch.Event{Type: watch.Error, Object: statusOf(err)})
		}
	}()
	return s
}

// ResultChan returns the channel of events. The channel is closed at the end of the watch.
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

// Stop ends the watch, and waits until its goroutine has ended.
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

// errStalled is the error of a streaming list without progress. client-go itself would wait forever for the bookmark
// that ends the list (kubernetes#135895). After this error, the Reflector uses a normal list and then a watch.
var errStalled = errors.New("the streaming list made no progress")

func (s *stream) read(ctx context.Context, initial bool) (err error) {
	defer s.source.recover(&err)
	body := &batchReader{source: s.body, isList: initial}
	size := eventBuffer
	if initial {
		size = listBuffer
	}
	lines := &lineReader{r: bufio.NewReaderSize(body, size)}
	if initial {
		if err := s.readList(ctx, lines); err != nil {
			if failed := s.source.options.Failed; failed != nil && ctx.Err() == nil && !errors.Is(err, errStalled) {
				failed(err)
			}
			return err
		}
		body.isList = false
		lines.shrink(body)
	}
	return s.readEvents(ctx, lines, initial)
}

// readList reads the initial events of a streaming list, up to the bookmark that ends the list.
func (s *stream) readList(ctx context.Context, lines *lineReader) error {
	options := &s.source.options
	s.source.decoder.beginList()
	var gaveUp atomic.Bool
	stalled := time.AfterFunc(options.Stall, func() {
		gaveUp.Store(true)
		_ = s.body.Close()
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
		// Only ADDED events are progress of the list. The first other event is a change after the list. Such changes can
		// continue forever, even if the API server never sends the bookmark that ends the list.
		if onlyAdded = onlyAdded && e.kind == watch.Added; onlyAdded {
			stalled.Reset(options.Stall)
			options.Observe(objects, s.source.decoder.encoder.ListBytes())
		}
		pending = append(pending, e.forReflector())
		// While the encoder collects objects for its dictionary, do not send them to the receivers, because the encoder
		// still changes these objects.
		if !s.source.decoder.encoder.Collecting() && len(pending) >= reflectorBatch {
			s.send(ctx, pending...)
			pending = pending[:0]
		}
	}
}

// endList sends the last events of a streaming list. onlyAdded means that all events so far were ADDED.
func (s *stream) endList(ctx context.Context, rest []watch.Event, objects int, onlyAdded bool) {
	s.source.decoder.endList()
	if onlyAdded {
		s.source.options.Observe(objects, s.source.decoder.encoder.ListBytes())
	}
	s.send(ctx, rest...)
}

// readEvents reads the events after a list. initial means that the list was part of the stream. After an interruption,
// readEvents returns nil, so that the Reflector resumes the watch.
func (s *stream) readEvents(ctx context.Context, lines *lineReader, initial bool) error {
	silenceTimer := time.AfterFunc(maxSilence, func() { _ = s.body.Close() })
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
			return nil // End without an error, so that the Reflector resumes the watch.
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

// statusOf returns the Status for the ERROR event of a stream. The reason in this Status decides whether the
// Reflector lists or retries.
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

type lineReader struct {
	r        *bufio.Reader
	longLine []byte
	lastLine []byte
}

// next returns the next line. The line contains values that are not masked yet, so the following call of next
// overwrites it with zeros.
func (l *lineReader) next() ([]byte, error) {
	clear(l.lastLine)
	line, err := l.read()
	l.lastLine = line
	return line, err
}

// shrink replaces the buffer with a small one after a list, unless the buffer already contains events after this list.
func (l *lineReader) shrink(source io.Reader) {
	if l.r.Buffered() == 0 {
		clear(l.lastLine)
		*l = lineReader{r: bufio.NewReaderSize(source, eventBuffer)}
	}
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
			return nil, errors.New("a watch event is larger than 64 MiB")
		}
		line, err = l.r.ReadSlice('\n')
		l.longLine = append(l.longLine, line...)
		clear(line)
	}
	return l.longLine, err
}
