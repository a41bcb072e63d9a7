package web_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// The server sorts rows like the page's script. web/test/model/sort.test.ts uses the same test cases.
func TestPageSortsLikeItsScript(t *testing.T) {
	t.Parallel()
	var orders []struct {
		Name     string
		Relative bool
		Cells    []json.RawMessage
	}
	if err := json.Unmarshal([]byte(readFile(t, "testdata/ranks.json")), &orders); err != nil || len(orders) < 15 {
		t.Fatalf("got %d sort orders, error %v, want at least 15", len(orders), err)
	}
	s := newSite(t)
	name := regexp.MustCompile(`data-name="(w\d+)"`)
	unknown := regexp.MustCompile(`^(?i:null|" *"|"<\w+>"|"n/a"|"-"|"2026-11-21"|"2026-13.*")$`)
	kindRef := func(n int) string { return fmt.Sprintf("example.com/v1/kind%ds", n) }
	for n, order := range orders {
		kind := "string"
		if order.Relative {
			kind = "date"
		}
		s.api.AddKind(apitest.Kind{
			Ref: kindRef(n), Kind: "Kind", Cluster: true,
			Columns: fmt.Sprintf(`[{"name":"Name","type":"string"},{"name":"Rank","type":%q}]`, kind),
		})
	}
	for n, order := range orders {
		ref := kindRef(n)
		// The order of the names is the reverse of the order of the cells, so that a server that sorts by name fails the
		// test.
		var known, rest []string
		for i, cell := range order.Cells {
			object := fmt.Sprintf("w%02d", len(order.Cells)-i)
			s.api.Set(ref, apitest.Item{Name: object, Cells: fmt.Sprintf(`[%q,%s]`, object, cell)})
			if unknown.Match(cell) && (order.Relative || string(cell) != `"2026-11-21"`) {
				rest = append(rest, object)
			} else {
				known = append(known, object)
			}
		}
		s.waitForLive(ref)
		slices.Sort(rest) // Rows with unknown cells are sorted by name.
		for _, prefix := range []string{"", "-"} {
			want := strings.Join(append(slices.Clone(known), rest...), " ")
			var got []string
			for _, match := range name.FindAllStringSubmatch(s.get("/r/"+ref+"?sort="+prefix+"rank",
				"Accept: text/html").body, -1) {
				got = append(got, match[1])
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, sort=%srank: got %s, want %s", order.Name, prefix, got, want)
			}
			slices.Reverse(known)
		}
	}
}

// A list of events shows the newest first, and no column Why, in both API groups. A custom resource with the same name
// has neither.
func TestPageOfEventsShowsNewestFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	name := regexp.MustCompile(`data-name="([az])"`)
	for ref, want := range map[string]string{
		"core/v1/events": "z a", "events.k8s.io/v1/events": "z a", "example.com/v1/events": "a z Why",
	} {
		s.api.AddKind(apitest.Kind{
			Ref: ref, Kind: "Event", Cluster: true,
			Columns: `[{"name":"Last Seen","type":"string"},{"name":"Name","type":"string"}]`,
		})
		for object, age := range map[string]string{"a": "5h", "z": "1m"} {
			s.api.Set(ref, apitest.Item{
				Name: object, Cells: fmt.Sprintf(`[%q,%q]`, age, object),
				Rest: `"type":"Warning","reason":"R","message":"m","note":"m",` +
					`"status":{"conditions":[{"type":"Stalled","status":"True","reason":"R"}]}`,
			})
		}
		s.waitForLive(ref)
		page := s.get("/r/"+ref, "Accept: text/html").body
		var got []string
		for _, match := range name.FindAllStringSubmatch(page, -1) {
			got = append(got, match[1])
		}
		if strings.Contains(page, ">Why<") {
			got = append(got, "Why")
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: got %s, want %s", ref, text, want)
		}
	}
}
