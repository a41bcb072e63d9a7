package web_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/web"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// startFuzzServer runs a server whose cluster has one pod. It returns the handler, the URL and the log of the server.
func startFuzzServer(f *testing.F) (handler http.Handler, address string, log *lockedBuffer) {
	f.Helper()
	api := apitest.New(
		f,
		apitest.Kind{
			Ref: podsRef, Kind: "Pod", ShortNames: []string{"po"},
			Columns: `[{"name":"Name","type":"string"},{"name":"Status","type":"string"},` +
				`{"name":"Age","type":"string"}]`,
		},
		apitest.Kind{
			Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true, Columns: `[{"name":"Name","type":"string"}]`,
		},
	)
	api.Set(podsRef, apitest.Item{
		Namespace: "a", Name: "web-1", Cells: `["web-1","Running","5m"]`, Metadata: `"labels":{"app":"web"}`,
	})
	log = &lockedBuffer{}
	server, err := web.New(web.Options{
		ClusterInfo: request.ClusterInfo{
			Cluster: startCluster(f, api),
		}, Version: "v0", Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		f.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(f.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	apitest.Run(f, func(ctx context.Context) error { return server.Run(ctx, listener) })
	address = "http://" + listener.Addr().String()
	// Wait until Run serves requests, because the handler can only be called after that.
	conn, err := livetest.Dial(f.Context(), address, livetest.Options{})
	if err != nil {
		f.Fatal(err)
	}
	conn.Close()
	if handler, err = server.Handler(); err != nil {
		f.Fatal(err)
	}
	return handler, address, log
}

// FuzzRequests checks that no HTTP request causes an internal error (status 500). Every response must have the
// security headers.
//
// Invariant: I26.
func FuzzRequests(f *testing.F) {
	handler, _, log := startFuzzServer(f)
	for _, path := range append(
		routePaths(f), "/compare?a="+podsRef+"/a/web-1&b=web-2",
		"/r/"+podsRef+"?ns=a&q=is:failing&labels=app%3Dweb&sort=-age&cols=name&from=1",
		"/api/v1/logs/a/web-1?tail=1&since=1s",
		"/api/v1/snapshot/"+podsRef+"?format=csv&limit=1&wait=1ms&fields=status.phase%3DRunning",
		"/o/"+podsRef+"/%2e%2e/%00", "/api/v1/search?q=%ff&limit=1",
	) {
		if path != "/api/v1/live" {
			f.Add("GET", path, "Accept", "text/html")
		}
	}
	for _, header := range []string{
		"Host", "Origin", "Cookie", "Accept-Encoding", "If-None-Match", "Range", "Sec-Fetch-Site", "X-Forwarded-For",
		"Content-Encoding", "Upgrade",
	} {
		f.Add("GET", "/r/"+podsRef, header, "\x00,;=\"look=dark-compact")
	}
	f.Add("POST", "/", "Content-Type", "application/json")
	f.Fuzz(func(t *testing.T, method, target, name, value string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" || strings.Contains(target, "wait=") && !strings.Contains(target, "wait=1ms") ||
			method == "CONNECT" {
			t.Skip("the address is not valid for this test")
		}
		// A request that follows a log never ends by itself, so limit every request to 2 s.
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, target, nil)
		if err != nil {
			t.Skip("invalid request")
		}
		// Keep RemoteAddr empty, because the rate limit of an address would delay the test.
		r.Host, r.RequestURI = "localhost", target
		if r.Header.Set(name, value); strings.EqualFold(name, "Host") {
			r.Host = value
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		if recorder.Code == http.StatusInternalServerError {
			t.Errorf("%s %q with header %s: %q: got %d %s\n%.2000s", method, target, name, value, recorder.Code,
				recorder.Body, log)
		}
		if recorder.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s %q with header %s: %q: the response has no Content-Security-Policy", method, target, name, value)
		}
	})
}

// FuzzMessages checks that no WebSocket message causes an internal error, or a response that is not JSON.
//
// Invariant: I26.
func FuzzMessages(f *testing.F) {
	_, address, log := startFuzzServer(f)
	for _, text := range []string{
		`{"op":"subscribe","id":1,"resource":"core/v1/pods"}`,
		`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"object"}`,
		`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"changes",` +
			`"labels":"app in (web)","fields":"status.phase=Running","every":100}`,
		`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"window",` +
			`"q":"web is:failing","sort":"-age","offset":0,"count":10}`,
		`{"op":"window","id":1,"offset":1,"count":1}`,
		`{"op":"subscribe","id":1,"view":"resources"}`,
		`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"log",` +
			`"tail":1,"since":"1s","follow":true}`,
		`[{"op":"ping","id":1},{"op":"unsubscribe","id":1}]`, `[]`, `{}`, ``, `null`, `"`, "\xff\x00",
		`{"op":"subscribe","id":1,"resource":"core/v1/pods","cursor":"AAAA"}`, `{"op":"subscribe","id":1e400}`,
		strings.Repeat("[", 10_000), `{"op":"subscribe","id":1,"ns":` + strings.Repeat("[", 5000),
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, binary bool) {
		before := len(log.String())
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		conn, err := livetest.Dial(ctx, address, livetest.Options{ReadLimit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		write := conn.Write
		if binary {
			write = conn.WriteBinary
		}
		if err := write(ctx, text); err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(ctx, `{"op":"ping","id":1000000007}`); err != nil {
			t.Fatal(err)
		}
		for {
			message, err := conn.ReadFrame(ctx)
			if err != nil {
				if websocket.CloseStatus(err) == -1 {
					t.Errorf("message %q closed the connection without a status: %v\n%s", text, err, log)
				}
				break
			}
			if !json.Valid(message) {
				t.Errorf("message %q: got the invalid response %q", text, message)
			}
			if strings.Contains(string(message), `"id":1000000007,"type":"pong"`) {
				break
			}
		}
		if logged := log.String(); strings.Contains(logged[before:], "level=ERROR") {
			t.Errorf("message %q: log is %.2000s", text, logged[before:])
		}
	})
}
