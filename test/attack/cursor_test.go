package attack

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A cursor does not reveal whether an object has changed that its reader may not see.
func TestCursorsHideForeignChanges(t *testing.T) {
	onEach(t, func(p *probe) {
		s := p.open()
		_, guest := s.share("/r/"+configMaps+"?ns="+s.namespace+"&labels=size%3Dhuge",
			part{Resource: configMaps, Namespaces: []string{s.namespace}, Labels: "size=huge"})
		// A user who may see all namespaces makes the program watch all of them at once.
		all := get("/api/v1/snapshot/"+configMaps, bearer(s.creator))
		s.eventuallyListed(all)
		for who, r := range map[string]request{
			"a guest":           get("/api/v1/snapshot/"+configMaps, guest),
			"a restricted user": get("/api/v1/snapshot/"+configMaps+"?ns="+s.namespace, bearer(s.restricted)),
		} {
			s.eventuallyListed(r)
			s.guess(who, r)
		}
	})
}

// observation is what a reader can compare between two snapshots.
type observation struct {
	Cursor string
	length int
}

func (s *site) observe(r request) (o observation) {
	s.Helper()
	a := s.do(r)
	if err := json.Unmarshal([]byte(a.body), &o); err != nil || a.status != http.StatusOK || o.Cursor == "" {
		s.Fatalf("the snapshot is answered with %d %.300s", a.status, a.body)
	}
	o.length = len(a.body)
	return o
}

// eventuallyListed waits until a snapshot is complete.
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

// guess polls pairs of snapshots. In every second pair, a hidden object changes between the two. A reader guesses in
// which pairs. Its advantage over chance is recorded: 100 % is certainty, 0 % is chance.
func (s *site) guess(who string, r request) {
	s.Helper()
	rounds := pick(12, 60)
	var cursors, lengths [2]int
	for round := range 2 * rounds {
		before := s.observe(r)
		if round%2 == 1 {
			s.changeHidden(fmt.Sprint(who, round))
		}
		after := s.observe(r)
		if before.Cursor != after.Cursor {
			cursors[round%2]++
		}
		if before.length != after.length {
			lengths[round%2]++
		}
	}
	advantage := func(differs [2]int) float64 { return math.Abs(float64(differs[1]-differs[0])) / float64(rounds) }
	most := max(advantage(cursors), advantage(lengths))
	s.require(most <= 0.34, "cursors of "+who+" tell of hidden changes", "advantage at most 34 %",
		"advantage %.0f %% (cursor differs in %d of %d with a change, %d without)", 100*most, cursors[1], rounds, cursors[0])
}

// changeHidden changes an object in the hidden namespace, and waits until the program knows.
func (s *site) changeHidden(value string) {
	s.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "oracle"}, Data: map[string]string{"value": value}}
	maps := s.Core.CoreV1().ConfigMaps(s.hidden)
	written, err := maps.Update(s.Context(), cm, metav1.UpdateOptions{})
	if err != nil {
		written, err = maps.Create(s.Context(), cm, metav1.CreateOptions{})
	}
	s.check(err)
	all := get("/api/v1/snapshot/"+configMaps+"?ns="+s.hidden, bearer(s.creator))
	s.check(eventually(10*time.Second, func() error {
		if a := s.do(all); !strings.Contains(a.body, `"`+written.ResourceVersion+`"`) {
			return fmt.Errorf("the program does not have the version %q", written.ResourceVersion)
		}
		return nil
	}))
}
