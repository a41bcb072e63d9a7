package web

import (
	"net/http"
	"net/url"
	"strings"

	"glasshouse/web/templates"
)

const (
	loginPath, logoutPath, callbackPath = "/login", "/logout", "/login/callback"
	// maxLogin is the maximum length of the body of a login request, in bytes.
	maxLogin = 32 << 10
	// maxReturnPath is the maximum length, in bytes, of the path to which a login returns.
	maxReturnPath = 8 << 10
)

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

// login handles the login form. It redirects the user to the OpenID provider, if one is configured. If not, it logs
// in with the token of the form and redirects to the page that the user requested.
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

// startProviderLogin sends the user to the OpenID provider by a page that opens it. An HTTP redirect is not possible,
// because the Content-Security-Policy forbids forms that lead to another site.
func (s *Server) startProviderLogin(w http.ResponseWriter, r *http.Request, to string) error {
	address, err := s.auth.BeginLogin(w, r, s.returnPath(to))
	if err != nil {
		return s.renderLoginError(w, r, to, err)
	}
	return s.redirectByPage(w, r, address, "Log in with "+s.auth.Provider())
}

// loginCallback handles the redirect from the OpenID provider back to this server, and starts the login session.
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

// redirectByPage responds with a page that opens address by a Refresh header. The browser then treats the next
// request as same-site and sends the session cookie. After an HTTP redirect from another site, it would not send the
// cookie.
func (s *Server) redirectByPage(w http.ResponseWriter, r *http.Request, address, title string) error {
	w.Header().Set("Refresh", "0; url="+address)
	return render(
		w, r, http.StatusOK, templates.RedirectPage(templates.Redirect{Layout: s.bareLayout(r, title), Address: address}),
	)
}

// renderLoginError renders the login page with the reason why the login failed.
func (s *Server) renderLoginError(w http.ResponseWriter, r *http.Request, to string, err error) error {
	p := problemFor(identityOf(r).Viewer, err)
	if !wantsPage(r) || p.Status != http.StatusUnauthorized && p.Status != http.StatusServiceUnavailable {
		return err
	}
	return s.renderLogin(w, r, p.Status, to, p.Detail)
}

// logout ends the login session and removes its cookie.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if !s.auth.HasLogin() {
		return noLogin()
	}
	s.auth.Logout(w, r)
	w.Header().Set("Location", s.base.At(loginPath))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// renderLogin renders the login page, which contains no cluster data. to is the path to open after the login, and
// reason is why the last login failed.
func (s *Server) renderLogin(w http.ResponseWriter, r *http.Request, status int, to, reason string) error {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", bearerChallenge)
		// When a user follows a link from another site, the browser does not send the session cookie. Reload the page,
		// because then the browser sends the cookie.
		if r.Method == http.MethodGet && r.URL.Path != callbackPath && r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			w.Header().Set("Refresh", "0")
		}
	}
	return render(w, r, status, templates.LoginPage(templates.Login{
		Layout: s.bareLayout(r, "Log in"), Action: s.base.At(loginPath), To: s.returnPath(to), Error: reason,
		Audience: s.auth.Audience(), Provider: s.auth.Provider(),
	}))
}

// bearerChallenge is the WWW-Authenticate header of a 401 response. It shows programs that they can send a bearer
// token.
const bearerChallenge = `Bearer realm="glasshouse"`

// bareLayout returns the layout of a page without any cluster data.
func (s *Server) bareLayout(r *http.Request, title string) templates.Layout {
	return templates.Layout{
		Title: title, Preferences: preferencesOf(r), Open: s.isOpen(),
		Assets: templates.Assets{Style: s.assets.URL("app.css"), Icon: s.assets.URL("favicon.svg")},
	}
}

// returnPath returns the path to open after a login. It returns to if that is a safe path on this server, or else the
// start page.
func (s *Server) returnPath(to string) string {
	const home = "/"
	if len(to) > maxReturnPath || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return home
	}
	// Browsers treat \ as / and remove control characters and spaces, so such a path could lead to another site.
	if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return home
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") ||
		u.Path == logoutPath || u.Path == loginPath || strings.HasPrefix(u.Path, loginPath+"/") {
		return home
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		// A segment . or .. could lead out of the base path, to another server behind the same proxy.
		if segment == "." || segment == ".." {
			return home
		}
	}
	return to
}

func noLogin() error {
	return &problem{
		Title: "Login not available", Status: http.StatusNotFound,
		Detail: "This server has no login of its own; --auth sets how it identifies users.",
	}
}
