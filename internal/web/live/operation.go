package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
	"github.com/glasshouse-project/glasshouse/internal/web/logstream"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// Changes are collected, and sent together once per interval. A client can request an interval of up to maxEvery
// milliseconds.
const maxEvery = 1000

// operation is one request of a client, such as subscribe or ping, decoded from a WebSocket message.
type operation struct {
	Op         string   `json:"op"`
	ID         int      `json:"id"`
	Resource   string   `json:"resource"`
	Namespaces []string `json:"ns"`
	Labels     string   `json:"labels"`
	Fields     string   `json:"fields"`
	Name       string   `json:"name"`
	View       string   `json:"view"`
	Cursor     string   `json:"cursor"`
	Every      int      `json:"every"` // Minimum interval between messages about changes, in milliseconds.
	Watched    bool     `json:"watched"`
	// The members q, sort, offset and count are valid only for the view "window" (a range of sorted rows), and q also
	// for the view "rates".
	Text   string `json:"q"`
	Sort   string `json:"sort"`
	Offset int    `json:"offset"`
	Count  int    `json:"count"`
	// These members are only for the view "log". They mean the same as the parameters of /api/v1/logs.
	Container  string `json:"container"`
	Tail       *int   `json:"tail"`
	Since      string `json:"since"`
	Previous   bool   `json:"previous"`
	Timestamps bool   `json:"timestamps"`
	Follow     bool   `json:"follow"`
}

func (o *operation) query(window *query.Window) query.Query {
	return query.Query{
		Resource: o.Resource, Namespaces: o.Namespaces, Labels: o.Labels, Fields: o.Fields, Name: o.Name, Text: o.Text,
		Window: window, Every: time.Duration(o.Every) * time.Millisecond, Watched: o.Watched,
	}
}

// newWindow returns the requested range of sorted rows, or nil if the view is not "window".
func (o *operation) newWindow() (*query.Window, error) {
	if o.View != viewLog && (o.Container+o.Since != "" || o.Tail != nil || o.Previous || o.Timestamps || o.Follow) {
		return nil, request.BadRequest("Invalid log subscription",
			"The members container, tail, since, previous, timestamps and follow are only for the view log; the view is %.40q.",
			o.View)
	}
	if o.View == string(stream.Windowed) {
		return query.NewWindow(o.Sort, o.Offset, o.Count)
	}
	if o.Text != "" && o.View != viewRates || o.Sort != "" || o.Offset != 0 || o.Count != 0 {
		return nil, request.BadRequest("Invalid window",
			"The members q, sort, offset and count are only for the view window; the view is %.40q.", o.View)
	}
	return nil, nil
}

func (o *operation) logOptions() (options watch.LogOptions, err error) {
	if o.Resource != "core/v1/pods" || len(o.Namespaces) != 1 || o.Name == "" || o.Labels+o.Fields+o.Cursor != "" ||
		o.Every != 0 || o.Watched {
		return options, request.BadRequest("Invalid log subscription",
			"The view log needs the resource core/v1/pods, one namespace in ns, and a name; it allows no labels, "+
				"fields, cursor, every and watched.")
	}
	options = watch.LogOptions{
		Container: o.Container, Tail: logstream.DefaultTail, Previous: o.Previous, Timestamps: o.Timestamps, Follow: o.Follow,
	}
	if o.Tail != nil {
		options.Tail = *o.Tail
	}
	if err := logstream.CheckTail(options.Tail, strconv.Itoa(options.Tail)); err != nil {
		return options, err
	}
	return options, logstream.SetSince(&options, o.Since)
}

func (o *operation) hasSelection() bool {
	return o.Every != 0 || o.Watched || o.Resource+o.Labels+o.Fields+o.Name+o.Cursor != ""
}

func (s *session) waitForRate(ctx context.Context) error {
	for _, limiter := range s.limiters {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) handleMessage(ctx context.Context, text []byte) {
	operations, err := parseMessage(text)
	if err != nil {
		s.rejectMessage(ctx, err)
		return
	}
	for _, raw := range operations {
		if s.waitForRate(ctx) != nil {
			return // waitForRate fails only when the session has ended.
		}
		o, err := parseOperation(raw)
		if err != nil {
			s.rejectMessage(ctx, err)
			continue
		}
		switch o.Op {
		case "unsubscribe":
			s.unsubscribe(ctx, o.ID)
		case "window":
			s.moveWindow(ctx, o)
		case "ping":
			_ = s.conn.write(ctx, []byte(`"type":"pong"`), &o.ID, true) // A failed write ends the session.
		default:
			s.subscribe(ctx, o)
		}
	}
}

func parseMessage(text []byte) ([]json.RawMessage, error) {
	var operations []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		if err := json.Unmarshal(text, &operations); err != nil {
			return nil, notJSON(err)
		}
		if len(operations) == 0 {
			return nil, request.BadRequest("Empty frame",
				`The array contains no message; send one such as `+
					`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"rows"}.`)
		}
		return operations, nil
	}
	return []json.RawMessage{text}, nil
}

func notJSON(err error) error {
	return request.BadRequest("Invalid JSON",
		`The message is not valid JSON: %v. Send a message such as `+
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"rows"}.`, err)
}

// parseOperation decodes an operation. It rejects unknown JSON members: if it ignored a mistyped filter, the client
// would get too much data.
func parseOperation(raw []byte) (*operation, error) {
	o := &operation{View: string(stream.Rows)}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(o)
	if err == nil && decoder.Decode(new(json.RawMessage)) != io.EOF {
		return nil, notJSON(errors.New("unexpected data after the first JSON value"))
	}
	var typeErr *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typeErr):
		return nil, request.BadRequest("Wrong type", "%s is a %s, but should be %s.", memberName(typeErr.Field),
			typeErr.Value, jsonType(typeErr.Type.String()))
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return nil, request.BadRequest("Unknown member",
			"The member %.60s is unknown; the members of a message are op, id, resource, ns, labels, fields, name, "+
				"view, cursor, every, watched, q, sort, offset, count, container, tail, since, previous, timestamps and follow.",
			strings.TrimPrefix(err.Error(), "json: unknown field "))
	case err != nil:
		return nil, notJSON(err)
	case !slices.Contains([]string{"subscribe", "unsubscribe", "window", "ping"}, o.Op):
		return nil, request.BadRequest("Unknown op",
			"The value of op is %.40q, but must be subscribe, window, unsubscribe or ping.", o.Op)
	case o.Every < 0 || o.Every > maxEvery:
		return nil, request.BadRequest("Invalid interval",
			"The value of every is %d, but must be 0 to %d milliseconds.", o.Every, maxEvery)
	case o.ID <= 0:
		return nil, request.BadRequest("ID missing", "The value of id is %d, but must be 1 or greater.", o.ID)
	}
	return o, nil
}

func memberName(field string) string {
	if field == "" {
		return "The message"
	}
	return field
}

// jsonType returns the name of a Go type for error messages about JSON, such as "an integer" for int.
func jsonType(goType string) string {
	names := map[string]string{
		"int": "an integer", "string": "a string", "bool": "true or false", "[]string": "an array of strings",
	}
	if name, ok := names[goType]; ok {
		return name
	}
	return fmt.Sprintf("an object like the one in the documentation (%s)", "GET /api/openapi.json")
}
