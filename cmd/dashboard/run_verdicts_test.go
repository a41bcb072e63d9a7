//go:build integration

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// shownVerdict is the verdict on an object in one place. Some places show a reason and a sentence only for severities
// above OK.
type shownVerdict struct{ Severity, Reason, Sentence string }

func (v shownVerdict) normal() shownVerdict {
	switch v.Severity {
	case "", "none":
		return shownVerdict{Severity: "none"}
	case "ok":
		return shownVerdict{Severity: "ok"}
	}
	return v
}

// changed returns a copy of the verdicts, each changed by a function.
func changed(verdicts map[string]shownVerdict, change func(shownVerdict) shownVerdict) map[string]shownVerdict {
	found := make(map[string]shownVerdict)
	for key, v := range verdicts {
		found[key] = change(v)
	}
	return found
}

func onlySeverity(v shownVerdict) shownVerdict { return shownVerdict{Severity: v.Severity} }

// withoutReason removes the reason, which a CSV file does not contain.
func withoutReason(v shownVerdict) shownVerdict { return shownVerdict{v.Severity, "", v.Sentence} }

// verdictKinds returns the resources that the test compares most thoroughly: those whose objects change, or can have
// inherited verdicts in the demo cluster, and those of the demo's custom resources.
func verdictKinds() []string {
	return []string{
		certificates, gadgets, backups, "shop.example.com/v1/featureflags",
		"core/v1/pods", "core/v1/nodes", "core/v1/services", "core/v1/persistentvolumeclaims", "core/v1/namespaces",
		"apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets", "apps/v1/daemonsets", "batch/v1/jobs",
		"batch/v1/cronjobs", "networking.k8s.io/v1/ingresses", "autoscaling/v2/horizontalpodautoscalers",
		"policy/v1/poddisruptionbudgets", "apiregistration.k8s.io/v1/apiservices",
	}
}

const backups = "data.example.com/v1/backups" // A custom resource of the demo. Some backups have failed.

// otherKinds returns all further resources that the program lists and watches.
func otherKinds(d *dashboard) (refs []string) {
	var resources struct {
		Resources []struct {
			Ref   string
			Verbs []string
		}
	}
	d.getJSON("/api/v1/resources", &resources)
	for _, r := range resources.Resources {
		isListed := slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
		if isListed && !slices.Contains(verdictKinds(), r.Ref) {
			refs = append(refs, r.Ref)
		}
	}
	return refs
}

// The test subscribes to some objects one by one. For the others, a comparison of the rows is enough.
const (
	maxShownObjects      = 40
	maxShownOtherObjects = 2 // Of each resource that is not in verdictKinds.
)

