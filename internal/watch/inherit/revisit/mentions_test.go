package revisit_test

import (
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
)

// For each object, the mentions contain the objects whose present messages name it.
func TestMentionsFollowPresentMessages(t *testing.T) {
	widget := graph.Kind{Group: "example.com", Kind: "Widget"}
	id := func(name string) graph.ID { return graph.NewID(widget, "a", name) }
	var m revisit.Mentions
	m.Reset()
	m.Set(id("a"), []graph.ID{id("x"), id("y")})
	m.Set(id("b"), []graph.ID{id("x")})
	if got := m.Users(id("x")); !slices.Equal(got, []graph.ID{id("a"), id("b")}) {
		t.Errorf("got %v, want a and b", got)
	}
	m.Set(id("a"), []graph.ID{id("y")})
	if got := m.Users(id("x")); !slices.Equal(got, []graph.ID{id("b")}) {
		t.Errorf("after a change: got %v, want b", got)
	}
	m.Add(id("a"), id("x"))
	m.Add(id("a"), id("x"))
	if got := m.Users(id("x")); !slices.Equal(got, []graph.ID{id("b"), id("a")}) {
		t.Errorf("after an addition: got %v, want b and a", got)
	}
	m.Set(id("a"), nil)
	m.Set(id("b"), nil)
	for _, name := range []string{"x", "y"} {
		if got := m.Users(id(name)); len(got) != 0 {
			t.Errorf("after the removal: got %v for %s, want none", got, name)
		}
	}
}
