package request

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
)

// The paths of login and share pages, without the base path.
const (
	LoginPath  = "/login"
	LogoutPath = "/logout"
	// CallbackPath is where an OpenID provider redirects the browser after a login.
	CallbackPath = "/login/callback"
	SharePath    = "/share"
	LeavePath    = "/share/leave"
	ContextsPath = "/contexts"
	// maxReturnPath is the maximum length of the result of ReturnPath, in bytes.
	maxReturnPath = 8 << 10
)

// NamespaceOf returns the namespace in the path, or "" for "_", which marks a cluster-scoped object.
func NamespaceOf(r *http.Request) string {
	if ns := Param(r, "namespace"); ns != "_" {
		return ns
	}
	return ""
}

// ObjectPath returns the path of an object's page.
func ObjectPath(ref, namespace, name string) string {
	return "/o/" + ref + "/" + url.PathEscape(cmp.Or(namespace, "_")) + "/" + url.PathEscape(name)
}

// ExpandObjectPath returns the path group/version/resource/namespace/name of an object. The parameter text can be this
// path, namespace/name, or only a name. The missing first parts are taken from fullPath, the path of another object.
func ExpandObjectPath(text, fullPath string) (string, error) {
	parts := strings.Split(strings.Trim(text, "/ "), "/")
	o := strings.Split(fullPath, "/")
	switch {
	case parts[0] == "":
		return "", nil
	case len(parts) == 5:
		return strings.Join(parts, "/"), nil
	case len(parts) <= 2 && len(o) == 5:
		return strings.Join(append(o[:5-len(parts):5-len(parts)], parts...), "/"), nil
	}
	return "", BadRequest("Invalid object reference", "%.300q is not an object reference: write "+
		"group/version/resource/namespace/name, with core for the empty group and _ for no namespace.", text)
}

// ReturnPath returns path, the page to open after a login. If path could lead elsewhere, it returns the start page.
func ReturnPath(path string) string {
	const home = "/"
	if len(path) > maxReturnPath || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return home
	}
	// Browsers treat \ as / and remove control characters and spaces, so such a path could lead to another site.
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return home
	}
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") ||
		u.Path == LogoutPath || u.Path == LoginPath || strings.HasPrefix(u.Path, LoginPath+"/") {
		return home
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		// A segment . or .. could lead out of the base path, to another server behind the same proxy.
		if segment == "." || segment == ".." {
			return home
		}
	}
	return path
}
