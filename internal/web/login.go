package web

import (
	"net/http"
	"net/url"
	"strings"

	"glasshouse/web/templates"
)

const (
	loginPath, logoutPath, callbackPath = "/login", "/logout", "/login/callback"
	// maxLogin is the maximum length of the body of a login, in bytes.
	maxLogin = 32 << 10
	// maxReturnPath is the maximum length of the path to return to after a login, in bytes.
	maxReturnPath = 8 << 10
)

// loginPage serves the login page.
func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) error {
	values, err := valuesOf(r, "to")
	if err != nil {
		return err
	}
	if !s.auth.HasLogin() {
		return noLogin()
	}
	return s.renderLogin(w, r, http.StatusOK, values.Get("to"), "")
}

// login begins a login session, and redirects to the page that the user wanted to open.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	if !s.auth.HasLogin() {
		return noLogin()
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil {
		return badRequest("Malformed form",
			"The login form cannot be read: it must be application/x-www-form-urlencoded of at most %d bytes.",
			maxLogin)
	}
	to := r.PostForm.Get("to")
	if s.auth.Provider() != "" {
		return s.startProviderLogin(w, r, to)
	}
	if err := s.auth.Login(w, r, r.PostForm.Get("token")); err != nil {
		return s.renderLoginError(w, r, to, err)
	}
	w.Header().Set("Location", s.base.At(s.returnPath(to)))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// startProviderLogin sends the user to the OpenID provider. It responds with a page that opens the provider, because
// the Content-Security-Policy does not allow a form to lead to another site.
func (s *Server) startProviderLogin(w http.ResponseWriter, r *http.Request, to string) error {
	address, err := s.auth.BeginLogin(w, r, s.returnPath(to))
	if err != nil {
		return s.renderLoginError(w, r, to, err)
	}
	return s.redirectByPage(w, r, address, "Log in with "+s.auth.Provider())
}

// loginCallback handles the request with which the OpenID provider redirects the user back to this server. It begins
// the login session.
func (s *Server) loginCallback(w http.ResponseWriter, r *http.Request) error {
	if s.auth.Provider() == "" {
		return noLogin()
	}
	to, err := s.auth.HandleCallback(w, r)
	if err != nil {
		return s.renderLoginError(w, r, to, err)
	}
	return s.redirectByPage(w, r, s.base.At(s.returnPath(to)), "You are logged in")
}

// redirectByPage responds with a page that opens address. The browser then treats the next request as sent by this
// site, and includes the session cookie. After an HTTP redirect, it would treat that request as sent by the previous
// site.
func (s *Server) redirectByPage(w http.ResponseWriter, r *http.Request, address, title string) error {
	w.Header().Set("Refresh", "0; url="+address)
	return render(
		w, r, http.StatusOK, templates.RedirectPage(templates.Redirect{Layout: s.bareLayout(r, title), Address: address}),
	)
}

// renderLoginError serves the login page again after a failed login, with the reason of the failure.
func (s *Server) renderLoginError(w http.ResponseWriter, r *http.Request, to string, err error) error {
	p := problemFor(identityOf(r).Viewer, err)
	if !wantsPage(r) || p.Status != http.StatusUnauthorized && p.Status != http.StatusServiceUnavailable {
		return err
	}
	return s.renderLogin(w, r, p.Status, to, p.Detail)
}

// logout ends the login session of the request.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if !s.auth.HasLogin() {
		return noLogin()
	}
	s.auth.Logout(w, r)
	w.Header().Set("Location", s.base.At(loginPath))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// renderLogin renders the login page, which reveals nothing about the cluster. to is the path to open after the
// login, and reason is why the last login failed.
func (s *Server) renderLogin(w http.ResponseWriter, r *http.Request, status int, to, reason string) error {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", bearerChallenge)
		// When a user follows a link from another site, the browser does not send the session cookie. It sends the cookie
		// when the page reloads itself.
		if r.Method == http.MethodGet && r.URL.Path != callbackPath && r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			w.Header().Set("Refresh", "0")
		}
	}
	return render(w, r, status, templates.LoginPage(templates.Login{
		Layout: s.bareLayout(r, "Log in"), Action: s.base.At(loginPath), To: s.returnPath(to), Error: reason,
		Audience: s.auth.Audience(), Provider: s.auth.Provider(),
	}))
}

// bearerChallenge is the WWW-Authenticate header. It informs programs that they can log in with a bearer token.
const bearerChallenge = `Bearer realm="glasshouse"`

// bareLayout returns everything around the content of a page. It reveals nothing about the cluster.
func (s *Server) bareLayout(r *http.Request, title string) templates.Layout {
	return templates.Layout{
		Title: title, Preferences: preferencesOf(r), Open: s.isOpen(),
		Assets: templates.Assets{Style: s.assets.URL("app.css"), Icon: s.assets.URL("favicon.svg")},
	}
}

// returnPath returns the path to open after a login. It returns the argument if that is a path below the base path of
// this server. If not, it returns the path of the first page.
func (s *Server) returnPath(to string) string {
	const home = "/"
	if len(to) > maxReturnPath || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return home
	}
	// Browsers treat \ as /, and remove control characters and spaces. A path with them could lead to another site.
	if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return home
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") ||
		u.Path == logoutPath || u.Path == loginPath || strings.HasPrefix(u.Path, loginPath+"/") {
		return home
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		// The segments . and .. lead out of the base path, perhaps to another server.
		if segment == "." || segment == ".." {
			return home
		}
	}
	return to
}

// noLogin returns the problem for a server that has no login page.
func noLogin() error {
	return &problem{
		Title: "Login not available", Status: http.StatusNotFound,
		Detail: "This server has no login of its own; --auth sets how it identifies users.",
	}
}
