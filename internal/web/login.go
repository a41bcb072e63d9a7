package web

import (
	"net/http"
	"net/url"
	"strings"

	"glasshouse/web/templates"
)

const (
	loginPath, logoutPath, callbackPath = "/login", "/logout", "/login/callback"
	// maxLogin is how long the body of a login may be, in bytes.
	maxLogin = 32 << 10
	// maxWay is the longest address that a login leads back to.
	maxWay = 8 << 10
)

// loginPage asks who somebody is.
func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) error {
	values, err := valuesOf(r, "to")
	if err != nil {
		return err
	}
	if !s.auth.LogsIn() {
		return noLogin()
	}
	return s.askWho(w, r, http.StatusOK, values.Get("to"), "")
}

// login begins a session, and leads to where its owner wanted to go.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	if !s.auth.LogsIn() {
		return noLogin()
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil {
		return badRequest("Malformed form", "The form of the login cannot be read: it has up to %d bytes of application/x-www-form-urlencoded.", maxLogin)
	}
	to := r.PostForm.Get("to")
	if s.auth.Provider() != "" {
		return s.toProvider(w, r, to)
	}
	if err := s.auth.Login(w, r, r.PostForm.Get("token")); err != nil {
		return s.askAgain(w, r, to, err)
	}
	w.Header().Set("Location", s.base.At(s.wayBack(to)))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// toProvider sends somebody to the OpenID provider: by a page, as a browser takes no
// form to another site.
func (s *Server) toProvider(w http.ResponseWriter, r *http.Request, to string) error {
	address, err := s.auth.Leave(w, r, s.wayBack(to))
	if err != nil {
		return s.askAgain(w, r, to, err)
	}
	return s.leadOn(w, r, address, "Log in at "+s.auth.Provider())
}

// loginReturn begins the session of whoever comes back from the OpenID provider.
func (s *Server) loginReturn(w http.ResponseWriter, r *http.Request) error {
	if s.auth.Provider() == "" {
		return noLogin()
	}
	to, err := s.auth.Return(w, r)
	if err != nil {
		return s.askAgain(w, r, to, err)
	}
	return s.leadOn(w, r, s.base.At(s.wayBack(to)), "You are logged in")
}

// leadOn leads a browser to an address by a request of this site's own.
func (s *Server) leadOn(w http.ResponseWriter, r *http.Request, address, title string) error {
	w.Header().Set("Refresh", "0; url="+address)
	return render(w, r, http.StatusOK, templates.LeadPage(templates.Lead{Frame: s.bare(r, title), Address: address}))
}

// askAgain asks who somebody is whose login has failed.
func (s *Server) askAgain(w http.ResponseWriter, r *http.Request, to string, err error) error {
	p := problemFor(identityOf(r).Viewer, err)
	if !wantsPage(r) || p.Status != http.StatusUnauthorized && p.Status != http.StatusServiceUnavailable {
		return err
	}
	return s.askWho(w, r, p.Status, to, p.Detail)
}

// logout ends the session of whoever asks for it.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if !s.auth.LogsIn() {
		return noLogin()
	}
	s.auth.Logout(w, r)
	w.Header().Set("Location", s.base.At(loginPath))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// askWho is the page on which somebody logs in. It tells nothing of the cluster.
func (s *Server) askWho(w http.ResponseWriter, r *http.Request, status int, to, why string) error {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge)
		// A link from elsewhere comes without the cookie of the session; the browser
		// sends it when the page itself asks again.
		if r.Method == http.MethodGet && r.URL.Path != callbackPath && r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			w.Header().Set("Refresh", "0")
		}
	}
	return render(w, r, status, templates.LoginPage(templates.Login{
		Frame: s.bare(r, "Log in"), Action: s.base.At(loginPath), To: s.wayBack(to), Why: why, Audience: s.auth.Audience(), Provider: s.auth.Provider(),
	}))
}

// challenge says how a program logs in.
const challenge = `Bearer realm="glasshouse"`

// bare is what a page has around its content that tells nothing of the cluster.
func (s *Server) bare(r *http.Request, title string) templates.Frame {
	return templates.Frame{
		Title: title, Look: lookOf(r), Open: s.isOpen(),
		Assets: templates.Assets{Style: s.assets.URL("app.css"), Icon: s.assets.URL("favicon.svg")},
	}
}

// wayBack is an address of this server below its base, and of no other: the one that
// was given, or the first page.
func (s *Server) wayBack(to string) string {
	const home = "/"
	if len(to) > maxWay || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		return home
	}
	// Browsers take \ for /, and leave out what is no character.
	if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return home
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") || u.Path == logoutPath || u.Path == loginPath || strings.HasPrefix(u.Path, loginPath+"/") {
		return home
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." { // It leads out of the base, where another server may be.
			return home
		}
	}
	return to
}

// noLogin is where nobody logs in here.
func noLogin() error {
	return &problem{Title: "No login here", Status: http.StatusNotFound, Detail: "Nobody logs in to this server itself; --auth says how it finds out who asks."}
}
