package page

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// maxLogin is the maximum length of the body of a login request, in bytes.
const maxLogin = 32 << 10

// Login serves the login form, the redirect to an OpenID provider, and the redirect back from it.
type Login struct{ Site *Site }

// Form renders the login form.
func (l *Login) Form(w http.ResponseWriter, r *http.Request) error {
	values, err := request.ValuesOf(r, "to")
	if err != nil {
		return err
	}
	if !l.Site.Auth.HasLogin() {
		return noLogin()
	}
	return l.render(w, r, http.StatusOK, values.Get("to"), "")
}

// Submit handles the login form: it opens the OpenID provider, or logs in with the token of the form.
func (l *Login) Submit(w http.ResponseWriter, r *http.Request) error {
	if !l.Site.Auth.HasLogin() {
		return noLogin()
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil {
		return request.BadRequest("Malformed form",
			"The login form cannot be read: it must be application/x-www-form-urlencoded of at most %d bytes.",
			maxLogin)
	}
	to := r.PostForm.Get("to")
	if l.Site.Auth.Provider() != "" {
		return l.beginProviderLogin(w, r, to)
	}
	if err := l.Site.Auth.Login(w, r, r.PostForm.Get("token")); err != nil {
		return l.renderError(w, r, to, err)
	}
	w.Header().Set("Location", l.Site.Base.At(request.ReturnPath(to)))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// beginProviderLogin makes the browser open the OpenID provider. It uses no HTTP redirect, because the
// Content-Security-Policy forbids forms that lead to another site.
func (l *Login) beginProviderLogin(w http.ResponseWriter, r *http.Request, to string) error {
	address, err := l.Site.Auth.BeginLogin(w, r, request.ReturnPath(to))
	if err != nil {
		return l.renderError(w, r, to, err)
	}
	return l.redirectByPage(w, r, address, "Log in with "+l.Site.Auth.Provider())
}

// Callback handles the redirect from the OpenID provider back to this server, and starts the login session.
func (l *Login) Callback(w http.ResponseWriter, r *http.Request) error {
	if l.Site.Auth.Provider() == "" {
		return noLogin()
	}
	to, err := l.Site.Auth.HandleCallback(w, r)
	if err != nil {
		return l.renderError(w, r, to, err)
	}
	return l.redirectByPage(w, r, l.Site.Base.At(request.ReturnPath(to)), "You are logged in")
}

// redirectByPage opens an address by a Refresh header. After an HTTP redirect from another site, the browser would
// not send the session cookie.
func (l *Login) redirectByPage(w http.ResponseWriter, r *http.Request, address, title string) error {
	w.Header().Set("Refresh", "0; url="+address)
	page := templates.Redirect{Layout: l.Site.bareLayout(r, title), Address: address}
	return response.HTML(w, r, http.StatusOK, templates.RedirectPage(page))
}

// renderError renders the login page with the reason of a failed login. If the client is not a browser, it returns err.
func (l *Login) renderError(w http.ResponseWriter, r *http.Request, to string, err error) error {
	p := request.ProblemFor(request.IdentityOf(r).Viewer, err)
	if !request.WantsPage(r) || p.Status != http.StatusUnauthorized && p.Status != http.StatusServiceUnavailable {
		return err
	}
	return l.render(w, r, p.Status, to, p.Detail)
}

// Logout ends the login session and removes its cookie.
func (l *Login) Logout(w http.ResponseWriter, r *http.Request) error {
	if !l.Site.Auth.HasLogin() {
		return noLogin()
	}
	l.Site.Auth.Logout(w, r)
	w.Header().Set("Location", l.Site.Base.At(request.LoginPath))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// render renders the login page, which contains no cluster data. loginError is the reason of a failed login, or
// empty.
func (l *Login) render(w http.ResponseWriter, r *http.Request, status int, returnPath, loginError string) error {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", request.BearerChallenge)
		// If a link from another site led here, the browser omitted the session cookie. After a reload, the browser
		// sends it.
		if r.Method == http.MethodGet && r.URL.Path != request.CallbackPath &&
			r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			w.Header().Set("Refresh", "0")
		}
	}
	layout := l.Site.bareLayout(r, "Log in")
	layout.Assets.PageStyle = l.Site.Assets.URL("forms.css")
	return response.HTML(w, r, status, templates.LoginPage(templates.Login{
		Layout: layout, Action: l.Site.Base.At(request.LoginPath),
		To: request.ReturnPath(returnPath), Error: loginError,
		Audience: l.Site.Auth.Audience(), Provider: l.Site.Auth.Provider(),
	}))
}

func noLogin() error {
	return &request.Problem{
		Title: "Login not available", Status: http.StatusNotFound,
		Detail: "This server has no login of its own; --auth sets how it identifies users.",
	}
}
