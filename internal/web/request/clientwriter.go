package request

import (
	"context"
	"errors"
	"net/http"
)

// ClientError marks an error of a write to the client: the client disconnected, reset its HTTP/2 stream, or reads too
// slowly. Without the mark, such an error could not be distinguished from a server error, because the values differ
// by protocol, and net/http exports only some of them.
type ClientError struct{ error }

// NewClientError marks err as an error of a write to the client.
func NewClientError(err error) *ClientError { return &ClientError{err} }

// Unwrap returns the error of the write.
func (e *ClientError) Unwrap() error { return e.error }

type clientWriter struct{ http.ResponseWriter }

func (c *clientWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	return n, asClientError(err)
}

func (c *clientWriter) FlushError() error {
	return asClientError(http.NewResponseController(c.ResponseWriter).Flush())
}

func (c *clientWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// asClientError wraps err in a ClientError. It returns err unchanged if err is nil or is caused by a handler that
// misused the ResponseWriter.
func asClientError(err error) error {
	for _, misuse := range []error{
		nil, http.ErrBodyNotAllowed, http.ErrContentLength, http.ErrHijacked, http.ErrNotSupported,
	} {
		if errors.Is(err, misuse) {
			return err
		}
	}
	return &ClientError{err}
}

// isDisconnect reports whether a request failed because its client disconnected, and not because of a server error.
func isDisconnect(ctx context.Context, err error) bool {
	if _, ok := errors.AsType[*ClientError](err); ok {
		return true
	}
	return errors.Is(err, http.ErrAbortHandler) || errors.Is(err, context.Canceled) && ctx.Err() != nil
}
