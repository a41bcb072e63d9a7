package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

const (
	// snapshotWait is how long a request waits for the first complete list. A request can specify up to maxWait.
	snapshotWait = 5 * time.Second
	maxWait      = time.Minute
)

// Snapshot responds with a list of one resource, as rows or as complete objects.
func (d *Data) Snapshot(w http.ResponseWriter, r *http.Request) error {
	query, values, err := request.QueryOf(r, "fields", "limit", "view", "format", "wait", "cols", "sort")
	if err != nil {
		return err
	}
	limit, err := request.LimitOf(values)
	if err != nil {
		return err
	}
	view, err := request.Choose(values, "view", "rows", "objects")
	if err != nil {
		return err
	}
	format, err := request.Choose(values, "format", formatOf(r), "json", "ndjson", "csv", "yaml")
	if err != nil {
		return err
	}
	if format == "csv" && view == "objects" {
		return request.BadRequest("No such table", "The format csv is for rows; for objects, use json, ndjson or yaml.")
	}
	wait := snapshotWait
	if text := values.Get("wait"); text != "" {
		if wait, err = time.ParseDuration(text); err != nil || wait < 0 || wait > maxWait {
			return request.BadRequest("Invalid time",
				"The value of wait is %.40q, but must be 0s to %s, such as 10s.", text, maxWait)
		}
	}
	query.Sort, query.Limit = values.Get("sort"), limit
	if view == "objects" {
		response.Of(r).SetEstimate(response.ExportMemory)
	}
	snapshot, err := d.Reader.Access(r).Snapshot(r.Context(), query, wait)
	if err != nil {
		return err
	}
	t, err := newTable(snapshot, view, values["cols"])
	if err != nil {
		return err
	}
	if format != "json" && !snapshot.Synced {
		current := http.StatusServiceUnavailable
		switch snapshot.Status.State {
		case status.Forbidden:
			current = http.StatusForbidden
		case status.Absent:
			current = http.StatusNotFound
		default:
		}
		return &request.Problem{
			Title: "List not available", Status: current,
			Detail: fmt.Sprintf("%s is %s. %s In this format, an incomplete list would appear complete; retry, or "+
				"request JSON, which includes the state.", query.Resource, snapshot.Status.State, snapshot.Status.Reason),
		}
	}
	t.expectText = response.Of(r).ExpectText
	t.toYAML = func(text []byte) ([]byte, error) { return d.Reader.ToYAML(r, text) }
	if err := response.Of(r).Stream(r.Context()); err != nil {
		return err
	}
	return writeTable(w, t, format)
}

func writeTable(w http.ResponseWriter, t *table, format string) error {
	out := bufio.NewWriterSize(w, 32<<10)
	write := map[string]func(*bufio.Writer, *table) error{
		"json": writeJSON, "ndjson": writeNDJSON, "csv": writeCSV, "yaml": writeYAML,
	}[format]
	w.Header().Set("Content-Type", contentType(format))
	w.Header().Set("Glasshouse-State", string(t.Status.State))
	if since := t.Status.Since; !since.IsZero() {
		w.Header().Set("Glasshouse-Since", since.UTC().Format(time.RFC3339))
	}
	if err := write(out, t); err != nil {
		return err
	}
	return out.Flush()
}

func contentType(format string) string {
	switch format {
	case "ndjson":
		return "application/x-ndjson"
	case "csv":
		return "text/csv; charset=utf-8"
	case "yaml":
		return "application/yaml"
	}
	return "application/json"
}

// formatOf returns the first format in the Accept header that this server supports, or "json".
func formatOf(r *http.Request) string {
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		kind, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		switch kind {
		case "application/json":
			return "json"
		case "application/x-ndjson":
			return "ndjson"
		case "text/csv":
			return "csv"
		case "application/yaml", "text/yaml", "application/x-yaml":
			return "yaml"
		}
	}
	return "json"
}

func writeJSON(out *bufio.Writer, t *table) error {
	head := struct {
		Resource   string         `json:"resource"`
		Kind       string         `json:"kind"`
		Namespaced bool           `json:"namespaced"`
		Cursor     string         `json:"cursor"`
		State      status.State   `json:"state"`
		Since      time.Time      `json:"since,omitzero"`
		Reason     string         `json:"reason,omitempty"`
		Namespaces []string       `json:"namespaces,omitempty"`
		Total      *int           `json:"total"` // Null until the first list is complete.
		Columns    []watch.Column `json:"columns"`
	}{
		t.Resource.Ref(), t.Resource.Kind, t.Resource.Namespaced, t.Cursor,
		t.Status.State, t.Status.Since, t.Status.Reason, t.Status.Namespaces, nil, t.selectedColumns(),
	}
	if t.Synced {
		head.Total = &t.Total
	}
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encode a snapshot: %w", err)
	}
	// Ignore errors, because a bufio.Writer stores the first error, and Flush returns it.
	_, _ = out.Write(text[:len(text)-1])
	_, _ = fmt.Fprintf(out, ",%q:[", t.view)
	for i, o := range t.Objects {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		if err := writeItem(out, o, t); err != nil {
			return err
		}
	}
	_, err = out.WriteString("]}\n")
	return err
}
