//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type authoredEvent struct {
	Op, Name, UID, RV string
	Time              time.Time
	Patch             []struct{ Op, Path string }
	By                struct{ Manager, Operation, Subresource string }
	Authors           []struct {
		Manager, Operation, Subresource string
		Ops                             []int
	}
}

// pathAuthors returns the field managers of each operation in the event's patch. A key is an operation and a path, such
// as "add /data/a". The value for the key "by" is the author of the event: manager, operation and subresource.
func (e *authoredEvent) pathAuthors() map[string]string {
	authors := map[string]string{"by": strings.TrimSpace(e.By.Manager + " " + e.By.Operation + " " + e.By.Subresource)}
	for i, op := range e.Patch {
		var names []string
		if len(e.Authors) == 0 {
			names = append(names, e.By.Manager)
		}
		for _, a := range e.Authors {
			if slices.Contains(a.Ops, i) {
				names = append(names, a.Manager)
			}
		}
		authors[op.Op+" "+op.Path] = strings.Join(names, " ")
	}
	return authors
}

func authoredEvents(t *testing.T, tab *livetest.Tab, n int) (events []authoredEvent) {
	t.Helper()
	for len(events) < n {
		var m struct{ Events []authoredEvent }
		if err := json.Unmarshal([]byte(tab.UntilContains(`"type":"events"`)), &m); err != nil {
			t.Fatal(err)
		}
		events = append(events, m.Events...)
	}
	return events
}

// Invariant: I3.
func TestChangesNameTheirAuthors(t *testing.T) {
	d := startReady(t, adminConfig(t))
	c := newAPIClient(t, adminConfig(t))
	ns := c.namespace(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	feed, object := dial(ctx, t, d), dial(ctx, t, d)
	feed.Send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/services","ns":[%q],"view":"changes"}`, ns))
	object.Send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/services","ns":[%q],"name":"web",`+
		`"view":"object"}`, ns))
	if m := feed.UntilContains(`"type":"snapshot"`); !strings.Contains(m, `"events":[],"last":true`) {
		t.Errorf("snapshot of a new namespace: got %s, want no events", m)
	}
	object.UntilContains(`"type":"snapshot"`)

	services := c.core.Services(ns)
	patch := func(manager string, kind types.PatchType, body string, subresources ...string) {
		t.Helper()
		if _, err := services.Patch(ctx, "web", kind, []byte(body), metav1.PatchOptions{FieldManager: manager},
			subresources...); err != nil {
			t.Fatal(err)
		}
	}
	const service = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"%s},"spec":{"type":"LoadBalancer",` +
		`"ports":[%s]}}`
	const http, tls, metrics = `{"name":"http","port":80}`, `{"name":"tls","port":443}`,
		`{"name":"metrics","port":9090}`
	for _, step := range []struct {
		name string
		do   func()
		want map[string]string
	}{
		{
			"a field manager creates the Service",
			func() {
				patch("argocd", types.ApplyPatchType,
					fmt.Sprintf(service, `,"labels":{"app":"web","tier":"front"}`, http+","+tls))
			},
			map[string]string{"by": "argocd Apply"},
		},
		{
			"another field manager applies a port and a label",
			func() {
				patch("monitoring", types.ApplyPatchType, fmt.Sprintf(service, `,"labels":{"scrape":"yes"}`, metrics))
			},
			map[string]string{
				"by": "monitoring Apply", "add /metadata/labels/scrape": "monitoring",
				"add /spec/ports/2": "monitoring", "replace /metadata/resourceVersion": "monitoring",
			},
		},
		{
			"a controller writes the status",
			func() {
				patch("balancer", types.MergePatchType, `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.7"}]}}}`,
					"status")
			},
			map[string]string{
				"by": "balancer Update status", "add /status/loadBalancer/ingress": "balancer",
				"replace /metadata/resourceVersion": "balancer",
			},
		},
		{
			"the first field manager changes the target port of its second port",
			func() {
				patch("argocd", types.ApplyPatchType,
					fmt.Sprintf(service, `,"labels":{"app":"web","tier":"front"}`,
						http+`,{"name":"tls","port":443,"targetPort":8443}`))
			},
			map[string]string{
				"by": "argocd Apply", "replace /spec/ports/1/targetPort": "argocd",
				"replace /metadata/resourceVersion": "argocd",
			},
		},
		{
			"the first field manager removes a label",
			func() {
				<-time.After(1100 * time.Millisecond) // Wait, because times in managedFields have a resolution of 1 s.
				patch("argocd", types.ApplyPatchType,
					fmt.Sprintf(service, `,"labels":{"app":"web"}`,
						http+`,{"name":"tls","port":443,"targetPort":8443}`))
			},
			map[string]string{
				"by": "argocd Apply", "remove /metadata/labels/tier": "argocd",
				"replace /metadata/resourceVersion": "argocd",
			},
		},
		{
			"an update removes a field and leaves no managedFields entry for it",
			func() {
				<-time.After(1100 * time.Millisecond)
				patch("kubectl-label", types.MergePatchType, `{"metadata":{"labels":{"scrape":null}}}`)
			},
			map[string]string{"by": "", "remove /metadata/labels/scrape": "", "replace /metadata/resourceVersion": ""},
		},
		{
			"the Service is deleted",
			func() {
				if err := services.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			},
			map[string]string{"by": ""},
		},
	} {
		step.do()
		feedEvent, objectEvent := authoredEvents(t, feed, 1)[0], authoredEvents(t, object, 1)[0]
		if got := feedEvent.pathAuthors(); !maps.Equal(got, step.want) {
			t.Errorf("%s: authors by path in the changes view:\ngot  %v\nwant %v", step.name, got, step.want)
		}
		if feedEvent.Op == "update" && !maps.Equal(objectEvent.pathAuthors(), step.want) {
			t.Errorf("%s: authors by path in the object view:\ngot  %v\nwant "+
				"%v", step.name, objectEvent.pathAuthors(), step.want)
		}
		if objectEvent.Op != feedEvent.Op || feedEvent.Name != "web" || feedEvent.RV == "" ||
			time.Since(feedEvent.Time).Abs() > time.Minute {
			t.Errorf("%s: got event %+v in the changes view, %+v in the object view; want the same "+
				"operation", step.name, feedEvent, objectEvent)
		}
	}

	lateSocket := dial(ctx, t, d)
	lateSocket.Send(fmt.Sprintf(`{"op":"subscribe","id":1,"resource":"core/v1/services","ns":[%q],"view":"changes"}`, ns))
	var snapshot struct {
		Since  time.Time
		Events []authoredEvent
	}
	if err := json.Unmarshal([]byte(lateSocket.UntilContains(`"type":"snapshot"`)), &snapshot); err != nil {
		t.Fatal(err)
	}
	var ops []string
	for i := range snapshot.Events {
		ops = append(ops, strings.TrimSpace(snapshot.Events[i].Op+" "+snapshot.Events[i].By.Manager))
	}
	if got, want := strings.Join(ops, ", "),
		"add argocd, update monitoring, update balancer, update argocd, update argocd, update, delete"; got != want {
		t.Errorf("history:\ngot  %s\nwant %s", got, want)
	}
}
