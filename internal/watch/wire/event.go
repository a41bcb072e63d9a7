package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"glasshouse/internal/watch/rawjson"
)

// event is one line of a watch.
type event struct {
	kind            watch.EventType
	object          *Object        // ADDED, MODIFIED, DELETED
	managed         *Managed       // Of the object, unless the event is part of a list.
	initial         bool           // The event is part of a list.
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
	e := event{kind: watch.EventType(kind), initial: initial}
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
			var managed []byte
			e.object, managed, err = d.object(cells, raw)
			if err == nil && !initial {
				e.managed = d.manage(managed)
			}
			return err
		})
		if err == nil && e.object == nil {
			err = fmt.Errorf("decode a watch event: %s without an object", kind)
		}
		if err == nil && e.kind == watch.Deleted {
			d.redactor.Deleted(e.object.UID(), e.object.Namespace(), e.object.Name())
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

// forReflector is the event as client-go carries it.
func (e *event) forReflector() watch.Event {
	switch e.kind {
	case watch.Error:
		return watch.Event{Type: e.kind, Object: e.status}
	case watch.Bookmark:
		b := &bookmark{ObjectMeta: metav1.ObjectMeta{ResourceVersion: e.resourceVersion}}
		if e.listEnds {
			b.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		}
		return watch.Event{Type: e.kind, Object: b}
	default:
		if !e.initial {
			return watch.Event{Type: e.kind, Object: &Version{Object: e.object, Managed: e.managed}}
		}
		return watch.Event{Type: e.kind, Object: e.object}
	}
}
