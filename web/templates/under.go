package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"
)

// baseKey is where a context has the path that all addresses are under.
type baseKey struct{}

// Under returns a context in which a page is rendered whose addresses are all
// under a path, as in "/glasshouse". The view models name routes without it.
func Under(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}

func base(ctx context.Context) string {
	base, _ := ctx.Value(baseKey{}).(string)
	return base
}

// under is the address of a route.
func under(ctx context.Context, route string) templ.SafeURL {
	if strings.HasPrefix(route, "/") {
		route = base(ctx) + route
	}
	return templ.URL(route)
}
