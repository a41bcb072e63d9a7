package page

import (
	"net/http"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

// maxToken is the maximum length of the token in a share link, in bytes. A longer token is refused.
const maxToken = 100

// Share serves the pages on which guests open a share link and leave the shared view.
type Share struct {
	Site  *Site
	Store *share.Store
	Peers listen.Peers
}

// Landing renders the page that a share link opens. Its script sends the token of the URL fragment to Open.
func (s *Share) Landing(w http.ResponseWriter, r *http.Request) error {
	layout := s.Site.bareLayout(r, "Shared with you")
	layout.Assets.Script = s.Site.Assets.URL("share-landing.js")
	return response.HTML(w, r, http.StatusOK, templates.SharePage(templates.Share{Layout: layout}))
}

// Open exchanges the token of a share link for a guest cookie.
func (s *Share) Open(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Token string `json:"token"`
	}
	notFound := &request.Problem{
		Title: "Link not found", Status: http.StatusNotFound,
		Detail: "This link has expired, was revoked, or is incomplete. Ask for another link.",
	}
	if err := request.ReadBody(r, &body); err != nil || len(body.Token) > maxToken {
		body.Token = ""
	}
	shared, cookie, ok := s.Store.Exchange(r.Context(), body.Token, request.ActorOf(r, s.Peers))
	if !ok {
		return notFound
	}
	s.setCookie(w, r, cookie, max(1, int(time.Until(shared.Expires).Seconds())))
	return response.JSON(w, r, http.StatusOK, struct {
		To string `json:"to"`
	}{shared.To})
}

// Leave removes the guest cookie. It does not redirect to another page, because on a server without a login, that page
// would show more than the share link does.
func (s *Share) Leave(w http.ResponseWriter, r *http.Request) error {
	s.setCookie(w, r, "", -1)
	return response.HTML(w, r, http.StatusOK, templates.LeftPage(s.Site.bareLayout(r, "You left the shared view")))
}

// setCookie sets the guest cookie with SameSite=Lax, so that browsers also send it after links from other sites.
func (s *Share) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: auth.CookieNameFor(share.CookieName, r), Value: value, Path: s.Site.Base.At("/"), MaxAge: age,
		HttpOnly: true, Secure: auth.OverTLS(r), SameSite: http.SameSiteLaxMode,
	})
}
