//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// windowMessage is a message of the view "window", which sends the visible rows of a sorted list.
type windowMessage struct {
	Type                           string
	Total, Matching, Offset, Count int
	Rows                           []row
	Events                         []struct {
		Op, UID, RV string
		At          int
		Row         row
	}
	Problem json.RawMessage
}

type windowRows struct {
	windowMessage

	edits int
}

func (p *windowRows) apply(text []byte) error {
	var m windowMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	switch m.Type {
	case "error":
		return fmt.Errorf("error: %s", m.Problem)
	case "window":
		p.windowMessage = m
	case "window-events":
		p.Total, p.Matching = m.Total, m.Matching
		for _, e := range m.Events {
			p.edits++
			switch {
			case e.At < 0 || e.At > len(p.Rows) || e.At == len(p.Rows) && e.Op != "insert":
				return fmt.Errorf("%s at %d of %d", e.Op, e.At, len(p.Rows))
			case e.Op == "remove":
				p.Rows = slices.Delete(p.Rows, e.At, e.At+1)
			case e.Op == "insert":
				p.Rows = slices.Insert(p.Rows, e.At, e.Row)
			case p.Rows[e.At].UID != e.UID:
				return fmt.Errorf("an update of %s at the place of %s", e.UID, p.Rows[e.At].UID)
			default:
				p.Rows[e.At].RV = e.RV
			}
		}
	}
	return nil
}

// Windows (visible parts of a sorted list) move while objects change. At the end, their rows equal the API
// server's.
// Invariant: I9.
func TestWindowsConvergeDuringChanges(t *testing.T) {
	d, c := startReady(t, adminConfig(t)), newAPIClient(t, adminConfig(t))
	ns := c.namespace(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	socket := dial(ctx, t, d)
	socket.send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/configmaps","ns":[%q],"view":"window",`+
		`"q":"CM-","sort":"-name","offset":5,"count":12}`, ns))
	messages := make(chan []byte, 10_000)
	go func() {
		defer close(messages)
		for {
			_, message, err := socket.conn.Read(ctx)
			if err != nil {
				return
			}
			messages <- message
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
			socket.send(fmt.Sprintf(`{"op":"window","id":1,"offset":%d,"count":%d}`, random.IntN(20),
				1+random.IntN(20)))
		}
	}
	socket.send(`{"op":"window","id":1,"offset":7,"count":9}`)
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
	var p windowRows
	var got []string
	for message := range messages {
		if err := p.apply(message); err != nil {
			t.Fatal(err)
		}
		got = got[:0]
		for _, r := range p.Rows {
			got = append(got, r.Name+" "+r.UID+" "+r.RV)
		}
		if p.Offset == 7 && p.Count == 9 && slices.Equal(got, want) && p.Matching == len(names) &&
			p.Total == len(listed) {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d of %d from %d: %v; want %v", p.Matching, p.Total, p.Offset, got, want)
	}
	t.Logf("%d edits", p.edits)
	if p.edits == 0 {
		t.Error("no event was sent")
	}
}
