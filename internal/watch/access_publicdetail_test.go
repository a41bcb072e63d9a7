package watch_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/watch/stream"
)

// Errors of the API server can contain values of stored objects. The program removes such values before it shows or
// logs an error.
// Invariant: I15.
func TestErrorsHideStoredData(t *testing.T) {
	for _, test := range []struct {
		name    string
		code    int
		reason  string
		message string
		want    string
	}{
		{
			"conversion webhook not reachable",
			500,
			"InternalError",
			`conversion webhook for example.com/v2, Kind=Database failed: Post ` +
				`"https://hook.a.svc:443/convert?CANARY": dial tcp 10.0.0.1:443: connect: connection refused`,
			"conversion webhook for example.com/v2, kind Database failed: hook.a.svc:443: connection refused",
		},
		{
			"failed conversion",
			500,
			"InternalError",
			`conversion webhook for example.com/v2, Kind=Database failed: cannot convert password CANARY`,
			"conversion webhook for example.com/v2, kind Database failed; the rest",
		},
		{
			"an internal error",
			500,
			"InternalError",
			`Internal error occurred: unable to decode an event: CANARY`,
			"unable to decode an event; the rest",
		},
		{"decoding error", 500, "InternalError", `json: cannot unmarshal number CANARY into Go value`, "json; the rest"},
		{"undecodable stored object", 500, "", `unable to decode {"password":"CANARY"}`, "unable to decode; the rest"},
		{
			"an invalid value",
			422,
			"Invalid",
			`Database.example.com "db" is invalid: spec.password: Invalid value: "CANARY": too short`,
			"Database.example.com; the rest",
		},
		{
			"an invalid map",
			422,
			"Invalid",
			`spec.password: Invalid value: map[string]interface {}{"a":"CANARY"}`,
			"spec.password; the rest",
		},
		{
			"HTML page of a gateway",
			500,
			"InternalError",
			`an error on the server ("<html>CANARY") has prevented the request from succeeding`,
			"an error on the server; the rest",
		},
		{"message without a public part", 500, "", `"CANARY"`, "with status 500; the rest"},
		{"message too long", 503, "ServiceUnavailable", strings.Repeat("no ", 1000), "no no no"},
		{
			"forbidden",
			403,
			"Forbidden",
			`databases.example.com is forbidden: User "u" cannot list resource "databases"`,
			`User "u" cannot list`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				server, cluster := serveDatabases(
					t, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				)
				respond := func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(test.code)
					_, _ = io.WriteString(w, apitest.Failure(test.code, test.reason, test.message))
				}
				server.Handle("/apis/example.com/v1/databases", respond)
				server.Handle("/apis/example.com/v1/namespaces/a/databases/db", respond)
				access := cluster.For(watch.Viewer{Program: true})
				var texts []string
				snapshot, err := access.Snapshot(t.Context(), query.Query{Resource: databases}, 30*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, snapshot.Status.Reason)
				_, err = access.Object(t.Context(), databases, "a", "db")
				p := new(status.Problem)
				if !errors.As(err, &p) {
					t.Fatalf("got error %v, want a problem", err)
				}
				texts = append(texts, p.Detail)
				for _, text := range texts {
					if strings.Contains(text, "CANARY") || !strings.Contains(text, test.want) || len(text) > 700 {
						t.Errorf("got %s, want %q", text, test.want)
					}
				}
				synctest.Wait()
				if strings.Contains(log.String(), "CANARY") {
					t.Errorf("want no object content in the log, got %s", log.String())
				}
			})
		})
	}
}

// An error event in a watch can contain values of stored objects. Neither messages nor logs contain them.
// Invariant: I15.
func TestWatchErrorsHideStoredData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		server, cluster := serveDatabases(
			t, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		)
		server.Set(databases, database("one"))
		sub, err := cluster.For(watch.Viewer{Program: true}).Subscribe(
			t.Context(), query.Query{Resource: databases}, stream.Rows, "",
		)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		var messages strings.Builder
		for range 3 {
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
			server.Send(
				databases,
				fmt.Sprintf(
					`{"type":"ERROR","object":%s}`+"\n",
					apitest.Failure(500, "InternalError", `unable to convert: "CANARY"`),
				),
			)
		}
		synctest.Wait()
		if all := messages.String() + log.String(); strings.Contains(all, "CANARY") {
			t.Errorf("want no object content in messages and log, got %s", all)
		}
	})
}

// A proxy can respond instead of the API server, for example with an error page. Errors and logs contain no text of
// such a response.
// Invariant: I15.
func TestDiscoveryErrorsHideResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		server := apitest.New(t, kinds()...)
		for _, path := range []string{"/api", "/apis"} {
			server.Handle(path, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadGateway)
				_, _ = io.WriteString(w, "<html>CANARY</html>")
			})
		}
		cluster := runClusterWith(
			t, server,
			watch.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))},
		)
		advance(time.Minute)
		_, _, err := cluster.For(watch.Viewer{Program: true}).Resources().List(t.Context(), 0)
		wantProblem(t, err, status.Unavailable, "The API server does not respond", "http://api.test: ")
		if synctest.Wait(); strings.Contains(err.Error()+log.String(), "CANARY") {
			t.Errorf("want no object content, got error %v, log %s", err, log.String())
		}
	})
}
