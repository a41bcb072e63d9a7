package wire

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

// maxLine bounds one event. etcd takes objects of 1.5 MiB; escaped, with cells
// and column definitions, they stay far below.
const maxLine = 64 << 20

// turn is how many objects of a list are handed on at once. The Reflector keeps
// them until the list ends; to wake it for each took as long as to decode some.
const turn = 64

// silence is how long nothing may come on a watch: API servers send a bookmark
// every minute or so. HTTP/2's pings notice a dead connection sooner; HTTP/1.1,
// which some proxies speak, has none.
const silence = 150 * time.Second

// settling is how long a watch that sends nothing is waited for. An API server that
// no longer has what is behind the version answers that it watches, and then says so
// at once.
const settling = 500 * time.Millisecond

// stream reads a watch and hands its events on one by one. It is the
// watch.Interface that the Reflector reads.
type stream struct {
	source *Source
	body   io.ReadCloser
	cancel context.CancelFunc
	events chan watch.Event
	done   chan struct{}
}

func startStream(ctx context.Context, cancel context.CancelFunc, body io.ReadCloser, source *Source, initial bool) *stream {
	s := &stream{source: source, body: body, cancel: cancel, events: make(chan watch.Event), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer close(s.events)
		defer func() { _ = body.Close() }() // There is nothing to lose any more.
		if err := s.read(ctx, initial); err != nil && ctx.Err() == nil {
			s.send(ctx, watch.Event{Type: watch.Error, Object: statusOf(err)})
		}
	}()
	return s
}

// ResultChan gives the events; it is closed at the end of the watch.
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

// errStalled ends a streaming list that makes no progress: some proxies and
// servers never send the bookmark at its end, and client-go would wait for
// ever (kubernetes#135895). The Reflector then lists and watches.
var errStalled = errors.New("the streaming list made no progress")

// read reads events until the stream ends.
func (s *stream) read(ctx context.Context, initial bool) (err error) {
	defer s.source.recover(&err)
	body := &gatherer{from: s.body, list: initial}
	lines := &lineReader{r: bufio.NewReaderSize(body, 64<<10)}
	if initial {
		if err := s.readList(ctx, lines); err != nil {
			if failed := s.source.options.Failed; failed != nil && ctx.Err() == nil && !errors.Is(err, errStalled) {
				failed(err)
			}
			return err
		}
		body.list = false
	}
	return s.readEvents(ctx, lines, initial)
}

// readList reads the initial events, which are a list, to their end. The first objects are held back until their dictionary is
// made: whoever has an Object may read it, and training changes it.
func (s *stream) readList(ctx context.Context, lines *lineReader) error {
	options := &s.source.options
	s.source.decoder.beginList()
	var gaveUp atomic.Bool
	stalled := time.AfterFunc(options.Stall, func() {
		gaveUp.Store(true)
		_ = s.body.Close() // There is nothing to lose.
	})
	defer stalled.Stop()
	var held []watch.Event
	growing := true
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
			s.endList(ctx, append(held, e.forReflector()), objects-1, growing)
			return nil
		}
		if e.kind == watch.Error {
			return apierrors.FromObject(e.status)
		}
		// A list is objects. After the first event of another kind there is only
		// its end to come: what changes meanwhile is no progress, and on a busy
		// cluster it would never cease.
		if growing = growing && e.kind == watch.Added; growing {
			stalled.Reset(options.Stall)
			options.Observe(objects, s.source.decoder.listed)
		}
		held = append(held, e.forReflector())
		if !s.source.decoder.collecting() && len(held) >= turn {
			s.send(ctx, held...)
			held = held[:0]
		}
	}
}

// endList hands on the rest of a list. Where nothing but its objects has come, what
// they hold is what it will.
func (s *stream) endList(ctx context.Context, rest []watch.Event, objects int, exact bool) {
	s.source.decoder.endList()
	if exact {
		s.source.options.Observe(objects, s.source.decoder.listed)
	}
	s.send(ctx, rest...)
}

// readEvents reads what comes after a list. A stream that is cut, or silent, is
// no error: the Reflector watches on from the last event.
func (s *stream) readEvents(ctx context.Context, lines *lineReader, initial bool) error {
	silent := time.AfterFunc(silence, func() { _ = s.body.Close() }) // There is nothing to lose.
	defer silent.Stop()
	going := time.AfterFunc(settling, s.source.options.Going)
	defer going.Stop()
	if initial {
		going.Stop()
	}
	for {
		line, err := lines.next()
		silent.Reset(silence)
		if err != nil {
			return nil // See above.
		}
		e, err := s.source.decoder.event(line, false)
		if err != nil {
			return err
		}
		if first := going.Stop(); first && e.kind != watch.Error {
			s.source.options.Going()
		}
		s.send(ctx, e.forReflector())
		if e.kind == watch.Error {
			return nil
		}
	}
}

// statusOf is the ERROR event of a stream that failed on our side. Any but the
// reasons that client-go retries makes the Reflector list anew.
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

// lineReader cuts a stream into lines, which are valid until the next call.
type lineReader struct {
	r    *bufio.Reader
	long []byte
	last []byte // The line that was returned.
}

// next returns a line, which is good until next is called again: then it is
// overwritten, as what is masked is in it as it came.
func (l *lineReader) next() ([]byte, error) {
	clear(l.last)
	line, err := l.read()
	l.last = line
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
	if cap(l.long) > 1<<20 {
		l.long = nil // One large object is no reason to hold its size for ever.
	}
	l.long = append(l.long[:0], line...)
	clear(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(l.long) > maxLine {
			return nil, errors.New("an event of more than 64 MiB")
		}
		line, err = l.r.ReadSlice('\n')
		l.long = append(l.long, line...)
		clear(line)
	}
	return l.long, err
}
