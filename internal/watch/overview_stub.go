package watch

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

// Overview returns an empty overview, until the index of problems exists.
func (a *Access) Overview(_ context.Context, _ []string) (*overview.Overview, error) {
	return &overview.Overview{}, nil
}