// An object has the same verdict in all views, for users and guests, and is in a finding exactly if it is degraded or
// failed. The sidebar counts these objects. Before each comparison, objects of many kinds, including custom ones, are
// created, broken, repaired and deleted. The views need some time to follow, so the comparison of each resource is
// repeated until all views agree. The test first compares the views while the objects change.
func TestVerdictsAreTheSameEverywhere(t *testing.T) {
	changes := newChurn(t)
	for range 2 { // After the second step, some objects are broken.
		if err := changes.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d := startReady(t, adminConfig(t))
	views, counts := newVerdictViews(t, d, verdictKinds()), followSidebar(t, d)
	compareDuringChanges(t, views, changes)
	objects, others := 0, otherKinds(d)
	problems := make(map[string]int)
	for n, ref := range slices.Concat(verdictKinds(), others) {
		limit, isOther := maxShownObjects, n >= len(verdictKinds())
		if isOther {
			limit = maxShownOtherObjects
		}
		if n%3 == 0 && !isOther {
			if err := changes.step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, ref, func() error {
			rows, bad, err := views.compare(ref, changes.namespace, limit)
			objects, problems[ref] = objects+rows, max(problems[ref], bad)
			return err
		})
	}
	eventually(t, "the sidebar has the numbers of the rows", func() error {
		return counts.compare(d, slices.Concat(verdictKinds(), others))
	})
	maps.DeleteFunc(problems, func(_ string, count int) bool { return count == 0 })
	t.Logf("%d resources, %d objects, degraded or failed: %v", len(verdictKinds())+len(others), objects, problems)
	for _, ref := range []string{certificates, gadgets, backups, "core/v1/services"} {
		if problems[ref] == 0 {
			t.Errorf("%s had no problems", ref)
		}
	}
	if len(others) < 30 {
		t.Errorf("got %d further resources, want at least 30", len(others))
	}
}

// compare returns an error if two views of a resource disagree. It also returns the number of rows, and how many of
// them are problems.
func (v *verdictViews) compare(ref, preferred string, limit int) (objects, problems int, err error) {
	views := v.versioned(ref)
	rows := verdictsOf(views["rows"])
	bad := maps.Clone(rows)
	maps.DeleteFunc(bad, func(_ string, v shownVerdict) bool { return v.Severity != "failed" && v.Severity != "degraded" })
	fail := func(view string, got, want map[string]shownVerdict) (objects, problems int, err error) {
		return len(rows), len(bad), fmt.Errorf("%s: %s", view, difference(got, want))
	}
	for view, objects := range views {
		if got := verdictsOf(objects); !maps.Equal(got, rows) {
			return fail(view, got, rows)
		}
	}
	if got, want := v.csv(ref), changed(rows, withoutReason); !maps.Equal(got, want) {
		return fail("CSV", got, want)
	}
	if slices.Contains(v.shared, ref) {
		got, want := verdictsOf(v.guestSeverities(ref)), changed(rows, onlySeverity)
		if !maps.Equal(got, want) {
			return fail("guest", got, want)
		}
	}
	if got, want := v.wallDisplay(ref, rows); !maps.Equal(got, want) {
		return fail("wall display", got, want)
	}
	listed, isComplete := listedProblems(v.d, ref)
	want := maps.Clone(bad)
	if !isComplete {
		maps.DeleteFunc(want, func(key string, _ shownVerdict) bool { _, ok := listed[key]; return !ok })
	}
	if !maps.Equal(listed, want) {
		return fail("problems", listed, want)
	}
	for key, s := range v.objects(ref, preferred, limit, views["rows"]) {
		if rows[key] != s.verdict {
			return len(rows), len(bad), fmt.Errorf("object %s: got %q, want %q", key, s.verdict, rows[key])
		}
	}
	return len(rows), len(bad), nil
}

// compareDuringChanges compares verdicts while their objects change, so the views can show different versions of an
// object. The verdict on an object alone depends only on its version: no view may disagree about equal versions of the
// custom resources. Other objects inherit verdicts, which can change although the object does not change. If views
// disagree about such an object, they must agree about it later, while objects still change.
func compareDuringChanges(t *testing.T, views *verdictViews, changes *churn) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var changing sync.WaitGroup
	var failure error
	var steps atomic.Int32
	changing.Go(func() {
		for ctx.Err() == nil {
			if err := changes.step(ctx); err != nil && ctx.Err() == nil {
				failure = err
				return
			}
			steps.Add(1)
		}
	})
	compared := 0
	// After the two steps at the start of the test, two more steps contain all phases of objects.
	for round := 0; round < 2 || steps.Load() < 2 && round < 20; round++ {
		for _, k := range churnedKinds() {
			compared += views.compareChanging(&k, changes.namespace)
		}
	}
	stop()
	changing.Wait()
	if failure != nil {
		t.Error(failure)
	}
	t.Logf("compared %d equal versions during %d steps", compared, steps.Load())
	if compared == 0 || steps.Load() < 2 {
		t.Error("the comparison during changes did not cover all phases of objects")
	}
}

// compareChanging returns how many objects in views it has compared.
func (v *verdictViews) compareChanging(k *churned, namespace string) (compared int) {
	first := v.compareVersions(k.ref, namespace)
	if k.subresource != "" && len(first.disagreeing) > 0 {
		v.t.Errorf("%s, during changes: %v", k.ref, first.disagreeing)
	}
	compared = len(first.disagreeing) + len(first.agreeing)
	eventually(v.t, k.ref+": the views agree during changes", func() error {
		if len(first.disagreeing) == 0 {
			return nil
		}
		later := v.compareVersions(k.ref, namespace)
		maps.DeleteFunc(first.disagreeing, func(object, _ string) bool {
			_, key, _ := strings.Cut(object, " ")
			_, exists := later.rows[key]
			return later.agreeing[object] || !exists
		})
		return fmt.Errorf("%v, now %v", first.disagreeing, later.disagreeing)
	})
	return compared
}

// versionComparison has the objects in views that agree with the rows, and those that disagree, each with a text. The
// keys contain the view and the key of the object in rows.
type versionComparison struct {
	rows        map[string]seen
	agreeing    map[string]bool
	disagreeing map[string]string
}

// compareVersions compares the verdicts in those views that show versions. It skips objects with different versions.
func (v *verdictViews) compareVersions(ref, preferred string) versionComparison {
	views := v.versioned(ref)
	rows := views["rows"]
	c := versionComparison{rows, make(map[string]bool), make(map[string]string)}
	delete(views, "rows")
	views["object"] = v.objects(ref, preferred, 4, rows)
	views["guest"] = v.guestSeverities(ref)
	for view, objects := range views {
		for key, s := range objects {
			row, ok := rows[key]
			want := row.verdict
			if view == "guest" {
				want = onlySeverity(want)
			}
			switch {
			case !ok || row.version != s.version:
			case s.verdict == want:
				c.agreeing[view+" "+key] = true
			default:
				c.disagreeing[view+" "+key] = fmt.Sprintf("version %s is %q, want %q", s.version, s.verdict, want)
			}
		}
	}
	return c
}

func difference(got, want map[string]shownVerdict) string {
	var text []string
	for key, v := range want {
		if got[key] != v {
			text = append(text, fmt.Sprintf("%s is %q, want %q", key, got[key], v))
		}
	}
	for key, v := range got {
		if _, ok := want[key]; !ok {
			text = append(text, fmt.Sprintf("%s is %q, want nothing", key, v))
		}
	}
	slices.Sort(text)
	return strings.Join(text[:min(5, len(text))], "; ")
}
