package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"glasshouse/internal/watch/rawjson"
	"glasshouse/internal/watch/redact"
)

// A decoder turns what the API server sends of one resource into Objects. It
// is used by one stream at a time.
type decoder struct {
	resource string // As schema.GroupResource prints it: "jobs.batch".
	dates    map[string]string
	redactor *redact.Redactor

	columns  atomic.Pointer[[]Column] // Of the newest list; never nil inside.
	plain    *codec                   // For objects that no dictionary fits.
	codec    *codec                   // What new bodies are compressed with.
	listing  bool
	training []*Object // Not yet compressed; nil when none are collected.
	scratch  []byte
	packed   []byte
}

func newDecoder(gr schema.GroupResource, dates map[string]string) (*decoder, error) {
	plain, err := newCodec(nil)
	if err != nil {
		return nil, err
	}
	return &decoder{
		resource: gr.String(), dates: dates, redactor: redact.New(gr.Group, gr.Resource), plain: plain, codec: plain,
	}, nil
}

// beginList says that a whole list follows: its first objects make a new
// dictionary.
func (d *decoder) beginList() {
	d.redactor.BeginList()
	d.training = make([]*Object, 0, trainingObjects)
	d.listing = true
}

// collecting reports that the Objects so far wait for their dictionary, and must
// not be shown to anybody.
func (d *decoder) collecting() bool { return d.training != nil }

// endList compresses what was kept for training.
func (d *decoder) endList() error {
	d.redactor.EndList()
	err := d.train()
	d.training = nil
	d.listing = false
	return err
}

// event is one line of a watch.
type event struct {
	kind            watch.EventType
	object          *Object        // ADDED, MODIFIED, DELETED
	resourceVersion string         // BOOKMARK
	listEnds        bool           // BOOKMARK: the initial events have all been sent.
	status          *metav1.Status // ERROR
}

// event decodes one line. initial says that it is part of a list.
func (d *decoder) event(line []byte, initial bool) (event, error) {
	var kind string
	var object []byte
	c := rawjson.NewCursor(line)
	err := c.Object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			kind, err = c.Text()
		case "object":
			object, err = c.Value()
		}
		return err
	})
	if err == nil {
		err = c.End()
	}
	if err != nil {
		return event{}, fmt.Errorf("decode a watch event: %w", err)
	}
	e := event{kind: watch.EventType(kind)}
	switch e.kind {
	case watch.Error:
		e.status = new(metav1.Status)
		if err := json.Unmarshal(object, e.status); err != nil {
			return event{}, errors.New("decode a watch event: an ERROR without a Status")
		}
		return e, nil
	case watch.Bookmark:
		return e, d.table(object, func(_, raw []byte) error { return e.readBookmark(raw) })
	case watch.Added, watch.Modified, watch.Deleted:
		err := d.table(object, func(cells, raw []byte) (err error) {
			e.object, err = d.object(cells, raw, initial)
			return err
		})
		if err == nil && e.object == nil {
			err = fmt.Errorf("decode a watch event: %s without an object", kind)
		}
		if err == nil && e.kind == watch.Deleted {
			d.redactor.Forget(e.object.UID())
		}
		return e, err
	}
	return event{}, fmt.Errorf("decode a watch event: type %.20q is not known", kind)
}

func (e *event) readBookmark(raw []byte) error {
	c := rawjson.NewCursor(raw)
	return c.Object(func(key []byte) error {
		if string(key) != "metadata" {
			return nil
		}
		return c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "resourceVersion":
				e.resourceVersion, err = c.Text()
			case "annotations":
				err = c.Object(func(key []byte) (err error) {
					if string(key) == metav1.InitialEventsAnnotationKey {
						var value string
						value, err = c.Text()
						e.listEnds = value == "true"
					}
					return err
				})
			}
			return err
		})
	})
}

// table hands each row's cells and object to row. A plain object is a row
// without cells.
func (d *decoder) table(raw []byte, row func(cells, object []byte) error) error {
	isTable := false
	c := rawjson.NewCursor(raw)
	err := c.Object(func(key []byte) error {
		switch string(key) {
		case "kind":
			kind, err := c.Text()
			isTable = isTable || kind == "Table"
			return err
		case "apiVersion":
			version, err := c.Text()
			isTable = isTable && bytes.HasPrefix([]byte(version), []byte("meta.k8s.io/"))
			return err
		case "columnDefinitions":
			definitions, err := c.Value()
			if err != nil || !isTable {
				return err
			}
			return d.setColumns(definitions)
		case "rows":
			if !isTable || c.Peek() != '[' {
				return nil
			}
			return c.Array(func(int) error { return d.row(c, row) })
		}
		return nil
	})
	if err != nil || isTable {
		return err
	}
	if err := d.useColumns(plainColumns()); err != nil {
		return err
	}
	return row(nil, raw)
}

func (d *decoder) row(c *rawjson.Cursor, row func(cells, object []byte) error) error {
	var cells, object []byte
	err := c.Object(func(key []byte) (err error) {
		switch string(key) {
		case "cells":
			cells, err = c.Value()
		case "object":
			object, err = c.Value()
		}
		return err
	})
	if err != nil {
		return err
	}
	return row(cells, object)
}

// setColumns reads the definitions, which come with the first event of a
// stream; later events have none.
func (d *decoder) setColumns(definitions []byte) error {
	var columns []Column
	if err := json.Unmarshal(definitions, &columns); err != nil {
		return fmt.Errorf("decode the column definitions: %w", err)
	}
	if len(columns) == 0 {
		return nil
	}
	for i := range columns {
		columns[i].Description, _, _ = strings.Cut(columns[i].Description, ". ") // The first sentence of the API's documentation.
	}
	return d.useColumns(markRelative(columns, d.resource, d.dates))
}

