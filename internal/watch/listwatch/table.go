package listwatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
)

// rowFunc handles one row, and must move the cursor past its object. cells is nil without Tables.
type rowFunc func(cells []byte, object *jsonscan.Cursor) error

// table calls row for each row of the Table at the cursor. For a plain object, it passes nil cells.
func (d *decoder) table(c *jsonscan.Cursor, row rowFunc) error {
	isTable, plain := false, *c
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
	return row(nil, &plain)
}

func (d *decoder) row(c *jsonscan.Cursor, row rowFunc) error {
	var cells []byte
	var early *jsonscan.Cursor // Position of the object, if it precedes the row's cells.
	read := false
	err := c.Object(func(key []byte) (err error) {
		switch string(key) {
		case "cells":
			cells, err = c.Value()
		case "object":
			if cells != nil {
				read = true
				return row(cells, c)
			}
			at := *c
			early = &at
		}
		return err
	})
	switch {
	case err != nil || read:
		return err
	case early == nil:
		return errors.New("decode an object: the row has no object")
	}
	return row(cells, early)
}

// setColumns parses and stores the column definitions of a Table. In a watch, only the first event has column
// definitions.
func (d *decoder) setColumns(definitions []byte) error {
	var columns []Column
	if err := json.Unmarshal(definitions, &columns); err != nil {
		return fmt.Errorf("decode the column definitions: %w", err)
	}
	if len(columns) == 0 {
		return nil
	}
	for i := range columns {
		columns[i].fullDescription = columns[i].Description
		// The description is from the API documentation. Only its first sentence is kept, because it is enough for a
		// column.
		columns[i].Description, _, _ = strings.Cut(columns[i].Description, ". ")
	}
	columns = markRelative(columns, d.resource.String(), d.printerColumns.Dates)
	return d.useColumns(markPaths(columns, d.printerColumns.Paths))
}

// useColumns stores the columns. During a watch, other columns cause an error, because stored objects have the
// previous cells.
func (d *decoder) useColumns(columns []Column) error {
	before := d.currentColumns()
	if SameColumns(before, columns) {
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

// SameColumns reports whether cells for the columns a are also valid for the columns b.
func SameColumns(a, b []Column) bool {
	return slices.EqualFunc(a, b, func(a, b Column) bool {
		return a.Name == b.Name && a.Type == b.Type && a.Format == b.Format && a.Priority == b.Priority &&
			a.fullDescription == b.fullDescription && a.shownPath == b.shownPath && slices.Equal(a.paths, b.paths)
	})
}
