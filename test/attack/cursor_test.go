package attack

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

const events = "core/v1/events"

// A guest and a restricted user cannot detect changes of an object that they may not see. Except for times and cursors,
// complete responses stay the same, and cursors do not depend on hidden changes.
func TestCursorsHideForeignChanges(t *testing.T) {
	onEach(t, func(p *probe) {
		s := p.open()
		namespace := s.visible()
		_, guest := s.share("/r/"+configMaps+"?ns="+namespace,
			part{Resource: configMaps, Namespaces: []string{namespace}},
			part{Resource: events, Namespaces: []string{namespace}})
		user := must(s.user(p.Context(), namespace, "onlooker", rbacv1.PolicyRule{
			APIGroups: []string{""},
			Resources: []string{"configmaps", "events"},
			Verbs:     []string{"get", "list", "watch"},
		}))(p)
		// A user who may see all namespaces makes the program watch all of them at once.
		for _, kind := range []string{configMaps, events} {
			s.eventuallyListed(get("/api/v1/snapshot/"+kind, bearer(s.creator)))
		}
		for _, o := range []onlooker{{"a guest", guest, namespace}, {"a restricted user", bearer(user), namespace}} {
			for _, kind := range []string{configMaps, events} {
				s.eventuallyListed(get("/api/v1/snapshot/"+kind+"?ns="+namespace, o.header))
			}
			s.guess(o)
		}
	})
}

// eventuallyListed repeats a request for a snapshot until the snapshot is complete.
func (s *site) eventuallyListed(r request) {
	s.Helper()
	s.check(eventually(30*time.Second, func() error {
		var state struct{ State string }
		a := s.do(r)
		if err := json.Unmarshal([]byte(a.body), &state); err != nil || state.State != "live" {
			return fmt.Errorf("the state is %d %q", a.status, state.State)
		}
		return nil
	}))
}

// guess takes pairs of readings of all responses. In every second pair, hidden objects change between the two readings.
// An onlooker, a reader with few permissions, uses cursors to guess which pairs these are. The test records its
// advantage over chance: 100 % is certainty, 0 % is chance.
func (s *site) guess(o onlooker) {
	s.Helper()
	rounds := pick(6, 200)
	t := &tally{probe: s.probe}
	var cursors [2]int
	first := map[string]string{}
	lasting := must(s.openStream(s.Context(), readerAddress(0), o, nil))(s.probe)
	defer lasting.close()
	must(lasting.cursors())(s.probe)
	for round := range 2 * rounds {
		before := s.readings(o, round)
		_, resume := s.streamed(o, round, nil)
		if round%2 == 1 {
			s.changeHidden(fmt.Sprint(o.who, round))
		}
		after := s.readings(o, round)
		for path, text := range after {
			if cursorPattern().FindString(text) != cursorPattern().FindString(before[path]) {
				cursors[round%2]++
			}
		}
		messages, _ := s.streamed(o, round, resume)
		maps.Copy(after, messages)
		for name, text := range after {
			masked := mask(text)
			if first[name] == "" {
				first[name] = masked
			}
			t.note(masked == first[name], "%s in round %d: %s", name, round, difference(first[name], masked))
		}
	}
	s.Logf("%d rounds with and %d without hidden changes, %d responses and views", rounds, rounds, len(first))
	t.require("responses and messages to "+o.who+" with and without hidden changes",
		"the same, except for times and cursors")
	silence := &tally{probe: s.probe}
	lasting.noteSilence(silence)
	silence.require("subscriptions of "+o.who+" that last during hidden changes",
		"only heartbeats, digests and empty messages, at their pace")
	advantage := math.Abs(float64(cursors[1]-cursors[0])) / float64(max(1, cursors[0], cursors[1]))
	s.require(advantage <= 0.34, "cursors of "+o.who+" tell of hidden changes", "advantage at most 34 %",
		"advantage %.0f %% (%d cursors differ in %d rounds with a change, %d without)", 100*advantage, cursors[1],
		rounds,
		cursors[0])
}

// difference returns the parts of a and b around their first difference.
func difference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	show := func(text string) string { return text[max(0, at-60):min(len(text), at+60)] }
	return fmt.Sprintf("%q is now %q (%d and %d bytes)", show(a), show(b), len(a), len(b))
}
