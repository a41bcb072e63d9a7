package watch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/apitest"
	"glasshouse/internal/watch/status"
)

// Invariant: I30.
func TestAuthorizeShare(t *testing.T) {
	part := func(p watch.Part) []watch.Part {
		if p.Resource == "" {
			p.Resource = pods
		}
		return []watch.Part{p}
	}
	for name, test := range map[string]struct {
		name          string
		parts         []watch.Part
		cause         status.Cause
		title, detail string // The expected title and part of the detail; empty for no error.
	}{
		"all of hers": {"ann", part(watch.Part{}), 0, "", ""},
		"her namespace": {
			"ann", part(watch.Part{Namespaces: []string{"a"}, Labels: "app=web,tier!=db", Text: "x"}), 0, "", "",
		},
		"an object":                  {"ann", part(watch.Part{Namespaces: []string{"a"}, Name: "p"}), 0, "", ""},
		"one that is not there":      {"ann", part(watch.Part{Namespaces: []string{"a"}, Name: "none"}), 0, "", ""},
		"an object that she may get": {"getter", part(watch.Part{Namespaces: []string{"b"}, Name: "q"}), 0, "", ""},
		"logs": {
			"ann", part(watch.Part{Resource: "core/v1/pods/log", Namespaces: []string{"a"}}), 0, "", "",
		},
		"the program's": {
			"",
			append(part(watch.Part{Namespaces: []string{"b"}}), part(watch.Part{Resource: "core/v1/pods/log"})...),
			0,
			"",
			"",
		},
		"another namespace": {
			"ann", part(watch.Part{Namespaces: []string{"b"}}), status.Refused, "Forbidden", `in the namespace "b"`,
		},
		"another namespace in addition to hers": {
			"ann", part(watch.Part{Namespaces: []string{"a", "b"}}), status.Refused, "Forbidden", `in the namespace "b"`,
		},
		"an object of another": {
			"ann", part(watch.Part{Namespaces: []string{"b"}, Name: "q"}), status.Refused, "Forbidden", "get pods",
		},
		"a kind that she may not see": {
			"ann", part(watch.Part{Resource: "core/v1/namespaces"}), status.Refused, "Forbidden", "list namespaces",
		},
		"logs that she may not see": {
			"lister", part(watch.Part{Resource: "core/v1/pods/log"}), status.Refused, "Forbidden", "get pods/log",
		},
		"a list that she may not see": {"getter", part(watch.Part{}), status.Refused, "Forbidden", "list pods"},
		"a second part": {
			"ann",
			append(part(watch.Part{}), part(watch.Part{Resource: "core/v1/namespaces"})...),
			status.Refused,
			"Forbidden",
			"namespaces",
		},
		"a kind that is none": {
			"ann", part(watch.Part{Resource: "no/such/kind"}), status.Unknown, "Unknown resource", "no/such/kind",
		},
		"no kind": {
			"ann", part(watch.Part{Resource: "pods"}), status.Unknown, "Unknown resource", "pods",
		},
		"other logs": {
			"ann", part(watch.Part{Resource: "core/v1/services/log"}), status.Unknown, "Unknown resource", "log",
		},
		"a selector that is none": {
			"ann", part(watch.Part{Labels: "a=b=c"}), status.Invalid, "Invalid label selector", "a=b=c",
		},
		"a selector that is long": {
			"ann", part(watch.Part{Labels: strings.Repeat("a", 5000)}), status.Invalid, "Selector too long", "",
		},
		"a namespace that is none": {
			"ann", part(watch.Part{Namespaces: []string{"A_B"}}), status.Invalid, "Invalid namespace", "A_B",
		},
		"a name that is none": {
			"ann", part(watch.Part{Namespaces: []string{"a"}, Name: "../q"}), status.Invalid, "Invalid name", "",
		},
		"an object without a namespace": {
			"ann", part(watch.Part{Name: "p"}), status.Invalid, "Invalid object reference", "exactly one namespace",
		},
		"an object of two": {
			"ann",
			part(watch.Part{Namespaces: []string{"a", "b"}, Name: "p"}),
			status.Invalid,
			"Invalid object reference",
			"exactly one namespace",
		},
		"a namespace for what has none": {
			"all",
			part(watch.Part{Resource: "core/v1/namespaces", Namespaces: []string{"a"}}),
			status.Invalid,
			"Not namespaced",
			"",
		},
		"events that are about nothing": {
			"all",
			part(watch.Part{Resource: "core/v1/namespaces", Regarding: "pod/web"}),
			status.Invalid,
			"Invalid object reference",
			"only for events",
		},
		"events of no group": {
			"all",
			part(watch.Part{Resource: "core/v1/events", Regarding: "pod./web"}),
			status.Invalid,
			"Invalid object reference",
			"kind, group and name",
		},
		"events of a group alone": {
			"all",
			part(watch.Part{Resource: "core/v1/events", Regarding: ".apps/web"}),
			status.Invalid,
			"Invalid object reference",
			"kind, group and name",
		},
		"events of no name": {
			"all",
			part(watch.Part{Resource: "core/v1/events", Regarding: "deployment.apps/"}),
			status.Invalid,
			"Invalid object reference",
			"kind, group and name",
		},
		"events of an object": {
			"", part(watch.Part{Resource: "core/v1/events", Regarding: "deployment.apps/web"}), 0, "", "",
		},
		"events of any group": {
			"", part(watch.Part{Resource: "core/v1/events", Regarding: "deployment/web"}), 0, "", "",
		},
		"a kind twice": {
			"ann",
			append(part(watch.Part{Namespaces: []string{"a"}}), part(watch.Part{})...),
			status.Invalid,
			"Duplicate resource",
			pods,
		},
		"nobody's": {"-", part(watch.Part{}), status.Refused, "Forbidden", "logged in"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, cluster, _ := newGuardedCluster(t)
				server.AddKind(apitest.Kind{Ref: "core/v1/events", Kind: "Event", Columns: `[]`})
				viewer := user(test.name)
				switch test.name {
				case "":
					viewer = watch.Viewer{Program: true}
				case "-":
					viewer = watch.Viewer{}
				}
				err := cluster.For(viewer).AuthorizeShare(t.Context(), &watch.Scope{Parts: test.parts})
				if test.title == "" {
					if err != nil {
						t.Errorf("it may not be shared: %v", err)
					}
					return
				}
				wantProblem(t, err, test.cause, test.title, test.detail)
			})
		})
	}
}

