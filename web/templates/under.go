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

// kioskKey is where a context says that the page is a kiosk.
type kioskKey struct{}

// InKiosk returns a context in which a page is rendered for a screen on a wall:
// what is shown and nothing around it, as on all pages that it leads to.
func InKiosk(ctx context.Context) context.Context {
	return context.WithValue(ctx, kioskKey{}, true)
}

func kiosk(ctx context.Context) bool {
	is, _ := ctx.Value(kioskKey{}).(bool)
	return is
}

// under is the address of a route.
func under(ctx context.Context, route string) templ.SafeURL {
	if !strings.HasPrefix(route, "/") {
		return templ.URL(route)
	}
	if kiosk(ctx) && !strings.HasPrefix(route, "/static/") && !strings.HasPrefix(route, "/api/") {
		route = KioskOf(route)
	}
	return templ.URL(base(ctx) + route)
}

// KioskOf is the route of a page as a kiosk, of that of the page.
func KioskOf(route string) string {
	if strings.Contains(route, "?") {
		return route + "&kiosk=1"
	}
	return route + "?kiosk=1"
}
