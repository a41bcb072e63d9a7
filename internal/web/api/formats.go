package api

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

func writeItem(out *bufio.Writer, o *watch.Item, t *table) error {
	text, err := t.itemText(o)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

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
		_, _ = out.WriteString("---\n")
		if _, err := out.Write(document); err != nil {
			return err
		}
	}
	return nil
}

// writeCSV writes a header line and one line for each row. Timestamps are not converted to ages.
func writeCSV(out *bufio.Writer, t *table) error {
	lines := csv.NewWriter(out)
	var header []string
	if t.hasNamespace {
		header = append(header, "Namespace")
	}
	for _, n := range t.columns {
		// Escape the column name, because the author of a CRD can choose any name.
		header = append(header, escapeFormula(t.Columns[n].Name))
	}
	hasVerdicts := slices.ContainsFunc(t.Objects, func(o *watch.Item) bool {
		return o.Verdict().Severity() != verdict.None
	})
	if hasVerdicts {
		header = append(header, "Severity", "Why")
	}
	if err := lines.Write(header); err != nil {
		return err
	}
	for _, o := range t.Objects {
		var line []string
		if t.hasNamespace {
			line = append(line, o.Namespace())
		}
		cells, err := response.CellTexts(o, t.Snapshot)
		if err != nil {
			return err
		}
		for _, n := range t.columns {
			line = append(line, escapeFormula(cells[n]))
		}
		if v := o.Verdict().Unpack(); hasVerdicts {
			line = append(line, v.Severity.String(), escapeFormula(v.Sentence))
		}
		if err := lines.Write(line); err != nil {
			return err
		}
	}
	lines.Flush()
	return lines.Error()
}

// escapeFormula adds a ' before a cell that a spreadsheet would evaluate as a formula (OWASP, CSV injection).
func escapeFormula(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + cell
	}
	return cell
}
