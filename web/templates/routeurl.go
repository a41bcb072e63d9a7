package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"
)

// baseKey is the context key of the base path.
type baseKey struct{}

// WithBasePath returns a context for rendering pages whose URLs all start with a base path, for example "/glasshouse".
// The routes in the view models do not include the base path.
func WithBasePath(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}

func basePath(ctx context.Context) string {
	path, _ := ctx.Value(baseKey{}).(string)
	return path
}

// kioskKey is the context key of kiosk mode.
type kioskKey struct{}

// WithKiosk returns a context for rendering a page in kiosk mode, for a wall display. The page has no controls around
// its content, and its links lead to pages in kiosk mode.
func WithKiosk(ctx context.Context) context.Context {
	return context.WithValue(ctx, kioskKey{}, true)
}

func isKiosk(ctx context.Context) bool {
	enabled, _ := ctx.Value(kioskKey{}).(bool)
	return enabled
}

// routeURL returns the sanitized URL of a route: with the base path, and with the kiosk parameter in kiosk mode. Static
// files and the API get no kiosk parameter. A URL that is not a route only is sanitized.
func routeURL(ctx context.Context, route string) templ.SafeURL {
	if !strings.HasPrefix(route, "/") {
		return templ.URL(route)
	}
	if isKiosk(ctx) && !strings.HasPrefix(route, "/static/") && !strings.HasPrefix(route, "/api/") {
		route = KioskRoute(route)
	}
	return templ.URL(basePath(ctx) + route)
}

// KioskRoute returns the route of a page in kiosk mode, for the route of the page.
func KioskRoute(route string) string {
	if strings.Contains(route, "?") {
		return route + "&kiosk=1"
	}
	return route + "?kiosk=1"
}
