package watch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
)

// A user can share only data that the user may read. For other data, an error names the missing permission.
// Invariant: I30.
func TestUsersShareOnlyReadableData(t *testing.T) {
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
		title, detail string // The title, and a part of the detail, of the expected error; empty if no error is expected.
	}{
		"all permitted namespaces": {"ann", part(watch.Part{}), 0, "", ""},
		"permitted namespace": {
			"ann", part(watch.Part{Namespaces: []string{"a"}, Labels: "app=web,tier!=db", Text: "x"}), 0, "", "",
		},
		"an object":                       {"ann", part(watch.Part{Namespaces: []string{"a"}, Name: "p"}), 0, "", ""},
		"missing object":                  {"ann", part(watch.Part{Namespaces: []string{"a"}, Name: "none"}), 0, "", ""},
		"object with get permission only": {"getter", part(watch.Part{Namespaces: []string{"b"}, Name: "q"}), 0, "", ""},
		"logs": {
			"ann", part(watch.Part{Resource: "core/v1/pods/log", Namespaces: []string{"a"}}), 0, "", "",
		},
		"program as viewer": {
			"",
			append(part(watch.Part{Namespaces: []string{"b"}}), part(watch.Part{Resource: "core/v1/pods/log"})...),
			0,
			"",
			"",
		},
		"forbidden namespace": {
			"ann", part(watch.Part{Namespaces: []string{"b"}}), status.Refused, "Forbidden", `in the namespace "b"`,
		},
		"permitted and forbidden namespace": {
			"ann", part(watch.Part{Namespaces: []string{"a", "b"}}), status.Refused, "Forbidden", `in the namespace "b"`,
		},
		"object in a forbidden namespace": {
			"ann", part(watch.Part{Namespaces: []string{"b"}, Name: "q"}), status.Refused, "Forbidden", "get Pods",
		},
		"forbidden resource": {
			"ann", part(watch.Part{Resource: "core/v1/namespaces"}), status.Refused, "Forbidden", "list Namespaces",
		},
		"forbidden logs": {
			"lister", part(watch.Part{Resource: "core/v1/pods/log"}), status.Refused, "Forbidden", "get pods/log",
		},
		"get permission without list": {"getter", part(watch.Part{}), status.Refused, "Forbidden", "list Pods"},
		"a second part": {
			"ann",
			append(part(watch.Part{}), part(watch.Part{Resource: "core/v1/namespaces"})...),
			status.Refused,
			"Forbidden",
			"Namespaces",
		},
		"unknown resource": {
			"ann", part(watch.Part{Resource: "no/such/kind"}), status.Unknown, "Unknown resource", "no/such/kind",
		},
		"resource without group and version": {
			"ann", part(watch.Part{Resource: "pods"}), status.Unknown, "Unknown resource", "pods",
		},
		"logs of another resource": {
			"ann", part(watch.Part{Resource: "core/v1/services/log"}), status.Unknown, "Unknown resource", "log",
		},
		"invalid label selector": {
			"ann", part(watch.Part{Labels: "a=b=c"}), status.Invalid, "Invalid label selector", "a=b=c",
		},
		"label selector too long": {
			"ann", part(watch.Part{Labels: strings.Repeat("a", 5000)}), status.Invalid, "Selector too long", "",
		},
		"invalid namespace": {
			"ann", part(watch.Part{Namespaces: []string{"A_B"}}), status.Invalid, "Invalid namespace", "A_B",
		},
		"invalid name": {
			"ann", part(watch.Part{Namespaces: []string{"a"}, Name: "../q"}), status.Invalid, "Invalid name", "",
		},
		"an object without a namespace": {
			"ann", part(watch.Part{Name: "p"}), status.Invalid, "Invalid object reference", "exactly one namespace",
		},
		"object in two namespaces": {
			"ann",
			part(watch.Part{Namespaces: []string{"a", "b"}, Name: "p"}),
			status.Invalid,
			"Invalid object reference",
			"exactly one namespace",
		},
		"namespace of a cluster-scoped resource": {
			"all",
			part(watch.Part{Resource: "core/v1/namespaces", Namespaces: []string{"a"}}),
			status.Invalid,
			"Not namespaced",
			"",
		},
		"regarding on another resource": {
			"all",
			part(watch.Part{Resource: "core/v1/namespaces", Regarding: "pod/web"}),
			status.Invalid,
			"Invalid object reference",
			"only for events",
		},
		"regarding with an empty group": {
			"all",
			part(watch.Part{Resource: "core/v1/events", Regarding: "pod./web"}),
			status.Invalid,
			"Invalid object reference",
			"kind, group and name",
		},
		"regarding without a kind": {
			"all",
			part(watch.Part{Resource: "core/v1/events", Regarding: ".apps/web"}),
			status.Invalid,
			"Invalid object reference",
			"kind, group and name",
		},
		"regarding without a name": {
			"all",
			part(watch.Part{Resource: "core/v1/events", Regarding: "deployment.apps/"}),
			status.Invalid,
			"Invalid object reference",
			"kind, group and name",
		},
		"regarding an object": {
			"", part(watch.Part{Resource: "core/v1/events", Regarding: "deployment.apps/web"}), 0, "", "",
		},
		"regarding an object without a group": {
			"", part(watch.Part{Resource: "core/v1/events", Regarding: "deployment/web"}), 0, "", "",
		},
		"duplicate resource": {
			"ann",
			append(part(watch.Part{Namespaces: []string{"a"}}), part(watch.Part{})...),
			status.Invalid,
			"Duplicate resource",
			pods,
		},
		"not logged in": {"-", part(watch.Part{}), status.Refused, "Forbidden", "logged in"},
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
						t.Errorf("AuthorizeShare: got error %v, want none", err)
					}
					return
				}
				wantProblem(t, err, test.cause, test.title, test.detail)
			})
		})
	}
}

// Viewers of a share link get the log of a pod only while the pod matches the labels and words of the link.
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
			"all pods":                {[]watch.Part{{Resource: pods}, logs}, "a/p b/q"},
			"some pods":               {[]watch.Part{{Resource: pods, Namespaces: []string{"a"}}, logs}, "a/p"},
			"logs with a text filter": {[]watch.Part{{Resource: pods}, {Resource: pods + "/log", Text: "failed"}}, "a/r"},
			"no pods":                 {[]watch.Part{logs}, ""},
			"logs of an unshared pod": {
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
				} else if !strings.Contains(err.Error(), "link does not include") {
					// The link shares this log: the request failed only because the fake API server has no logs.
					got = append(got, key)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s: got shared logs of %q, want %q", name, got, test.want)
			}
		}
	})
}
