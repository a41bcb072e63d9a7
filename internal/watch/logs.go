package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"glasshouse/internal/watch/wire"
)

// LogOptions are the options for reading a container's log.
type LogOptions = wire.LogOptions

// Logs opens the log of one container of a pod, as the API server sends it. A viewer who may not get pods/log is
// refused. With Follow, the API server does not respond before the first line, so Logs waits for it until ctx ends. If
// the viewer or the program loses the permission during the read, Read fails with a *Problem that gives the reason.
func (a *Access) Logs(ctx context.Context, namespace, pod string, options LogOptions) (io.ReadCloser, error) {
	if err := checkNamespace(namespace); err != nil {
		return nil, err
	}
	if err := checkName(pod); err != nil {
		return nil, err
	}
	if options.Container != "" {
		if err := checkName(options.Container); err != nil {
			return nil, err
		}
	}
	if err := a.mayLog(ctx, namespace, pod, askedFirst()); err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancelCause(ctx)
	l := &log{reading: reading, cancel: func() { cancel(nil) }}
	l.asking.Go(func() {
		a.cluster.reviews.loseLog(reading, namespace, pod)
		cancel(&Problem{
			Cause:  Refused,
			Title:  "Forbidden",
			Detail: fmt.Sprintf("You cannot get pods/log of %s/%s any more.", namespace, pod),
		})
	})
	l.asking.Go(func() { a.loseLog(reading, namespace, pod, cancel) })
	if !options.Follow {
		late := time.AfterFunc(a.cluster.timeout, func() {
			cancel(&Problem{
				Cause: Unavailable, Title: "The API server does not answer",
				Detail: fmt.Sprintf("The log of %s/%s did not arrive within %s.", namespace, pod, a.cluster.timeout),
			})
		})
		defer late.Stop()
	}
	body, err := a.cluster.client.Logs(reading, namespace, pod, options)
	if err == nil {
		l.ReadCloser = body
		return l, nil
	}
	why := l.why()
	l.end()
	if why != nil {
		return nil, why
	}
	return nil, a.logProblem(ctx, namespace, pod, options, err)
}

// podResource is the resource of pods, which every cluster serves.
func podResource() *Resource {
	return &Resource{Version: "v1", Resource: "pods", Namespaced: true, Verbs: []string{"get", "list", "watch"}}
}

// loseLog ends the log of a pod when its viewer loses the permission to read it, or when that cannot be determined. It
// calls cut with the reason, or returns when ctx ends.
func (a *Access) loseLog(ctx context.Context, namespace, pod string, cut context.CancelCauseFunc) {
	if a.viewer.User == nil && a.viewer.Scope == nil {
		return
	}
	for range Ticks(ctx, lookEvery) {
		looking, done := context.WithTimeout(ctx, lookPatience)
		err := a.mayLog(looking, namespace, pod, askedAgain())
		done()
		if _, told := errors.AsType[*Problem](err); err != nil && !told {
			err = unsure(err)
		}
		if err != nil {
			cut(err)
			return
		}
	}
}

// mayLog checks whether the viewer may read the log of a pod. If a link shares only pods with some labels or words, the
// pod must match them in its current version.
func (a *Access) mayLog(ctx context.Context, namespace, pod string, old age) error {
	seen, err := a.mayGet(ctx, podResource(), toLog, namespace, pod, old)
	if err != nil || seen.selector == nil && !seen.ofRows() {
		return err
	}
	if err := a.viewer.Scope.narrow(podResource(), seen, toGet); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stalePatience)
	defer cancel()
	_, err = a.object(ctx, podResource(), seen, namespace, pod)
	return err
}

// log is a container log that is being read, with the rechecks of the permissions to read it.
type log struct {
	io.ReadCloser

	reading context.Context //nolint:containedctx // Its cause is the reason why the log ended.
	cancel  context.CancelFunc
	asking  sync.WaitGroup // Waits for the permission rechecks.
}

// why returns the *Problem with which this program ended the log, or nil if it did not.
func (l *log) why() error {
	if p, ok := errors.AsType[*Problem](context.Cause(l.reading)); ok {
		return p
	}
	return nil
}

// Read reads from the log. If this program ended the log, Read returns the *Problem with the reason, because the HTTP/2
// transport does not return the cause of a cancellation.
func (l *log) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if why := l.why(); err != nil && why != nil {
		err = why
	}
	return n, err
}

func (l *log) end() {
	l.cancel()
	l.asking.Wait()
}

func (l *log) Close() error {
	defer l.end()
	return l.ReadCloser.Close()
}

// logProblem returns an error with the reason why there is no log. err is the error of the API server. If the request
// was wrong, the error lists the containers of the pod.
func (a *Access) logProblem(ctx context.Context, namespace, pod string, options LogOptions, err error) error {
	what := namespace + "/" + pod
	if !apierrors.IsBadRequest(err) {
		return problemOf(err, what)
	}
	text, errObject := a.Object(ctx, "core/v1/pods", namespace, pod)
	if errObject != nil {
		return &Problem{Cause: Invalid, Title: "No log", Detail: fmt.Sprintf("%s: %s", what, reasonOf(err))}
	}
	all := containersOf(text)
	at := slices.IndexFunc(all, func(c container) bool { return c.name == options.Container })
	list := make([]string, len(all))
	for n, c := range all {
		list[n] = fmt.Sprintf("%s (%s)", c.name, c.state)
	}
	has := fmt.Sprintf("Containers of %s: %s.", what, strings.Join(list, ", "))
	switch {
	case options.Container == "" && len(all) > 1:
		return invalid("Container required", "Select one with container=. %s", has)
	case options.Container != "" && at < 0:
		return unknown("No such container", "%q is not a container of %s. %s", options.Container, what, has)
	case !options.Previous && len(all) > 0 && all[max(at, 0)].waits:
		return &Problem{
			Cause:  Unavailable,
			Title:  "Container is waiting",
			Detail: fmt.Sprintf("%s. %s", strings.TrimSuffix(reasonOf(err), "."), has),
		}
	}
	return unknown("No log", "%s. %s", strings.TrimSuffix(reasonOf(err), "."), has)
}

// container is a container of a pod, of any type: init, ephemeral or other.
type container struct {
	name, state string
	waits       bool // The container waits for its first start or for a restart.
}

// containersOf returns the containers of a pod in the order in which they start, or none if the JSON cannot be decoded.
func containersOf(pod []byte) []container {
	type named struct {
		Name  string
		State map[string]struct{ Reason string }
	}
	var p struct {
		Spec   struct{ InitContainers, Containers, EphemeralContainers []named }
		Status struct{ InitContainerStatuses, ContainerStatuses, EphemeralContainerStatuses []named }
	}
	if err := json.Unmarshal(pod, &p); err != nil {
		return nil
	}
	told := slices.Concat(
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses,
	)
	all := make([]container, 0, len(told))
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers, p.Spec.EphemeralContainers) {
		one := container{name: c.Name, state: "not started", waits: true}
		for _, status := range told {
			if status.Name != c.Name {
				continue
			}
			for state, why := range status.State { // The map has exactly one key.
				one.state, one.waits = strings.TrimSuffix(state+": "+why.Reason, ": "), state == "waiting"
			}
		}
		all = append(all, one)
	}
	return all
}
