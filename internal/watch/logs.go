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

	"glasshouse/internal/watch/authz"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/resource"
	"glasshouse/internal/watch/signal"
	"glasshouse/internal/watch/status"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"glasshouse/internal/watch/listwatch"
)

// LogOptions are the options for reading a container's log.
type LogOptions = listwatch.LogOptions

// Logs opens the log of one container of a pod. With options.Follow, Logs can block until ctx ends, because the API
// server does not respond before the first line exists.
func (a *Access) Logs(ctx context.Context, namespace, pod string, options LogOptions) (io.ReadCloser, error) {
	if err := query.CheckNamespace(namespace); err != nil {
		return nil, err
	}
	if err := query.CheckName(pod); err != nil {
		return nil, err
	}
	if options.Container != "" {
		if err := query.CheckName(options.Container); err != nil {
			return nil, err
		}
	}
	if err := a.authorizeLog(ctx, namespace, pod, authz.TTLOpen()); err != nil {
		return nil, err
	}
	logCtx, cancel := context.WithCancelCause(ctx)
	l := &podLog{ctx: logCtx, cancel: func() { cancel(nil) }}
	l.rechecks.Go(func() {
		a.cluster.reviews.AwaitLogRevoked(logCtx, namespace, pod)
		cancel(&status.Problem{
			Cause:  status.Refused,
			Title:  "Forbidden",
			Detail: fmt.Sprintf("You cannot get pods/log of %s/%s any more.", namespace, pod),
		})
	})
	l.rechecks.Go(func() { a.endRevokedLog(logCtx, namespace, pod, cancel) })
	if !options.Follow {
		timer := time.AfterFunc(a.cluster.timeout, func() {
			cancel(&status.Problem{
				Cause: status.Unavailable, Title: "The API server does not answer",
				Detail: fmt.Sprintf("The log of %s/%s did not arrive within %s.", namespace, pod, a.cluster.timeout),
			})
		})
		defer timer.Stop()
	}
	body, err := a.cluster.client.Logs(logCtx, namespace, pod, options)
	if err == nil {
		l.ReadCloser = body
		return l, nil
	}
	reason := l.endReason()
	l.end()
	if reason != nil {
		return nil, reason
	}
	return nil, a.logProblem(ctx, namespace, pod, options, err)
}

func podResource() *resource.Resource {
	return &resource.Resource{Version: "v1", Resource: "pods", Namespaced: true, Verbs: []string{"get", "list", "watch"}}
}

// endRevokedLog calls endLog with the reason when the viewer's permission to read a log is revoked or cannot be
// checked.
func (a *Access) endRevokedLog(ctx context.Context, namespace, pod string, endLog context.CancelCauseFunc) {
	if a.viewer.User == nil && a.viewer.Scope == nil {
		return
	}
	for range signal.Ticks(ctx, authz.RecheckEvery) {
		recheckCtx, cancel := context.WithTimeout(ctx, authz.RecheckTimeout)
		err := a.authorizeLog(recheckCtx, namespace, pod, authz.TTLRecheck())
		cancel()
		if _, isProblem := errors.AsType[*status.Problem](err); err != nil && !isProblem {
			err = errAuthzUnavailable(err)
		}
		if err != nil {
			endLog(err)
			return
		}
	}
}

// authorizeLog returns an error if the viewer may not read the log of a pod.
func (a *Access) authorizeLog(ctx context.Context, namespace, pod string, ttl authz.DecisionTTL) error {
	permitted, err := a.authorizeGet(ctx, podResource(), authz.VerbLog, namespace, pod, ttl)
	if err != nil || permitted.Selector == nil && !permitted.NeedsRow() {
		return err
	}
	if err := a.viewer.Scope.restrict(podResource(), permitted, authz.VerbGet); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, staleReadTimeout)
	defer cancel()
	// The present version of the pod must match the share link, too.
	_, err = a.readObject(ctx, podResource(), permitted, namespace, pod)
	return err
}

// podLog is the open log of a container. Until it ends, goroutines recheck the permissions to read it.
type podLog struct {
	io.ReadCloser

	ctx      context.Context //nolint:containedctx // Its cause is the reason why the log ended.
	cancel   context.CancelFunc
	rechecks sync.WaitGroup
}

// endReason returns the *Problem with which this program ended the log, or nil if this program has not ended it.
func (l *podLog) endReason() error {
	if p, ok := errors.AsType[*status.Problem](context.Cause(l.ctx)); ok {
		return p
	}
	return nil
}

// Read returns the *Problem with which this program ended the log, because HTTP/2 does not return the cause.
func (l *podLog) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if reason := l.endReason(); err != nil && reason != nil {
		err = reason
	}
	return n, err
}

func (l *podLog) end() {
	l.cancel()
	l.rechecks.Wait()
}

func (l *podLog) Close() error {
	defer l.end()
	return l.ReadCloser.Close()
}

// logProblem explains why the API server returned no log. For status 400, it also lists the pod's containers.
func (a *Access) logProblem(ctx context.Context, namespace, pod string, options LogOptions, err error) error {
	podKey := namespace + "/" + pod
	if !apierrors.IsBadRequest(err) {
		return problemOf(err, podKey)
	}
	text, errObject := a.Object(ctx, "core/v1/pods", namespace, pod)
	if errObject != nil {
		return &status.Problem{
			Cause:  status.Invalid,
			Title:  "No log",
			Detail: fmt.Sprintf("%s: %s", podKey, status.ReasonOf(err)),
		}
	}
	all := containersOf(text)
	at := slices.IndexFunc(all, func(c container) bool { return c.name == options.Container })
	list := make([]string, len(all))
	for n, c := range all {
		list[n] = fmt.Sprintf("%s (%s)", c.name, c.state)
	}
	containerList := fmt.Sprintf("Containers of %s: %s.", podKey, strings.Join(list, ", "))
	switch {
	case options.Container == "" && len(all) > 1:
		return status.Invalidf("Container required",
			"The pod has several containers; select one with container=. %s", containerList)
	case options.Container != "" && at < 0:
		return status.Unknownf(
			"No such container", "%q is not a container of %s. %s", options.Container, podKey, containerList,
		)
	case !options.Previous && len(all) > 0 && all[max(at, 0)].isWaiting:
		return &status.Problem{
			Cause:  status.Unavailable,
			Title:  "Container is waiting",
			Detail: fmt.Sprintf("%s. %s", strings.TrimSuffix(status.ReasonOf(err), "."), containerList),
		}
	}
	return status.Unknownf("No log", "%s. %s", strings.TrimSuffix(status.ReasonOf(err), "."), containerList)
}

type container struct {
	name, state string
	isWaiting   bool
}

// containersOf returns the containers in a pod's JSON, in the order of their start; nil for invalid JSON.
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
	statuses := slices.Concat(
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses,
	)
	all := make([]container, 0, len(statuses))
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers, p.Spec.EphemeralContainers) {
		current := container{name: c.Name, state: "not started", isWaiting: true}
		for _, status := range statuses {
			if status.Name != c.Name {
				continue
			}
			for state, details := range status.State { // Only one key: waiting, running or terminated.
				current.state, current.isWaiting = strings.TrimSuffix(state+": "+details.Reason, ": "), state == "waiting"
			}
		}
		all = append(all, current)
	}
	return all
}
