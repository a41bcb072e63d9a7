package request

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

// RefOf returns group/version/resource from the path of a request.
func RefOf(r *http.Request) string {
	return Param(r, "group") + "/" + Param(r, "version") + "/" + Param(r, "resource")
}

// Param returns a decoded path parameter. If the path contains an escape such as %2F, the router (chi) does not decode
// the parameters, so Param does.
func Param(r *http.Request, name string) string {
	raw := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return raw
	}
	if decoded, err := url.PathUnescape(raw); err == nil {
		return decoded
	}
	return raw
}

// ValuesOf returns the query parameters. It refuses unknown parameters. If it ignored them, a filter with a typing
// error would return too many objects.
func ValuesOf(r *http.Request, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, BadRequest("Malformed query", "The query of the URL cannot be read: %v.", err)
	}
	for name, occurrences := range values {
		if !slices.Contains(known, name) {
			if len(known) == 0 {
				return nil, BadRequest("Unknown parameter", "%.40q is not a parameter here; there are none.", name)
			}
			slices.Sort(known)
			return nil, BadRequest("Unknown parameter", "%.40q is not a parameter here; the parameters are: %s.", name,
				strings.Join(known, ", "))
		}
		if len(occurrences) > 1 && name != "ns" && name != "cols" {
			return nil, BadRequest("Repeated parameter",
				"The parameter %s can be set only once; only ns and cols can be repeated.",
				name)
		}
	}
	return values, nil
}

// QueryOf builds a query from a request. The request can also have the query parameters in extraParameters.
func QueryOf(r *http.Request, extraParameters ...string) (query.Query, url.Values, error) {
	values, err := ValuesOf(r, append(extraParameters, "ns", "labels", "q")...)
	if err != nil {
		return query.Query{}, nil, err
	}
	return query.Query{
		Resource:   RefOf(r),
		Namespaces: NamespacesOf(values),
		Labels:     values.Get("labels"),
		Fields:     values.Get("fields"),
		Text:       values.Get("q"),
	}, values, nil
}

// NamespacesOf returns the namespaces in the parameter ns. It accepts ns=a&ns=b and also ns=a,b, because the HTML form
// of a page sends the latter.
func NamespacesOf(values url.Values) (namespaces []string) {
	for ns := range strings.FieldsFuncSeq(strings.Join(values["ns"], ","), func(r rune) bool {
		return r == ',' || r == ' '
	}) {
		namespaces = append(namespaces, ns)
	}
	return namespaces
}

// NumberOf parses a non-negative integer. It returns 0 if the parameter is missing.
func NumberOf(values url.Values, name string) (int, error) {
	text := values.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, BadRequest("Invalid number", "The value of %s is %.40q, but must be an integer from 0.", name, text)
	}
	return n, nil
}

// LimitOf parses the parameter "limit", a positive integer. It returns 0 if the parameter is missing.
func LimitOf(values url.Values) (int, error) {
	text := values.Get("limit")
	if text == "" {
		return 0, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 {
		return 0, BadRequest("Invalid limit", "The value of limit is %.40q, but must be an integer from 1.", text)
	}
	return limit, nil
}

// Choose returns the value of a parameter, which must be one of options. The default is the first option.
func Choose(values url.Values, name string, options ...string) (string, error) {
	value := values.Get(name)
	if value == "" {
		return options[0], nil
	}
	if !slices.Contains(options, value) {
		return "", BadRequest(
			"Unknown "+name, "The value of %s is %.40q, but must be %s.", name, value, strings.Join(options, ", "),
		)
	}
	return value, nil
}

// IsKiosk reports whether a page is for a wall display: large type, no controls.
func IsKiosk(r *http.Request) bool { return r.URL.Query().Get("kiosk") == "1" }
