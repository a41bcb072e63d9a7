// Package podlog reads the log of one container, and ends it when a permission to read it is revoked.
package podlog

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

	"github.com/glasshouse-project/glasshouse/internal/watch/authz"
	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
	"github.com/glasshouse-project/glasshouse/internal/watch/permit"
	"github.com/glasshouse-project/glasshouse/internal/watch/signal"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Request requests the log of one container of a pod.
type Request struct {
	Namespace, Pod string
	Options        listwatch.LogOptions
	Client         *listwatch.Client
	Reviews        *authz.Reviewer // Reviews the permissions of this program.
	Timeout        time.Duration   // The maximum time to open a log that is not followed.
	// Recheck returns an error when the viewer may no longer read the log. Nil means that no such check is needed.
	Recheck func(context.Context) error
	Object  func(context.Context) ([]byte, error) // Returns the pod as JSON, if the viewer may read the pod.
}

// Open opens the log. With Options.Follow, Open can block until ctx ends, because the API server does not respond
// before the first line exists.
func (r *Request) Open(ctx context.Context) (io.ReadCloser, error) {
	logCtx, cancel := context.WithCancelCause(ctx)
	l := &openLog{ctx: logCtx, cancel: func() { cancel(nil) }}
	l.rechecks.Go(func() {
		r.Reviews.AwaitLogRevoked(logCtx, r.Namespace, r.Pod)
		cancel(status.Refusedf("Forbidden", "You cannot get pods/log of %s/%s any more.", r.Namespace, r.Pod))
	})
	l.rechecks.Go(func() { r.endRevoked(logCtx, cancel) })
	if !r.Options.Follow {
		timer := time.AfterFunc(r.Timeout, func() {
			cancel(status.Unavailablef("The API server does not respond",
				"The log of %s/%s did not arrive within %s.", r.Namespace, r.Pod, r.Timeout))
		})
		defer timer.Stop()
	}
	body, err := r.Client.Logs(logCtx, r.Namespace, r.Pod, r.Options)
	if err == nil {
		l.ReadCloser = body
		return l, nil
	}
	reason := l.endReason()
	l.end()
	if reason != nil {
		return nil, reason
	}
	return nil, r.problem(ctx, err)
}

// endRevoked ends the log when the permission of the viewer is revoked or cannot be checked.
func (r *Request) endRevoked(ctx context.Context, endLog context.CancelCauseFunc) {
	if r.Recheck == nil {
		return
	}
	for range signal.Ticks(ctx, authz.RecheckEvery) {
		recheckCtx, cancel := context.WithTimeout(ctx, authz.RecheckTimeout)
		err := r.Recheck(recheckCtx)
		cancel()
		if _, isProblem := errors.AsType[*status.Problem](err); err != nil && !isProblem {
			err = permit.Unavailable(err)
		}
		if err != nil {
			endLog(err)
			return
		}
	}
}

// openLog is the open log of a container. Until it ends, goroutines recheck the permissions to read it.
type openLog struct {
	io.ReadCloser

	ctx      context.Context //nolint:containedctx // context.Cause(ctx) is the reason why the log ended.
	cancel   context.CancelFunc
	rechecks sync.WaitGroup
}

// endReason returns the *Problem with which this program ended the log, or nil if this program has not ended it.
func (l *openLog) endReason() error {
	if p, ok := errors.AsType[*status.Problem](context.Cause(l.ctx)); ok {
		return p
	}
	return nil
}

// Read reads the log. If this program has ended the log, Read returns the reason as a *Problem. It uses endReason,
// because over HTTP/2 the error of the response body does not contain the reason.
func (l *openLog) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if reason := l.endReason(); err != nil && reason != nil {
		err = reason
	}
	return n, err
}

func (l *openLog) end() {
	l.cancel()
	l.rechecks.Wait()
}

func (l *openLog) Close() error {
	defer l.end()
	return l.ReadCloser.Close()
}

// problem explains why the API server returned no log. For status 400, the explanation includes the pod's containers.
func (r *Request) problem(ctx context.Context, err error) error {
	podKey, options := r.Namespace+"/"+r.Pod, r.Options
	if !apierrors.IsBadRequest(err) {
		return status.FromRequest(err, podKey)
	}
	text, errObject := r.Object(ctx)
	if errObject != nil {
		return status.Invalidf("No log", "%s: %s", podKey, status.ReasonOf(err))
	}
	reason, all := strings.TrimSuffix(status.ReasonOf(err), "."), containersOf(text)
	at := slices.IndexFunc(all, func(c container) bool { return c.name == options.Container })
	list := make([]string, len(all))
	for n, c := range all {
		list[n] = fmt.Sprintf("%s (%s)", c.name, c.state)
	}
	containerList := fmt.Sprintf("Containers of %s: %s.", podKey, strings.Join(list, ", "))
	switch {
	case options.Container == "" && len(all) > 1:
		return status.Invalidf("Container required",
			"The pod has several containers; select one with container=NAME. %s", containerList)
	case options.Container != "" && at < 0:
		return status.Unknownf("No such container",
			"%q is not a container of %s. %s", options.Container, podKey, containerList)
	case !options.Previous && len(all) > 0 && all[max(at, 0)].isWaiting:
		return status.Unavailablef("Container is waiting", "%s. %s", reason, containerList)
	}
	return status.Unknownf("No log", "%s. %s", reason, containerList)
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
