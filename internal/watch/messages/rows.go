// Package messages builds parts of the messages to clients: it encodes rows as JSON members, in parts of limited size,
// and reserves memory for each message.
//
// The functions whose names start with Append append to a message, and return the longer message like append.
package messages

import (
	"encoding/json"
	"fmt"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
)

// PartBytes is the approximate size, in bytes, of the rows in one message of a snapshot.
const PartBytes = 128 << 10

// An AppendPart appends as many rows as one message can contain, and returns their number.
type AppendPart func(message []byte, rows []*compact.Object, columns []printer.Column) (text []byte, n int, err error)

// AppendColumns appends the columns of rows, as the member "columns". It appends the extra columns as the member
// "extraColumns", if there are any.
func AppendColumns(dst []byte, columns []printer.Column) ([]byte, error) {
	printed := printer.Printed(columns)
	text, err := json.Marshal(append([]printer.Column{}, printed...)) // Encode nil as [], not as null.
	if err != nil {
		return nil, fmt.Errorf("encode the columns: %w", err)
	}
	dst = append(append(dst, `,"columns":`...), text...)
	if len(printed) == len(columns) {
		return dst, nil
	}
	if text, err = json.Marshal(columns[len(printed):]); err != nil {
		return nil, fmt.Errorf("encode the extra columns: %w", err)
	}
	return append(append(dst, `,"extraColumns":`...), text...), nil
}

// AppendRows is an AppendPart that appends rows one by one, as the member "rows". The error is always nil.
func AppendRows(
	message []byte, rows []*compact.Object, columns []printer.Column,
) (text []byte, n int, err error) {
	hasExtra := len(printer.Printed(columns)) < len(columns)
	message = append(message, `,"rows":[`...)
	for ; n < len(rows) && len(message) < PartBytes; n++ {
		if n > 0 {
			message = append(message, ',')
		}
		message = rows[n].AppendRow(message, hasExtra)
	}
	return append(message, ']'), n, nil
}
