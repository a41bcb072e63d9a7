package watch_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// The views Table and Rows have the same rows, even if a long table is split into several messages.
func TestTableViewEqualsRowsView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		for i, cells := range []string{
			`["p0","Running"]`, `["another",null]`, `["p2",{"a":[1,2]}]`, `["p3"]`, `["p4","x","too many"]`, `[]`,
		} {
			server.Set(pods, apitest.Item{
				Namespace: "a", Name: fmt.Sprintf("p%d", i), Cells: cells,
				Metadata: `"creationTimestamp":"2026-11-21T10:00:00Z"`,
			})
		}
		for i := range 9000 {
			server.Set(pods, pod("b", fmt.Sprintf("p%d", i), "Running"))
		}
		rows, _ := snapshotOf(t, cluster, stream.Rows)
		table, messages := snapshotOf(t, cluster, stream.Table)
		if len(rows) != 9006 || messages < 3 {
			t.Errorf("got %d rows and a table in %d messages, want 9006 and at least 3", len(rows), messages)
		}
		for i := range rows {
			for len(rows[i].Cells) < 2 {
				rows[i].Cells = append(rows[i].Cells, nil)
			}
			rows[i].Cells = rows[i].Cells[:2]
			rows[i].UID = "" // The Table view does not send UIDs.
		}
		if !reflect.DeepEqual(rows, table) {
			t.Errorf("first rows of the table: got %v\nwant %v", table[:7], rows[:7])
		}
	})
}

type fullRow struct {
	NS, Name, UID, RV, Created string
	Cells                      []any
}

func snapshotOf(t *testing.T, cluster *watch.Cluster, view stream.View) (rows []fullRow, messages int) {
	t.Helper()
	sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(t.Context(), query.Query{Resource: pods}, view, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for {
		text, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Type  string
			Rows  []fullRow
			Table struct {
				NS, Name, RV, Created []string
				Cells                 []any
			}
			Last bool
		}
		if err := json.Unmarshal([]byte("{"+string(text)+"}"), &m); err != nil {
			t.Fatalf("decode message %.200s: %v", text, err)
		}
		if m.Type != "snapshot" {
			continue
		}
		messages++
		rows = append(rows, m.Rows...)
		for i, name := range m.Table.Name {
			row := fullRow{NS: m.Table.NS[i], Name: name, RV: m.Table.RV[i], Created: m.Table.Created[i]}
			for _, column := range m.Table.Cells {
				switch column := column.(type) {
				case []any:
					row.Cells = append(row.Cells, column[i])
				case string:
					row.Cells = append(row.Cells, map[string]string{"name": row.Name, "created": row.Created}[column])
				}
			}
			rows = append(rows, row)
		}
		if m.Last {
			return rows, messages
		}
	}
}

// The API server prints the age "<invalid>" for a creation time ahead of its clock. Readers still get the time.
// Invariant: I25.
func TestAgeOfFutureCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{
			Ref: widgets, Kind: "Widget", Columns: `[{"name":"Name","type":"string"},{"name":"Age","type":"date"}]`,
		})
		at := time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339)
		server.Set(widgets, apitest.Item{
			Namespace: "a", Name: "w", Cells: `["w","<invalid>"]`,
			Metadata: fmt.Sprintf(`"creationTimestamp":%q`, at),
		})
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		<-time.After(time.Hour)
		r.settle()
		r.wantRows("a/w=" + at)
	})
}

// A column Age of a CRD is sent unchanged, because it can mean something other than the time since creation.
// Invariant: I25.
func TestCustomAgeColumnIsSentUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveCluster(t)
		server.AddKind(apitest.Kind{
			Ref: widgets, Kind: "Widget",
			Columns: `[{"name":"Name","type":"string"},{"name":"Age","type":"string",` +
				`"description":"Custom resource definition column (in JSONPath format): .spec.age"}]`,
		})
		server.Set(widgets, apitest.Item{
			Namespace: "a", Name: "w", Cells: `["w","5d"]`, Metadata: `"creationTimestamp":"1999-12-01T00:00:00Z"`,
		})
		r := subscribe(t, cluster, query.Query{Resource: widgets}, "")
		r.settle()
		r.wantRows("a/w=5d")
	})
}