// Guests (viewers of a share link) get a pod's log only while the pod matches the shared labels or words, and only
// if the pod itself is shared.
// Invariant: I30.
func TestGuestsGetLogsByLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster, _ := newGuardedCluster(t)
		server.Set(pods, pod("a", "r", "Failed"))
		<-time.After(time.Second)
		logs := watch.Part{Resource: pods + "/log", Labels: "app=web"}
		for name, test := range map[string]struct {
			parts []watch.Part
			want  string
		}{
			"all pods":      {[]watch.Part{{Resource: pods}, logs}, "a/p b/q"},
			"some pods":     {[]watch.Part{{Resource: pods, Namespaces: []string{"a"}}, logs}, "a/p"},
			"pods of words": {[]watch.Part{{Resource: pods}, {Resource: pods + "/log", Text: "failed"}}, "a/r"},
			"no pods":       {[]watch.Part{logs}, ""},
			"logs of an other": {
				[]watch.Part{{Resource: pods}, {Resource: pods + "/log", Namespaces: []string{"a"}, Name: "r"}}, "a/r",
			},
		} {
			access := cluster.For(watch.Viewer{Program: true, Scope: &watch.Scope{Parts: test.parts}})
			var got []string
			for _, key := range []string{"a/p", "a/r", "b/q"} {
				ns, object, _ := strings.Cut(key, "/")
				body, err := access.Logs(t.Context(), ns, object, watch.LogOptions{Tail: 10})
				if err == nil {
					got = append(got, key)
					_ = body.Close()
				} else if !strings.Contains(err.Error(), "shared with you") {
					got = append(got, key) // Shared: the error only means that the fake API server has no log.
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s: the logs of %q are shared, want %q", name, got, test.want)
			}
		}
	})
}
