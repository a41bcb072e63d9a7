package listwatch

import (
	"bytes"
	"errors"

	"github.com/glasshouse-project/glasshouse/internal/watch/jsonscan"
	"github.com/glasshouse-project/glasshouse/internal/watch/printer"
)

// rowFunc handles one row, and must move the cursor to the end of the row's object. If the server sends no Tables,
// cells is nil.
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
	if err := d.useColumns(printer.Plain()); err != nil {
		return err
	}
	return row(nil, &plain)
}

func (d *decoder) row(c *jsonscan.Cursor, row rowFunc) error {
	var cells []byte
	var early *jsonscan.Cursor // The object, if it precedes the cells. It is read last, because row needs the cells.
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
	columns, err := printer.Parse(definitions, d.resource.String(), d.printerColumns)
	if err != nil || len(columns) == 0 {
		return err
	}
	return d.useColumns(columns)
}

// useColumns stores the columns. If they change during a watch, it returns an error, because the objects in the cache
// have cells for the previous columns.
func (d *decoder) useColumns(columns []printer.Column) error {
	if d.hasLastChange {
		columns = printer.WithLastChange(columns)
	}
	before := d.currentColumns()
	if printer.Same(before, columns) {
		return nil
	}
	if before != nil && !d.listing {
		return errors.New("the columns of the resource have changed")
	}
	d.columns.Store(&columns)
	return nil
}

func (d *decoder) currentColumns() []printer.Column {
	if columns := d.columns.Load(); columns != nil {
		return *columns
	}
	return nil
}
