package listwatch

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// estimateObjects is the number of objects that Estimate lists, enough for a compression dictionary.
const estimateObjects = 64

// Time limits of Count and Estimate. They are short, because the caller can continue without the result.
const (
	// estimateStall is SourceOptions.Stall for the list request of Count or Estimate.
	estimateStall = 5 * time.Second
	// estimateTimeout is the time limit for a complete call of Count or Estimate.
	estimateTimeout = 10 * time.Second
)

// Count returns the approximate number of objects in a scope. It fails if the server does not report this number.
func (c *Client) Count(ctx context.Context, scope Scope) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, estimateTimeout)
	defer cancel()
	source, err := c.Source(
		scope, SourceOptions{Stall: estimateStall, Observe: func(int, int64) {}, Panicked: func(any, []byte) {}},
	)
	if err != nil {
		return 0, err
	}
	list, err := source.List(ctx, metav1.ListOptions{Limit: 1})
	switch {
	case err != nil:
		return 0, err
	case list.Continue == "":
		return len(list.Items), nil
	case list.RemainingItemCount == nil:
		return 0, errors.New("the API server does not report the number of objects")
	}
	return len(list.Items) + remainingItems(list), nil
}

func remainingItems(list *List) int {
	if list.RemainingItemCount == nil {
		return 0
	}
	return int(min(max(0, *list.RemainingItemCount), maxRemaining))
}

// maxRemaining is the largest accepted number of remaining objects. Larger numbers could overflow, and no cluster has
// so many.
const maxRemaining = 1 << 30

// Estimate returns the number of objects in a scope and their approximate memory in bytes. It requests one short page,
// and extrapolates from it by the number of remaining objects that the API server reports. With a selector, the API
// server does not report this number, and the results include only the page.
func (c *Client) Estimate(ctx context.Context, scope Scope) (objects int, bytes int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, estimateTimeout)
	defer cancel()
	source, err := c.Source(
		scope, SourceOptions{Stall: estimateStall, Observe: func(int, int64) {}, Panicked: func(any, []byte) {}},
	)
	if err != nil {
		return 0, 0, err
	}
	list, err := source.List(ctx, metav1.ListOptions{Limit: estimateObjects})
	if err != nil || len(list.Items) == 0 {
		return 0, 0, err
	}
	if list.Continue != "" {
		source.decoder.endList()
	}
	for _, o := range list.Items {
		bytes += int64(o.Size())
	}
	bytes += source.DigestBytes()
	objects = len(list.Items) + remainingItems(list)
	return objects, bytes / int64(len(list.Items)) * int64(objects), nil
}
