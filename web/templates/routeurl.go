package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"
)

type baseKey struct{}

// WithBasePath returns a context for rendering pages below a base path, such as "/glasshouse". With this context, the
// function routeURL adds the base path to each route. Routes in the view models do not include it.
func WithBasePath(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}

func basePath(ctx context.Context) string {
	path, _ := ctx.Value(baseKey{}).(string)
	return path
}

type kioskKey struct{}

// WithKiosk returns a context for rendering a page in kiosk mode, which is for wall displays. Such a page shows no
// controls around its content, and its links open other pages in kiosk mode.
func WithKiosk(ctx context.Context) context.Context {
	return context.WithValue(ctx, kioskKey{}, true)
}

func isKiosk(ctx context.Context) bool {
	enabled, _ := ctx.Value(kioskKey{}).(bool)
	return enabled
}

// routeURL returns the URL of a route, with the base path. In kiosk mode (for a wall display), it adds the kiosk
// parameter, except for static files and the API. If route does not start with "/", it is already a URL. In this
// case, routeURL only sanitizes it.
func routeURL(ctx context.Context, route string) templ.SafeURL {
	if !strings.HasPrefix(route, "/") {
		return templ.URL(route)
	}
	if isKiosk(ctx) && !strings.HasPrefix(route, "/static/") && !strings.HasPrefix(route, "/api/") {
		route = KioskRoute(route)
	}
	return templ.URL(basePath(ctx) + route)
}

// KioskRoute adds the query parameter for kiosk mode (for a wall display) to the route of a page.
func KioskRoute(route string) string {
	if strings.Contains(route, "?") {
		return route + "&kiosk=1"
	}
	return route + "?kiosk=1"
}
