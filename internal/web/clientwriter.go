package web

import (
	"context"
	"errors"
	"net/http"
)

// clientError is an error of writing to the client: the client has disconnected, has reset its stream, or reads too
// slowly. The error values depend on the protocol, and net/http exports few of them. The errors are therefore
// recognized by the call that returns them.
type clientError struct{ error }

func (e *clientError) Unwrap() error { return e.error }

// clientWriter marks each error of writing to the client as a clientError.
type clientWriter struct{ http.ResponseWriter }

// Write writes to the client.
func (c *clientWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	return n, asClientError(err)
}

// FlushError sends the buffered bytes. http.ResponseController calls it.
func (c *clientWriter) FlushError() error {
	return asClientError(http.NewResponseController(c.ResponseWriter).Flush())
}

// Unwrap returns the wrapped ResponseWriter. http.ResponseController calls it.
func (c *clientWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// asClientError wraps an error in a clientError, unless it is nil or reports that a handler misused the writer.
func asClientError(err error) error {
	for _, misuse := range []error{
		nil, http.ErrBodyNotAllowed, http.ErrContentLength, http.ErrHijacked, http.ErrNotSupported,
	} {
		if errors.Is(err, misuse) {
			return err
		}
	}
	return &clientError{err}
}

// isDisconnect reports whether a request has failed because its client has disconnected. All code uses this function to
// decide that.
func isDisconnect(ctx context.Context, err error) bool {
	if _, ok := errors.AsType[*clientError](err); ok {
		return true
	}
	return errors.Is(err, http.ErrAbortHandler) || errors.Is(err, context.Canceled) && ctx.Err() != nil
}
