package attack

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

const events = "core/v1/events"

func TestCursorsHideForeignChanges(t *testing.T) {
	runOnEach(t, func(p *probe) {
		s := p.open()
		namespace := s.createVisible()
		_, guest := s.share("/r/"+configMaps+"?ns="+namespace,
			part{Resource: configMaps, Namespaces: []string{namespace}},
			part{Resource: events, Namespaces: []string{namespace}})
		user := must(s.user(p.Context(), namespace, "onlooker", rbacv1.PolicyRule{
			APIGroups: []string{""},
			Resources: []string{"configmaps", "events"},
			Verbs:     []string{"get", "list", "watch"},
		}))(p)
		// The requests of s.creator make the program watch all namespaces, including the hidden one.
		for _, kind := range []string{configMaps, events} {
			s.waitForSnapshot(get("/api/v1/snapshot/"+kind, bearer(s.creator)))
		}
		for _, o := range []observer{{"guest", guest, namespace}, {"restricted user", bearer(user), namespace}} {
			for _, kind := range []string{configMaps, events} {
				s.waitForSnapshot(get("/api/v1/snapshot/"+kind+"?ns="+namespace, o.header))
			}
			s.waitForSearch(o)
			s.measureAdvantage(o)
		}
	})
}

func (s *site) waitForSnapshot(r request) {
	s.Helper()
	s.check(eventually(30*time.Second, func() error {
		var state struct{ State string }
		a := s.do(r)
		if err := json.Unmarshal([]byte(a.body), &state); err != nil || state.State != "live" {
			return fmt.Errorf("snapshot: got status %d, state %q; want live", a.status, state.State)
		}
		return nil
	}))
}

// waitForSearch waits until the program has listed all resources in which an observer can search.
func (s *site) waitForSearch(o observer) {
	s.Helper()
	s.check(eventually(30*time.Second, func() error {
		if a := s.do(get("/api/v1/search?q=oracle", o.header)); strings.Contains(a.body, `"state":"syncing"`) {
			return fmt.Errorf("search: a resource is still syncing: %.300s", a.body)
		}
		return nil
	}))
}

// measureAdvantage compares how often cursors (resume positions) change in rounds with and without hidden changes. An
// advantage of 0 % means no difference, so cursors reveal nothing to the observer.
func (s *site) measureAdvantage(o observer) {
	s.Helper()
	rounds := shortOrFull(6, 200)
	t := &tally{probe: s.probe}
	var cursors [2]int
	first := map[string]string{}
	longStream := must(s.openStream(s.Context(), readerAddress(0), o, nil))(s.probe)
	defer longStream.close()
	must(longStream.cursors())(s.probe)
	for round := range 2 * rounds {
		before := s.responses(o, round)
		_, resume := s.streamMessages(o, round, nil)
		if round%2 == 1 {
			s.changeHidden(fmt.Sprint(o.name, round))
		}
		after := s.responses(o, round)
		for path, text := range after {
			if cursorPattern().FindString(text) != cursorPattern().FindString(before[path]) {
				cursors[round%2]++
			}
		}
		messages, _ := s.streamMessages(o, round, resume)
		maps.Copy(after, messages)
		for name, text := range after {
			masked := mask(text)
			if first[name] == "" {
				first[name] = masked
			}
			t.check(masked == first[name], "%s in round %d: %s", name, round, difference(first[name], masked))
		}
	}
	s.Logf("%d rounds with and %d without hidden changes, %d responses and views", rounds, rounds, len(first))
	t.require("responses and messages to "+o.name+" with and without hidden changes",
		"equal except for times and cursors")
	quiet := &tally{probe: s.probe}
	longStream.checkQuiet(quiet)
	quiet.require("subscriptions of "+o.name+" while hidden objects change",
		"only heartbeats, digests and empty messages, at their intervals")
	advantage := math.Abs(float64(cursors[1]-cursors[0])) / float64(max(1, cursors[0], cursors[1]))
	s.require(advantage <= 0.34, "cursors of "+o.name+" reveal hidden changes", "advantage at most 34 %",
		"advantage %.0f %% (%d cursors differ in %d rounds with a change, %d without)", 100*advantage, cursors[1],
		rounds,
		cursors[0])
}

func difference(a, b string) string {
	index := 0
	for index < min(len(a), len(b)) && a[index] == b[index] {
		index++
	}
	excerpt := func(text string) string { return text[max(0, index-60):min(len(text), index+60)] }
	return fmt.Sprintf("%q is now %q (%d and %d bytes)", excerpt(a), excerpt(b), len(a), len(b))
}
