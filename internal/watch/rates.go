package watch

import (
	"context"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/rates"
)

// OpenRates returns a reader of the restarts and warnings of the objects that a query selects. Callers must close it.
func OpenRates(ctx context.Context, a *Access, q query.Query) (*rates.Reader, error) {
	return rates.New(ctx, a.opener(), q)
}
