package listwatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
)

// List is the result of a list request.
type List struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []*compact.Object
}

// DeepCopyObject returns the List itself, because the Objects in it are immutable.
func (l *List) DeepCopyObject() runtime.Object { return l }

// list reads a Table or a plain list row by row. After each row, it calls observe with the number of rows so far.
func (d *decoder) list(body io.Reader, observe func(int)) (*List, error) {
	list := &List{}
	add := func(cells []byte, object *jsonscan.Cursor) error {
		o, _, err := d.object(cells, object)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, o)
		observe(len(list.Items))
		return nil
	}
	dec := json.NewDecoder(body)
	isList := false
	err := eachMember(dec, func(key string) error {
		switch key {
		case "metadata":
			return dec.Decode(&list.ListMeta)
		case "columnDefinitions":
			var definitions json.RawMessage
			if err := dec.Decode(&definitions); err != nil {
				return err
			}
			return d.setColumns(definitions)
		case "rows":
			isList = true
			return eachElement(dec, func(raw json.RawMessage) error {
				return d.row(jsonscan.NewCursor(toValidUTF8(raw)), add)
			})
		case "items": // An empty plain list gets its columns here, too.
			isList = true
			if err := d.useColumns(printer.Plain()); err != nil {
				return err
			}
			return eachElement(dec, func(raw json.RawMessage) error {
				return add(nil, jsonscan.NewCursor(toValidUTF8(raw)))
			})
		}
		var skipped json.RawMessage
		return dec.Decode(&skipped)
	})
	if err == nil && !isList {
		err = errNotAList
	}
	return list, err
}

// errNotAList is the error for a response without rows and items. Such a response must not count as an empty list.
var errNotAList = errors.New("the response is not a list: it has neither rows nor items")

// eachMember calls readValue for each member of the next JSON object. readValue must read the member's value from
// dec.
func eachMember(dec *json.Decoder, readValue func(key string) error) error {
	return each(dec, '{', func() error {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("unexpected JSON token %q, want a field name", fmt.Sprint(key))
		}
		return readValue(name)
	})
}

func eachElement(dec *json.Decoder, visit func(json.RawMessage) error) error {
	return each(dec, '[', func() error {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		return visit(raw)
	})
}

func each(dec *json.Decoder, opening json.Delim, item func() error) error {
	switch token, err := dec.Token(); {
	case err != nil:
		return err
	case token == nil:
		return nil
	case token != opening:
		return fmt.Errorf("unexpected JSON token %q, want %q", fmt.Sprint(token), opening.String())
	}
	for dec.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}
