package wire

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// estimateObjects is how many objects an estimate looks at: enough for a
// dictionary, so that they are as small as they would be kept.
const estimateObjects = 64

// estimateStall bounds its request, in the way of SourceOptions, and estimateTime all
// of it: who asks waits for it, and can do without.
const (
	estimateStall = 5 * time.Second
	estimateTime  = 10 * time.Second
)

// Count returns about how many objects a scope has, from the shortest page of its
// list.
func (c *Client) Count(ctx context.Context, scope Scope) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
	defer cancel()
	source, err := c.Source(scope, SourceOptions{Stall: estimateStall, Observe: func(int, int64) {}, Panicked: func(any, []byte) {}})
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

// beyond is how many objects there are behind a page, as far as the server tells.
func beyond(list *List) int {
	if list.RemainingItemCount == nil {
		return 0
	}
	return int(min(max(0, *list.RemainingItemCount), mostObjects))
}

// mostObjects is more than any cluster holds, whatever a server says.
const mostObjects = 1 << 30

// Estimate returns how many objects a scope has, and about how many bytes they
// would hold, with what is remembered of their masked values, from one short page
// of its list. A server that does not tell how many there are beyond the page (one
// with a selector does not) is taken at what the page has.
func (c *Client) Estimate(ctx context.Context, scope Scope) (objects int, bytes int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, estimateTime)
	defer cancel()
	source, err := c.Source(scope, SourceOptions{Stall: estimateStall, Observe: func(int, int64) {}, Panicked: func(any, []byte) {}})
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
