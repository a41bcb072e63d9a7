//go:build integration

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Clients have the rows of the API server, even if they reconnected while rows changed. A window (a range of sorted
// rows) contains them too, even if it was moved meanwhile.
// Invariant: I1, I2, I9.
func TestClientsConvergeDuringChanges(t *testing.T) {
	d := startReady(t, adminConfig(t))
	c := newAPIClient(t, adminConfig(t))
	ns := c.namespace(t)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // A fixed seed makes the test repeatable.
	windowCtx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	window, windowMessages := openWindow(windowCtx, t, d, ns)

	churning, stop := context.WithCancel(t.Context())
	defer stop()
	var readers sync.WaitGroup
	clients := make([]*client, 8)
	for i := range clients {
		clients[i] = newClient(d, livetest.Subscription{
			Resource: "core/v1/configmaps", Namespaces: []string{ns}, View: "rows",
		})
		readers.Go(func() {
			for churning.Err() == nil {
				if i%2 == 0 {
					clients[i].connect(churning, time.Duration(50+i*40)*time.Millisecond)
				} else {
					clients[i].connect(churning, time.Hour)
				}
			}
		})
	}
	for n := range 400 {
		name := fmt.Sprint("cm-", random.IntN(40))
		switch random.IntN(4) {
		case 0:
			c.ignoreMissing(t, c.core.ConfigMaps(ns).Delete(t.Context(), name, metav1.DeleteOptions{}))
		case 1: // Replace the object with a new one with the same name.
			c.ignoreMissing(t, c.core.ConfigMaps(ns).Delete(t.Context(), name, metav1.DeleteOptions{}))
			c.apply(t, ns, name, strconv.Itoa(random.Int()))
		default:
			c.apply(t, ns, name, strconv.Itoa(random.Int()))
		}
		if n%20 == 19 {
			window.Send(fmt.Sprintf(`{"op":"window","id":1,"offset":%d,"count":%d}`, random.IntN(20), 1+random.IntN(20)))
		}
	}
	window.Send(`{"op":"window","id":1,"offset":7,"count":9}`)
	want := c.rows(t, ns)
	for i, client := range clients {
		eventually(t, fmt.Sprint("client ", i, " has the objects that the API server lists"), func() error {
			return client.compareRows(want)
		})
	}
	stop()
	readers.Wait()
	resumed := 0
	for i, client := range clients {
		if faults := client.allFaults(); len(faults) > 0 {
			t.Errorf("client %d: %s", i, strings.Join(faults, "; "))
		}
		resumed += client.Stats().Resumed
	}
	t.Logf("%d resumes without a snapshot", resumed)
	if resumed == 0 {
		t.Error("no client resumed from a cursor, so the test did not cover resumes")
	}
	wantWindow(t, windowMessages, want)
}

// openWindow subscribes to ConfigMaps in a window, by descending names. It receives messages until ctx ends.
func openWindow(
	ctx context.Context, t *testing.T, d *dashboard, ns string,
) (socket *livetest.Tab, messages chan *livetest.Message) {
	t.Helper()
	socket = dial(ctx, t, d)
	socket.Send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/configmaps","ns":[%q],"view":"window",`+
		`"q":"CM-","sort":"-name","offset":5,"count":12}`, ns))
	messages = make(chan *livetest.Message, 10_000)
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
	return socket, messages
}

// wantWindow applies messages until the window has 9 rows from offset 7 of the listed ConfigMaps.
func wantWindow(t *testing.T, messages chan *livetest.Message, listed map[string]string) {
	t.Helper()
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "cm-"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
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
