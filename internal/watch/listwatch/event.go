package listwatch

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

type event struct {
	kind            watch.EventType
	object          *compact.Object
	managed         *compact.Managed // The object's managedFields; nil for objects of a list.
	initial         bool             // The event belongs to a streaming list.
	resourceVersion string
	listEnds        bool // The event is the BOOKMARK that ends a streaming list.
	status          *metav1.Status
}

// event decodes one line of a watch response. The parameter initial means that the line belongs to a streaming list.
func (d *decoder) event(line []byte, initial bool) (event, error) {
	e := event{initial: initial}
	c := jsonscan.NewCursor(toValidUTF8(line))
	var early *jsonscan.Cursor // The object, if it precedes the type. It is read last, because e.read needs the type.
	err := c.Object(func(key []byte) error {
		switch string(key) {
		case "type":
			kind, err := c.Text()
			e.kind = watch.EventType(kind)
			return err
		case "object":
			if e.kind != "" {
				return e.read(d, c)
			}
			at := *c
			early = &at
		}
		return nil
	})
	if err == nil {
		err = c.End()
	}
	if err == nil && early != nil {
		err = e.read(d, early)
	}
	if err == nil {
		err = e.validate()
	}
	if err != nil {
		return event{}, fmt.Errorf("decode a watch event: %w", err)
	}
	if e.kind == watch.Deleted {
		d.redactor.Deleted(e.object.UID(), e.object.Namespace(), e.object.Name())
	}
	return e, nil
}

// read decodes the object at the cursor into the event e. The type of the event must already be known.
func (e *event) read(d *decoder, c *jsonscan.Cursor) error {
	switch e.kind {
	case watch.Error:
		text, err := c.Value()
		if err != nil {
			return err
		}
		e.status = new(metav1.Status)
		if json.Unmarshal(text, e.status) != nil {
			e.status = nil
		}
		return nil
	case watch.Bookmark:
		return d.table(c, func(_ []byte, c *jsonscan.Cursor) error { return e.readBookmark(c) })
	case watch.Added, watch.Modified, watch.Deleted:
		return d.table(c, func(cells []byte, c *jsonscan.Cursor) error {
			object, managed, err := d.object(cells, c)
			if err == nil && !e.initial {
				e.managed = d.encoder.EncodeManaged(managed)
			}
			e.object = object
			return err
		})
	}
	return nil // An unknown or missing type is an error that the method validate returns.
}

func (e *event) validate() error {
	switch e.kind {
	case watch.Error:
		if e.status == nil {
			return errors.New("the ERROR event has no Status")
		}
	case watch.Bookmark:
	case watch.Added, watch.Modified, watch.Deleted:
		if e.object == nil {
			return fmt.Errorf("the %s event has no object", e.kind)
		}
	default:
		return fmt.Errorf("unknown event type %.20q", e.kind)
	}
	return nil
}

func (e *event) readBookmark(c *jsonscan.Cursor) error {
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
			return watch.Event{Type: e.kind, Object: &compact.Version{Object: e.object, Managed: e.managed}}
		}
		return watch.Event{Type: e.kind, Object: e.object}
	}
}

type bookmark struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (b *bookmark) DeepCopyObject() runtime.Object { return b }
