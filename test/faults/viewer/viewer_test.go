package viewer_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/test/faults/viewer"
)

func receive(t *testing.T, want viewer.Want, frames ...string) *viewer.Viewer {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"glasshouse.v1+json"}})
		if err != nil {
			t.Error(err)
			return
		}
		for _, frame := range frames {
			frame = strings.Replace(frame, `{"type"`, `{"id":1,"type"`, 1)
			if err := conn.Write(r.Context(), websocket.MessageText, []byte(frame)); err != nil {
				t.Error(err)
			}
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}))
	defer server.Close()
	v := viewer.New(server.URL, want)
	v.Connect(t.Context())
	return v
}

// A Viewer records faults of the messages, and errors of the server.
//
// Invariant: I43.
func TestViewerRecordsFaults(t *testing.T) {
	for _, test := range []struct{ name, frame, want string }{
		{"state message", `{"type":"state","state":"live"}`, ""},
		{"an error", `{"type":"error","problem":{}}`, "an error"},
		{"invalid message", `nonsense`, "not understood"},
		{"events before a snapshot", `{"type":"events","cursor":"d","events":[]}`, "before a snapshot"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(receive(t, viewer.Rows("core/v1/pods"), test.frame).Faults(), "\n")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// For a window (a part of a sorted list), CompareRows checks the rows of the window and their order. It ignores rows
// outside the window.
//
// Invariant: I43.
func TestCompareRowsChecksOrderInWindow(t *testing.T) {
	row := func(name, rv, cell string) viewer.Row {
		return viewer.Row{
			NS: "a", Name: name, UID: "u-" + name, RV: rv, Cells: []json.RawMessage{json.RawMessage(cell)},
		}
	}
	all := func(rows ...viewer.Row) map[string]viewer.Row {
		byKey := make(map[string]viewer.Row)
		for _, r := range rows {
			byKey[r.Key()] = r
		}
		return byKey
	}
	const (
		table = `{"type":"snapshot","cursor":"c","columns":[{"name":"V"}],` +
			`"table":{"ns":["a","a"],"name":["w-1","w-2"],"rv":["5","6"],"created":["",""],"cells":[[1,2]]},` +
			`"last":true}`
		window = `{"type":"window","cursor":"c","columns":[{"name":"V"}],"total":4,"matching":3,"offset":1,"count":2,` +
			`"rows":[{"ns":"a","name":"w-1","uid":"u-w-1","rv":"5","cells":[1]},` +
			`{"ns":"a","name":"w-2","uid":"u-w-2","rv":"6","cells":[1]}]}`
	)
	w1, w2, w3, x := row("w-1", "5", "1"), row("w-2", "6", "1"), row("w-3", "7", "3"), row("x", "8", "4")
	for _, test := range []struct {
		name, frame string
		existing    map[string]viewer.Row
		want        string
	}{
		{"table", table, all(w1, row("w-2", "6", "2")), ""},
		{"table with an older version", table, all(w1, row("w-2", "7", "2")), "w-2 is"},
		{"table with another cell", table, all(w1, row("w-2", "6", "3")), "cells"},
		{"table with an additional row", table, all(w1), "2 rows, want 1"},
		{"window", window, all(w1, w2, w3, x), ""},
		{"window with an older version", window, all(w1, row("w-2", "7", "1"), w3, x), "w-2 is"},
		{"window in another order", window, all(w1, row("w-2", "6", "2"), w3, x), "the window is"},
		{"window with another total", window, all(w1, w2, w3), "the counts are"},
		{"window with another number of matching rows", window, all(w1, w2, row("v", "7", "3"), x), "the counts are"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := receive(
				t, viewer.Want{View: strings.Fields(test.name)[0], Q: "w", Sort: "-v", Offset: 1, Count: 2}, test.frame,
			)
			if faults := v.Faults(); len(faults) > 0 {
				t.Error(faults)
			}
			if err := v.CompareRows(test.existing); (err == nil) != (test.want == "") ||
				err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("CompareRows: got error %v, want %q", err, test.want)
			}
		})
	}
}
