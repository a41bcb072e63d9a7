package overview

import (
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// A finding has the severity of the object that it names. The order of the findings depends on their worst members.
func TestGroupKeepsTheSeverityOfItsObject(t *testing.T) {
	t.Parallel()
	now := time.Now()
	newItem := func(kind, name string, severity verdict.Severity, cause *verdict.Object, age time.Duration) item {
		i := item{Object: verdict.Object{Kind: kind, Name: name}, Since: func() (time.Time, bool) {
			return now.Add(-age), true
		}}
		if i.Severity = severity; cause != nil {
			i.Cause = &verdict.Cause{Object: *cause}
		}
		return i
	}
	web := verdict.Object{Kind: "Deployment", Name: "web"}
	pod := newItem("Pod", "web-1", verdict.Degraded, nil, time.Hour)
	pod.Owner = &web
	findings := group([]item{
		newItem("PersistentVolumeClaim", "new", verdict.Degraded, nil, time.Minute),
		pod,
		newItem("Deployment", "web", verdict.Degraded, &pod.Object, time.Hour),
		newItem("Service", "web", verdict.Failed, &pod.Object, time.Hour),
		newItem("Node", "n", verdict.Failed, nil, 2*time.Hour),
	})
	want := []struct {
		kind            string
		severity, worst verdict.Severity
	}{
		{"Node", verdict.Failed, verdict.Failed},
		{"Deployment", verdict.Degraded, verdict.Failed},
		{"PersistentVolumeClaim", verdict.Degraded, verdict.Degraded},
	}
	if len(findings) != len(want) {
		t.Fatalf("got %d findings, want %d", len(findings), len(want))
	}
	for n, f := range findings {
		if f.Kind != want[n].kind || f.Severity != want[n].severity || f.Objects[0].Severity != want[n].worst {
			t.Errorf("finding %d: got %s %s with the first member %s, want %v",
				n, f.Severity, f.Kind, f.Objects[0].Severity, want[n])
		}
	}
}
