package watch_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

const databases = "example.com/v1/databases"

func database(password string) apitest.Item {
	return apitest.Item{
		Namespace: "a", Name: "db", Cells: fmt.Sprintf(`["db",%q,"up"]`, password),
		Metadata: `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"CANARY"}`,
		Rest:     fmt.Sprintf(`"spec":{"password":%q},"status":{"phase":"up"}`, password),
	}
}

func serveDatabases(t *testing.T, log *slog.Logger, rules ...string) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	server := apitest.New(t, kinds()...)
	for _, ns := range []string{"a", "b"} {
		server.Set("core/v1/namespaces", apitest.Item{Name: ns})
	}
	server.AddKind(apitest.Kind{
		Ref:  databases,
		Kind: "Database",
		Columns: `[{"name":"Name","type":"string","format":"name"},{"name":"Password","type":"string",` +
			`"description":"Of it."},{"name":"Phase","type":"string","description":"Of it."}]`,
	})
	server.AddKind(apitest.Kind{
		Ref: "apiextensions.k8s.io/v1/customresourcedefinitions", Kind: "CustomResourceDefinition", Cluster: true,
	})
	define(server, ".spec.password", ".status.phase")
	var all redact.Rules
	for _, text := range rules {
		some, err := redact.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	return server, runClusterWith(t, server, watch.Options{Linger: time.Minute, Log: log, Redact: all})
}

func define(server *apitest.Server, password, phase string) {
	server.Set("apiextensions.k8s.io/v1/customresourcedefinitions", apitest.Item{
		Name: "databases.example.com",
		Rest: fmt.Sprintf(
			`"spec":{"versions":[{"name":"v1","additionalPrinterColumns":[`+
				`{"name":"Password","type":"string","jsonPath":%q},{"name":"Phase","type":"string","jsonPath":%q}]}]}`,
			password, phase,
		),
	})
}

// Values are masked in every view. If the JSONPath of a CRD's column changes so that the column shows a masked value,
// the next watch masks the cells of the column.
// Invariant: I15.
func TestRedactionRulesMaskEveryView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveDatabases(
			t, slog.New(slog.NewTextHandler(t.Output(), nil)), "example.com/v1/databases:spec.password",
		)
		server.Set(databases, database("CANARY1"))
		access := cluster.For(watch.Viewer{Program: true})
		window, err := query.NewWindow("", 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		var messages strings.Builder
		subs := make(map[stream.View]*watch.Subscription)
		for view, q := range map[stream.View]query.Query{
			stream.Rows: {}, stream.Table: {}, stream.Changes: {}, stream.Object: {Namespaces: []string{"a"}, Name: "db"},
			stream.Windowed: {Window: window},
		} {
			q.Resource = databases
			sub, err := access.Subscribe(t.Context(), q, view, "")
			if err != nil {
				t.Fatal(err)
			}
			defer sub.Close()
			subs[view] = sub
		}
		readAll := func() {
			for _, sub := range subs {
				for {
					m, err := sub.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					messages.Write(m)
					if strings.Contains(string(m), `"heartbeat"`) {
						break
					}
				}
			}
		}
		readAll()
		server.Set(databases, database("CANARY2"))
		readAll()
		text, err := access.Object(t.Context(), databases, "a", "db")
		if err != nil {
			t.Fatal(err)
		}
		messages.Write(text)
		found, err := access.Search(
			t.Context(), watch.SearchQuery{Text: "canary2", Limit: 10}, func(_, _ *resource.Resource) int { return 0 },
		)
		if err != nil || found.Total != 0 {
			t.Errorf("Search for a masked value: got %+v, error %v, want no hits", found, err)
		}
		snapshot, err := access.Snapshot(t.Context(), query.Query{Resource: databases, Text: "canary2"}, time.Minute)
		if err != nil || len(snapshot.Objects) != 0 {
			t.Errorf("Snapshot with a masked value as text: got %d objects, error %v, want 0", len(snapshot.Objects), err)
		}
		if all := messages.String(); strings.Contains(all, "CANARY") || !strings.Contains(all, "(masked, change 1)") ||
			!strings.Contains(all, `["db","(masked)","up"]`) {
			t.Errorf("messages: want only masked values, got %s", all)
		}
		messages.Reset()
		define(server, ".status.phase", ".spec.password")
		other := database("CANARY3")
		other.Cells = `["db","up","CANARY3"]`
		server.EndWatches(databases)
		advance(10 * time.Second)
		server.Set(databases, other)
		readAll()
		readAll()
		if all := messages.String(); strings.Contains(all, "CANARY") || !strings.Contains(all, `"up","(masked)"`) {
			t.Errorf("messages after the CRD changed: want only masked values, got %s", all)
		}
	})
}

// A field selector with a masked field is refused, because its result would reveal the value.
// Invariant: I15.
func TestMaskedFieldsCannotBeSelected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := serveDatabases(
			t,
			slog.New(slog.NewTextHandler(t.Output(), nil)),
			"example.com/v1/databases:spec.password",
			"*:spec.tokens[*]",
		)
		server.Set(databases, database("CANARY1"))
		access := cluster.For(watch.Viewer{Program: true})
		for _, fields := range []string{
			"spec.password=CANARY1",
			"spec.password!=CANARY1",
			".spec.password=CANARY1",
			"spec.password==CANARY1,metadata.name=db",
			"spec.tokens=a",
			"spec=a",
		} {
			_, err := access.Snapshot(t.Context(), query.Query{Resource: databases, Fields: fields}, time.Minute)
			if p := new(status.Problem); !errors.As(err, &p) || p.Title != "Masked field" ||
				strings.Contains(p.Detail, "CANARY") {
				t.Errorf("%s: got error %v, want Masked field", fields, err)
			}
			if sub, err := access.Subscribe(
				t.Context(), query.Query{Resource: databases, Fields: fields}, stream.Rows, "",
			); err == nil {
				sub.Close()
				t.Errorf("Subscribe with the field selector %s: got no error", fields)
			}
		}
		if _, err := access.Snapshot(
			t.Context(), query.Query{Resource: databases, Fields: "metadata.name=db"}, time.Minute,
		); err != nil {
			t.Error(err)
		}
		if got := server.Requests("CANARY"); len(got) > 0 {
			t.Errorf("masked value in an upstream request: %s", got)
		}
	})
}

// If the cluster does not serve the resource of a rule, one warning is logged, because the name may be misspelled.
// Invariant: I15.
func TestRuleForUnservedResourceIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		server, _ := serveDatabases(
			t, slog.New(slog.NewTextHandler(&log, nil)),
			"example.com/v1/databases:spec.password",
			"core/v1/configmap:data.*",
			"*:x",
			"env",
		)
		server.AddKind(apitest.Kind{Ref: "example.com/v1/others", Kind: "Other"})
		advance(time.Minute)
		synctest.Wait()
		if got := log.String(); strings.Count(got, "does not serve") != 1 ||
			!strings.Contains(got, "resource=core/configmap") {
			t.Errorf("want one warning about the unserved resource, got the log %s", got)
		}
	})
}
