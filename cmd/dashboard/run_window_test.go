//go:build integration

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A window (a range of sorted rows) contains the rows of the API server, even if it was moved while rows changed.
// Invariant: I9.
func TestWindowsConvergeDuringChanges(t *testing.T) {
	d, c := startReady(t, adminConfig(t)), newAPIClient(t, adminConfig(t))
	ns := c.namespace(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	socket := dial(ctx, t, d)
	socket.Send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/configmaps","ns":[%q],"view":"window",`+
		`"q":"CM-","sort":"-name","offset":5,"count":12}`, ns))
	messages := make(chan *livetest.Message, 10_000)
	go func() {
		defer close(messages)
		for {
			m, err := socket.Client.Read(ctx)
			if err != nil {
				return
			}
			messages <- m
		}
	}()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // A fixed seed makes the test repeatable.
	for n := range 300 {
		name := fmt.Sprint("cm-", random.IntN(40))
		if random.IntN(3) == 0 {
			c.ignoreMissing(t, c.core.ConfigMaps(ns).Delete(ctx, name, metav1.DeleteOptions{}))
		} else {
			c.apply(t, ns, name, strconv.Itoa(random.Int()))
		}
		if n%20 == 19 {
			socket.Send(fmt.Sprintf(`{"op":"window","id":1,"offset":%d,"count":%d}`, random.IntN(20),
				1+random.IntN(20)))
		}
	}
	socket.Send(`{"op":"window","id":1,"offset":7,"count":9}`)
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "cm-"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	listed := c.rows(t, ns)
	var names []string
	for name := range listed {
		if strings.HasPrefix(name, "cm-") {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return number(b) - number(a) })
	want := make([]string, 0, 9)
	for _, name := range names[7:min(16, len(names))] {
		want = append(want, name+" "+listed[name])
	}
	view := livetest.NewView(livetest.Subscription{View: "window"}, nil)
	var p livetest.Window
	var got []string
	for m := range messages {
		if m.Type == "error" {
			t.Fatalf("got an error message: %s", m.Raw)
		}
		view.Apply(m) // Ignore the returned faults: the test socket has already checked the message.
		p, got = view.Window(), got[:0]
		for _, r := range p.Rows {
			got = append(got, r.Name+" "+r.UID+" "+r.RV)
		}
		if p.Offset == 7 && p.Count == 9 && slices.Equal(got, want) && p.Matching == len(names) &&
			p.Total == len(listed) {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("window with %d of %d rows from offset %d: got %v, want %v", p.Matching, p.Total, p.Offset, got, want)
	}
	edits := view.Stats().Events
	t.Logf("%d window events", edits)
	if edits == 0 {
		t.Error("no window event was sent")
	}
}
