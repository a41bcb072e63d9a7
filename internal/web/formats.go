package web

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"glasshouse/internal/watch"
)

func writeItem(out *bufio.Writer, o *watch.Item, t *table) error {
	text, err := t.itemText(o)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// writeNDJSON writes the rows or objects as JSON, one per line.
func writeNDJSON(out *bufio.Writer, t *table) error {
	for _, o := range t.Objects {
		if err := writeItem(out, o, t); err != nil {
			return err
		}
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

// writeYAML writes one YAML document for each row or object.
func writeYAML(out *bufio.Writer, t *table) error {
	for _, o := range t.Objects {
		text, err := t.itemText(o)
		if err != nil {
			return err
		}
		document, err := t.toYAML(text)
		if err != nil {
			return fmt.Errorf("write %s as YAML: %w", o.Name(), err)
		}
		// Ignore the error: a bufio.Writer returns its first error from every later write.
		_, _ = out.WriteString("---\n")
		if _, err := out.Write(document); err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes a header line, and one line for each row. Timestamps stay timestamps; they are not converted to
// ages.
func writeCSV(out *bufio.Writer, t *table) error {
	lines := csv.NewWriter(out)
	var header []string
	if t.hasNamespace {
		header = append(header, "Namespace")
	}
	for _, n := range t.columns {
		// Escape the name, because a CRD can choose any column names.
		header = append(header, escapeFormula(t.Columns[n].Name))
	}
	if err := lines.Write(header); err != nil {
		return err
	}
	for _, o := range t.Objects {
		var line []string
		if t.hasNamespace {
			line = append(line, o.Namespace())
		}
		cells, err := cellTexts(o)
		if err != nil {
			return err
		}
		for _, n := range t.columns {
			if n < len(cells) {
				line = append(line, escapeFormula(cells[n]))
			} else {
				line = append(line, "")
			}
		}
		if err := lines.Write(line); err != nil {
			return err
		}
	}
	lines.Flush()
	return lines.Error()
}

// escapeFormula adds a ' before a cell that a spreadsheet would evaluate as a formula (OWASP, CSV injection). It also
// recognizes the full-width forms of the characters that start a formula.
func escapeFormula(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + cell
	}
	return cell
}

// cellTexts returns the cells of a row as strings.
func cellTexts(o *watch.Item) ([]string, error) {
	cells, err := decodeCells(o)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = cellText(cell)
	}
	return out, nil
}

// decodeCells decodes the cells of a row from JSON.
func decodeCells(o *watch.Item) (cells []any, err error) {
	decoder := json.NewDecoder(strings.NewReader(string(o.Cells())))
	decoder.UseNumber()
	if err := decoder.Decode(&cells); err != nil {
		return nil, fmt.Errorf("decode the cells of %s: %w", o.Name(), err)
	}
	return cells, nil
}

// cellText returns a cell as a string. JSON null becomes an empty string.
func cellText(cell any) string {
	switch cell := cell.(type) {
	case nil:
		return ""
	case string:
		return cell
	case json.Number, bool:
		return fmt.Sprint(cell)
	}
	text, err := json.Marshal(cell)
	if err != nil {
		return "" // Cannot happen: the value was decoded from JSON.
	}
	return string(text)
}
