package request

import (
	"context"
	"errors"
	"net/http"
)

// ClientError wraps an error of a write to the client. The type ClientError shows that the client has disconnected. The
// wrapped error does not show this reliably, because its type depends on the protocol (HTTP/1.1 or HTTP/2).
type ClientError struct{ error }

// NewClientError marks err as an error of a write to the client.
func NewClientError(err error) *ClientError { return &ClientError{err} }

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

// asClientError marks err as a ClientError unless a handler misused the ResponseWriter.
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

func isDisconnect(ctx context.Context, err error) bool {
	if _, ok := errors.AsType[*ClientError](err); ok {
		return true
	}
	return errors.Is(err, http.ErrAbortHandler) || errors.Is(err, context.Canceled) && ctx.Err() != nil
}
