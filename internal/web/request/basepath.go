package request

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/glasshouse-project/glasshouse/web/templates"
)

// A BasePath is the path prefix of all routes (--base-path), such as "/glasshouse", or empty.
type BasePath string

// NewBasePath validates a path prefix. An empty text and "/" mean no prefix.
func NewBasePath(text string) (BasePath, error) {
	if text == "" || text == "/" {
		return "", nil
	}
	segments := regexp.MustCompile(`^(/[A-Za-z0-9._~:-]+)+$`)
	if !segments.MatchString(text) || strings.Contains(text+"/", "/./") || strings.Contains(text+"/", "/../") {
		return "", fmt.Errorf(
			"--base-path %q is not valid: write segments of letters, digits and ._~:- that each start with /, without "+
				"a / at the end, such as /glasshouse",
			text)
	}
	return BasePath(text), nil
}

// At returns a route with the base path as its prefix.
func (b BasePath) At(route string) string { return string(b) + route }

// Strip is middleware that removes the base path from request URLs. Other paths get status 404.
func (b BasePath) Strip(next http.Handler) http.Handler {
	if b == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, hasPrefix := strings.CutPrefix(r.URL.Path, string(b))
		raw, hasRawPrefix := strings.CutPrefix(r.URL.RawPath, string(b))
		switch {
		case hasPrefix && path == "":
			http.Redirect(w, r, b.At("/"), http.StatusSeeOther)
			return
		case !hasPrefix || path[0] != '/' || r.URL.RawPath != "" && (!hasRawPrefix || raw[0] != '/'):
			WriteProblem(w, Problem{
				Title: "Page not found", Status: http.StatusNotFound,
				Detail: fmt.Sprintf(
					"There is no page at %.200q: all pages are below %s (--base-path).",
					r.URL.Path, b.At("/")),
			})
			return
		}
		inner := r.WithContext(templates.WithBasePath(r.Context(), string(b)))
		address := *r.URL
		address.Path, address.RawPath = path, raw
		inner.URL = &address
		next.ServeHTTP(w, inner)
	})
}
