package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"
)

type baseKey struct{}

// WithBasePath returns a context for pages below a base path, such as "/glasshouse". routeURL adds this path to each
// route.
func WithBasePath(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}

func basePath(ctx context.Context) string {
	path, _ := ctx.Value(baseKey{}).(string)
	return path
}

type kioskKey struct{}

// WithKiosk returns a context for a page in kiosk mode (for wall displays), without controls around its content.
func WithKiosk(ctx context.Context) context.Context {
	return context.WithValue(ctx, kioskKey{}, true)
}

func isKiosk(ctx context.Context) bool {
	enabled, _ := ctx.Value(kioskKey{}).(bool)
	return enabled
}

// routeURL adds the base path and kiosk parameter to a route. A text without a leading "/" is a URL, and is kept.
func routeURL(ctx context.Context, route string) templ.SafeURL {
	if !strings.HasPrefix(route, "/") {
		return templ.URL(route)
	}
	if isKiosk(ctx) && !strings.HasPrefix(route, "/static/") && !strings.HasPrefix(route, "/api/") {
		route = KioskRoute(route)
	}
	return templ.URL(basePath(ctx) + route)
}

// KioskRoute adds the query parameter for kiosk mode (for wall displays) to the route of a page.
func KioskRoute(route string) string {
	if strings.Contains(route, "?") {
		return route + "&kiosk=1"
	}
	return route + "?kiosk=1"
}