// useColumns keeps the columns. Objects that are held have cells of the old
// ones: other columns in the midst of a watch make it end, and list anew.
func (d *decoder) useColumns(columns []Column) error {
	before := d.currentColumns()
	if slices.EqualFunc(before, columns, func(a, b Column) bool { return a.Name == b.Name && a.Type == b.Type }) {
		return nil
	}
	if before != nil && !d.listing {
		return errors.New("the columns of the resource have changed")
	}
	d.columns.Store(&columns)
	return nil
}

func (d *decoder) currentColumns() []Column {
	if columns := d.columns.Load(); columns != nil {
		return *columns
	}
	return nil
}

// members are what is read of an object's metadata.
type members struct {
	namespace, name, uid, resourceVersion, created string
	labels                                         []byte
}

func readMembers(object []byte) (m members, err error) {
	c := rawjson.NewCursor(object)
	err = c.Object(func(key []byte) error {
		if string(key) != "metadata" {
			return nil
		}
		err := c.Object(func(key []byte) (err error) {
			switch string(key) {
			case "namespace":
				m.namespace, err = c.Text()
			case "name":
				m.name, err = c.Text()
			case "uid":
				m.uid, err = c.Text()
			case "resourceVersion":
				m.resourceVersion, err = c.Text()
			case "creationTimestamp":
				m.created, err = c.Text()
			case "labels":
				m.labels, err = c.Value()
			}
			return err
		})
		if err != nil {
			return err
		}
		return rawjson.ErrStop
	})
	if errors.Is(err, rawjson.ErrStop) {
		err = nil
	}
	if err == nil && m.name == "" {
		err = errors.New("it has no name")
	}
	return m, err
}

func (d *decoder) object(cells, raw []byte, initial bool) (*Object, error) {
	if !utf8.Valid(raw) || !utf8.Valid(cells) {
		raw, cells = bytes.ToValidUTF8(raw, []byte(string(utf8.RuneError))), bytes.ToValidUTF8(cells, []byte(string(utf8.RuneError)))
	}
	clean, managed, err := d.redactor.Object(d.scratch[:0], raw)
	if err != nil {
		return nil, fmt.Errorf("decode an object: %w", err)
	}
	d.scratch = clean
	m, err := readMembers(clean)
	if err != nil {
		return nil, fmt.Errorf("decode an object: %w", err)
	}
	o := &Object{labels: unique.Make(string(m.labels))}
	if at, err := time.Parse(time.RFC3339, m.created); err == nil {
		o.created = at.Unix()
	}
	if !initial {
		o.author = newestAuthor(managed)
	}
	body := clean
	if d.training == nil {
		d.packed = d.codec.encode(d.packed[:0], clean)
		body, o.codec = d.packed, d.codec
	}
	o.pack(m.namespace, m.name, m.uid, m.resourceVersion, d.cells(cells, clean, &m, o.Created()), body)
	if d.training != nil {
		if d.training = append(d.training, o); len(d.training) == trainingObjects {
			if err := d.train(); err != nil {
				return nil, err
			}
			d.training = nil
		}
	}
	return o, nil
}

// cells resolves the relative cells of a row, and undoes what encoding/json
// escapes for HTML's sake, which makes 16 bytes of "<none>". A row without cells
// gets those of plainColumns.
func (d *decoder) cells(raw, object []byte, m *members, created time.Time) []byte {
	now, columns := time.Now(), d.currentColumns()
	if raw == nil {
		out := rawjson.AppendString([]byte{'['}, m.name)
		out = rawjson.AppendString(append(out, ','), m.created)
		return append(out, ']')
	}
	out := make([]byte, 0, len(raw)+32)
	out = append(out, '[')
	c := rawjson.NewCursor(raw)
	_ = c.Array(func(i int) error { // Walked before: it is well formed.
		if i > 0 {
			out = append(out, ',')
		}
		relative := i < len(columns) && columns[i].Relative && c.Peek() == '"'
		cell, err := c.Value()
		if err != nil || !relative && bytes.IndexByte(cell, '\\') < 0 {
			out = append(out, cell...)
			return err
		}
		if cell[0] != '"' {
			out = append(out, cell...) // An array or object stays as it is.
			return nil
		}
		text, err := rawjson.Unquote(cell)
		if relative {
			text = columns[i].resolve(text, object, created, now)
		}
		out = rawjson.AppendString(out, text)
		return err
	})
	return append(out, ']')
}

// train makes a dictionary of the objects collected so far and compresses them.
func (d *decoder) train() error {
	objects := d.training
	if len(objects) == 0 {
		return nil // Trained already, or nothing came.
	}
	d.codec = d.plain
	if len(objects) >= 4*sampleObjects {
		samples := make([][]byte, sampleObjects)
		for i := range samples {
			o := objects[i*len(objects)/sampleObjects]
			samples[i] = o.data[o.ends[4]:]
		}
		var err error
		if d.codec, err = newCodec(samples); err != nil {
			return err
		}
	}
	for _, o := range objects {
		d.packed = d.codec.encode(d.packed[:0], o.data[o.ends[4]:])
		o.repack(d.codec, d.packed)
	}
	return nil
}

// newestAuthor is the entry of managedFields with the newest time; of several,
// the last. Malformed managedFields name nobody.
func newestAuthor(managed []byte) *Author {
	if managed == nil {
		return nil
	}
	var entries []Author
	if err := json.Unmarshal(managed, &entries); err != nil {
		return nil
	}
	var newest *Author
	for i := range entries {
		if newest == nil || !entries[i].Time.Before(newest.Time) {
			newest = &entries[i]
		}
	}
	return newest
}
