package request

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
)

// A connection reset by another server, such as the API server, is not a disconnect of the client.
func TestIsDisconnectIgnoresOtherSources(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx  context.Context //nolint:containedctx // Each case uses one of two contexts.
		err  error
		want bool
	}{
		{t.Context(), syscall.ECONNRESET, false},
		{done, syscall.ECONNRESET, false},
		{t.Context(), context.Canceled, false},
		{done, context.Canceled, true},
		{done, fmt.Errorf("list pods: %w", context.Canceled), true},
		{done, errors.New("a mistake"), false},
		{t.Context(), http.ErrAbortHandler, true},
	} {
		t.Run(fmt.Sprint(test.ctx.Err(), ", ", test.err), func(t *testing.T) {
			if got := isDisconnect(test.ctx, test.err); got != test.want {
				t.Errorf("isDisconnect(%v) with the context error %v: got %t, want %t", test.err, test.ctx.Err(), got, test.want)
			}
		})
	}
}
