package web

import (
	"net/http"

	"github.com/glasshouse-project/glasshouse/internal/web/auth"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/quota"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

// identify determines the sender of a request. A guest cookie overrides all other credentials, so that users who open a
// share link see what guests see.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, isGuest := s.identifyGuest(r)
		if isGuest {
			s.auth.Strip(r)
			w.Header().Set("X-Robots-Tag", "noindex")
		} else {
			from.Identity, from.Err = s.auth.Identify(r)
		}
		if isGuest || from.Identity.Viewer.User != nil {
			listen.ConnOf(r).MarkIdentified()
		}
		r = request.WithSender(r, from)
		if !s.limits.ChargeCaller(r) {
			quota.WriteTooMany(w, "Too many of your requests are in flight. Wait until some of them finish.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// identifyGuest returns the viewer of a share link. ok is false if the request has no guest cookie.
func (s *Server) identifyGuest(r *http.Request) (sender request.Sender, ok bool) {
	cookies := r.CookiesNamed(auth.CookieNameFor(share.CookieName, r))
	if len(cookies) == 0 {
		return request.Sender{}, false
	}
	for _, cookie := range cookies {
		g, ok := s.shares.Guest(cookie.Value)
		switch {
		case ok && g.Share.Cluster != request.ClusterOf(r).ID:
			return request.Sender{Err: otherCluster(), ShareEnded: true}, true
		case ok:
			return request.Sender{Identity: auth.Identity{
				Viewer: g.Share.Viewer(), Expires: g.Share.Expires, Ended: g.Ended,
				Cookie: true,
			}, Guest: &g}, true
		}
	}
	return request.Sender{Err: request.ShareEnded(), ShareEnded: true}, true
}

// otherCluster returns the error for guests whose share link is for an inactive cluster. The link does not share
// objects with the same names in the active cluster.
func otherCluster() error {
	return &request.Problem{
		Title: "Another cluster is active", Status: http.StatusUnauthorized,
		Detail: "The link is for another cluster than the active one. Ask the creator of the link to switch to " +
			"that cluster, or leave the shared view.",
	}
}

func (s *Server) authorize(c request.Class, handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return s.errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		if err := c.Check(r); err != nil {
			return err
		}
		return handler(w, r)
	})
}
