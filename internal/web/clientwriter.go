package web

import (
	"context"
	"errors"
	"net/http"
)

// clientError is an error of a write to the client: the client has disconnected, has reset its HTTP/2 stream, or
// reads too slowly. Such errors cannot be recognized by their values: the values depend on the protocol, and net/http
// exports few of them. Therefore clientWriter marks every error that a write returns.
type clientError struct{ error }

func (e *clientError) Unwrap() error { return e.error }

// clientWriter is a ResponseWriter that marks each error of a write to the client as a clientError.
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

// asClientError wraps an error in a clientError. It returns the error as it is if it is nil, or if a handler has
// misused the writer.
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

// isDisconnect reports whether a request has failed because its client has disconnected. All handlers use this
// function for that decision.
func isDisconnect(ctx context.Context, err error) bool {
	if _, ok := errors.AsType[*clientError](err); ok {
		return true
	}
	return errors.Is(err, http.ErrAbortHandler) || errors.Is(err, context.Canceled) && ctx.Err() != nil
}
