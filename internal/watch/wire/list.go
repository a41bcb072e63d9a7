package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"glasshouse/internal/watch/rawjson"
)

// list reads a Table, or a plain list, one member at a time. It calls observe with the number of rows so far. It never
// has the text of all rows in memory.
func (d *decoder) list(body io.Reader, observe func(int)) (*List, error) {
	list := &List{}
	add := func(cells []byte, object *rawjson.Cursor) error {
		o, _, err := d.object(cells, object)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, o)
		observe(len(list.Items))
		return nil
	}
	decode := json.NewDecoder(body)
	whole := false
	err := eachMember(decode, func(key string) error {
		switch key {
		case "metadata":
			return decode.Decode(&list.ListMeta)
		case "columnDefinitions":
			var definitions json.RawMessage
			if err := decode.Decode(&definitions); err != nil {
				return err
			}
			return d.setColumns(definitions)
		case "rows":
			whole = true
			return eachElement(decode, func(raw json.RawMessage) error {
				return d.row(rawjson.NewCursor(valid(raw)), add)
			})
		case "items": // This case also applies to an empty list, because nothing else provides its columns.
			whole = true
			if err := d.useColumns(plainColumns()); err != nil {
				return err
			}
			return eachElement(decode, func(raw json.RawMessage) error {
				return add(nil, rawjson.NewCursor(valid(raw)))
			})
		}
		var skipped json.RawMessage
		return decode.Decode(&skipped)
	})
	if err == nil && !whole {
		err = errNoList
	}
	return list, err
}

// errNoList means that the response is not a list, for example because a gateway in front of the API server sent it.
// Such a response must not count as an empty list.
var errNoList = errors.New("the response is not a list: it has neither rows nor items")

// eachMember reads the next JSON object from decode, and calls visit for each member. visit must read the member's
// value.
func eachMember(decode *json.Decoder, visit func(key string) error) error {
	return each(decode, '{', func() error {
		key, err := decode.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("unexpected %v, want the name of a member", key)
		}
		return visit(name)
	})
}

// eachElement reads the next JSON array from decode, and calls visit for each element. It accepts null as an empty
// array.
func eachElement(decode *json.Decoder, visit func(json.RawMessage) error) error {
	return each(decode, '[', func() error {
		var raw json.RawMessage
		if err := decode.Decode(&raw); err != nil {
			return err
		}
		return visit(raw)
	})
}

func each(decode *json.Decoder, open json.Delim, item func() error) error {
	switch token, err := decode.Token(); {
	case err != nil:
		return err
	case token == nil:
		return nil
	case token != open:
		return fmt.Errorf("unexpected %v, want %v", token, open)
	}
	for decode.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := decode.Token()
	return err
}
