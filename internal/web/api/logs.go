package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/logstream"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
)

// Logs streams the logs of containers.
type Logs struct {
	Limits *quota.Limits
	Reader *response.Reader
}

// Serve streams the log of a container as plain text. An error aborts the response, so that the client does not
// mistake it for a complete log.
func (l *Logs) Serve(w http.ResponseWriter, r *http.Request) error {
	options, err := logOptionsOf(r)
	if err != nil {
		return err
	}
	release, err := l.Limits.AcquireLog(request.GuestOf(r), request.IdentityOf(r))
	if err != nil {
		return err
	}
	defer release()
	identityCtx, done := request.IdentityOf(r).Context(r.Context())
	defer done()
	ctx, cancel := context.WithCancel(identityCtx)
	defer cancel()
	cluster := request.ClusterOf(r)
	//nolint:contextcheck // The log must end when the server switches to another cluster.
	defer context.AfterFunc(cluster.Context(), cancel)()
	out := &logstream.Writer{Send: (&logResponse{http.NewResponseController(w), w}).send}
	namespace, name := request.Param(r, "namespace"), request.Param(r, "name")
	body, err := logstream.Open(ctx, l.Reader.Access(r), namespace, name, options, out)
	if err != nil {
		switch {
		case out.Started:
			panic(http.ErrAbortHandler) // The status 200 was already sent, so only an abort shows the error.
		case cluster.Context().Err() != nil:
			return &request.Problem{
				Title: "Not running", Status: http.StatusServiceUnavailable,
				Detail: "The program is stopping, or has switched to another cluster; retry in a moment.",
			}
		case errors.Is(context.Cause(identityCtx), auth.ErrEnded):
			if request.GuestOf(r) != nil {
				return request.ShareEnded()
			}
			return status.NotLoggedIn("Your login has ended; log in again.")
		}
		return err
	}
	defer func() { _ = body.Close() }()
	if err := out.Copy(body); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// logResponse sends a log as an HTTP response. It fails if the client does not accept a part within WriteTimeout.
type logResponse struct {
	*http.ResponseController

	out http.ResponseWriter
}

func (l *logResponse) send(part []byte, _ bool) error {
	l.out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := l.SetWriteDeadline(time.Now().Add(listen.WriteTimeout)); err != nil {
		return err
	}
	_, err := l.out.Write(part)
	return errors.Join(err, l.Flush())
}

func logOptionsOf(r *http.Request) (o watch.LogOptions, err error) {
	values, err := request.ValuesOf(r, "container", "follow", "previous", "since", "tail", "timestamps")
	if err != nil {
		return o, err
	}
	o.Container, o.Tail = values.Get("container"), logstream.DefaultTail
	for name, flag := range map[string]*bool{
		"follow": &o.Follow, "previous": &o.Previous, "timestamps": &o.Timestamps,
	} {
		switch text := values.Get(name); text {
		case "true", "1":
			*flag = true
		case "", "false", "0":
		default:
			return o, request.BadRequest("Invalid boolean", "The value of %s is %.40q, but must be true or false.", name, text)
		}
	}
	if text := values.Get("tail"); text != "" {
		if o.Tail, err = strconv.Atoi(text); err != nil {
			o.Tail = -1
		}
		if err := logstream.CheckTail(o.Tail, text); err != nil {
			return o, err
		}
	}
	return o, logstream.SetSince(&o, values.Get("since"))
}
