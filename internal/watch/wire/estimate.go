package wire

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// estimateObjects is the number of objects that an estimate reads. It is enough for a dictionary, so that these objects
// are as small as they would be in memory.
const estimateObjects = 64

// estimateStall bounds the request of an estimate, as in SourceOptions, and estimateTime bounds all of it. The caller
// waits for the estimate, and can work without it.
const (
	estimateStall = 5 * time.Second
	estimateTime  = 10 * time.Second
)

// Count returns the approximate number of objects in a scope. It requests a list page of one object. It fails if the
// server does not report how many objects remain.
func (c *Client) Count(ctx context.Context, scope Scope) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
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
		return 0, errors.New("the API server does not tell how many there are")
	}
	return len(list.Items) + beyond(list), nil
}

// beyond returns the number of objects after a page, or 0 if the server does not report it.
func beyond(list *List) int {
	if list.RemainingItemCount == nil {
		return 0
	}
	return int(min(max(0, *list.RemainingItemCount), mostObjects))
}

// mostObjects limits the number that a server reports. No cluster has that many objects.
const mostObjects = 1 << 30

// Estimate returns the number of objects in a scope, and the approximate memory that they would need, in bytes. The
// memory includes what is remembered about their masked values. Estimate requests one short page of the list. If the
// server does not report how many objects remain (it does not for a selector), only the page counts.
func (c *Client) Estimate(ctx context.Context, scope Scope) (objects int, bytes int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
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
	bytes += source.Remembered()
	objects = len(list.Items) + beyond(list)
	return objects, bytes / int64(len(list.Items)) * int64(objects), nil
}
