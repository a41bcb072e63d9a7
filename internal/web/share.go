package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"glasshouse/internal/watch"
	"glasshouse/internal/watch/query"
	"glasshouse/internal/watch/status"
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
	"glasshouse/web/templates"
)

const (
	sharePath, leavePath = "/share", "/share/leave"
	// maxParts is the maximum number of parts of a share link. Each part selects objects of one resource. maxNote is
	// the maximum length of the note of a share link, in bytes.
	maxParts, maxNote = 100, 1000
	// minShareLifetime and maxShareLifetime limit how long a share link is valid. defaultShareLifetime applies if the
	// request specifies no time.
	minShareLifetime, defaultShareLifetime, maxShareLifetime = time.Minute, 24 * time.Hour, 30 * 24 * time.Hour
	// maxToken is the maximum length of the token in a share link, in bytes. A longer token is refused.
	maxToken = 100
)

func (s *Server) createShare(w http.ResponseWriter, r *http.Request) error {
	var request share.Request
	if err := readBody(r, &request); err != nil {
		return err
	}
	lifetime, err := shareLifetime(&request)
	if err != nil {
		return err
	}
	viewer := identityOf(r).Viewer
	now := time.Now().UTC().Truncate(time.Second)
	newShare := share.Share{
		To: request.To, Created: now, Expires: now.Add(lifetime), Note: request.Note, Cluster: s.clusterOf(r).id,
		Parts: request.Parts, Creator: viewer.User,
	}
	if err := s.access(r).AuthorizeShare(r.Context(), &watch.Scope{Parts: newShare.Parts}); err != nil {
		return err
	}
	if err := s.checkStartPage(r, &newShare); err != nil {
		return err
	}
	created, token, err := s.shares.Create(r.Context(), newShare, s.actorOf(r))
	if err != nil {
		return err
	}
	return writeJSONBody(w, r, http.StatusCreated, share.Created{
		Document: (&share.Listed{Share: created}).Document(),
		URL:      s.boundary.originFor(r) + s.base.At(sharePath) + "#" + token, Persistent: s.shares.Persistent(),
	})
}

// shareLifetime validates a request for a share link, and returns how long the link is valid. It does not check what
// depends on the user, such as permissions.
func shareLifetime(request *share.Request) (time.Duration, error) {
	if len(request.Parts) == 0 || len(request.Parts) > maxParts {
		return 0, badRequest("Invalid link",
			"There are %d parts; there must be from 1 to %d, each with a resource, such as core/v1/pods, and "+
				"optionally namespaces, labels, a name or words.", len(request.Parts), maxParts)
	}
	if len(request.Note) > maxNote || !utf8.ValidString(request.Note) ||
		strings.ContainsFunc(request.Note, unicode.IsControl) {
		return 0, badRequest("Invalid note", "A note must be one line of at most %d bytes.", maxNote)
	}
	lifetime := defaultShareLifetime
	if request.Seconds != nil {
		if *request.Seconds < int64(minShareLifetime/time.Second) || *request.Seconds > int64(maxShareLifetime/time.Second) {
			return 0, badRequest("Invalid time",
				"The value of seconds is %d, but must be from %d to %d. The default is %d.", *request.Seconds,
				minShareLifetime/time.Second, maxShareLifetime/time.Second, defaultShareLifetime/time.Second)
		}
		lifetime = time.Duration(*request.Seconds) * time.Second
	}
	return lifetime, nil
}

// checkStartPage returns an error if the start page of a share link shows data that the link does not share.
func (s *Server) checkStartPage(r *http.Request, newShare *share.Share) error {
	queries, err := s.queriesAt(newShare.To)
	if err != nil {
		return err
	}
	guest := s.clusterOf(r).Cluster.For(newShare.Viewer())
	for _, q := range queries {
		if err := guest.Authorize(r.Context(), q); err != nil {
			if p, ok := errors.AsType[*status.Problem](err); ok && p.Cause == status.Refused {
				return badRequest("Not shared",
					"The value of to is %.200q, which shows more than the parts: use a page that shows only data of the parts.",
					newShare.To)
			}
			return err
		}
	}
	return nil
}

// queriesAt returns the queries for the data that a page shows. to is the URL path of the page, such as
// /r/core/v1/pods?ns=a.
func (s *Server) queriesAt(to string) ([]query.Query, error) {
	invalid := badRequest("Invalid page",
		"The value of to is %.200q, but must be the path of a list, an object or a comparison, without the base path, "+
			"such as /r/core/v1/pods?ns=a.", to)
	u, err := url.Parse(to)
	if err != nil || to == "" || s.returnPath(to) != to || u.Fragment != "" {
		return nil, invalid
	}
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for n, segment := range segments {
		if segments[n], err = url.PathUnescape(segment); err != nil {
			return nil, invalid
		}
	}
	values, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil:
		return nil, invalid
	case segments[0] == "r" && len(segments) == 4:
		return []query.Query{{
			Resource: strings.Join(segments[1:], "/"), Namespaces: namespacesOf(values),
			Labels: values.Get("labels"), Text: values.Get("q"),
		}}, nil
	case segments[0] == "o" && len(segments) == 6:
		return []query.Query{objectQuery(segments[1:])}, nil
	case segments[0] == "compare" && len(segments) == 1 && values.Get("a") != "":
		queries := []query.Query{}
		for _, side := range []string{values.Get("a"), values.Get("b")} {
			full, err := expandObjectPath(side, values.Get("a"))
			if err != nil {
				return nil, invalid
			}
			if full != "" {
				queries = append(queries, objectQuery(strings.Split(full, "/")))
			}
		}
		return queries, nil
	}
	return nil, invalid
}

// objectQuery returns the query for one object. parts are the group, version, resource, namespace and name of the
// object.
func objectQuery(parts []string) query.Query {
	q := query.Query{Resource: strings.Join(parts[:3], "/"), Name: parts[4]}
	if parts[3] != "_" {
		q.Namespaces = parts[3:4]
	}
	return q
}

// listShares responds with the share links of the user. If the user is allowed to manage the links of others, it
// responds with all share links.
func (s *Server) listShares(w http.ResponseWriter, r *http.Request) error {
	if _, err := valuesOf(r); err != nil {
		return err
	}
	viewer := identityOf(r).Viewer
	listed := s.shares.List(viewer.User, s.managesShares(viewer))
	docs := share.Documents{Shares: make([]share.Document, 0, len(listed)), Persistent: s.shares.Persistent()}
	for i := range listed {
		docs.Shares = append(docs.Shares, listed[i].Document())
	}
	return writeJSONBody(w, r, http.StatusOK, docs)
}

func (s *Server) revokeShare(w http.ResponseWriter, r *http.Request) error {
	viewer := identityOf(r).Viewer
	found, err := s.shares.Revoke(r.Context(), param(r, "id"), viewer.User, s.managesShares(viewer), s.actorOf(r))
	if err != nil {
		return err
	}
	if !found {
		return &problem{
			Title: "Link not found", Status: http.StatusNotFound,
			Detail: "You have no link with this ID; it may have expired.",
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// managesShares reports whether a viewer is allowed to list and revoke the share links of others. On a server without
// a login, every viewer is, because no link belongs to a particular user.
func (s *Server) managesShares(v watch.Viewer) bool {
	return v.User == nil || slices.ContainsFunc(v.User.Groups, func(group string) bool {
		return slices.Contains(s.shareAdmins, group)
	})
}

// sharePage renders the page that a share link opens. The script of the page reads the token from the URL fragment
// and sends the token to openShare.
func (s *Server) sharePage(w http.ResponseWriter, r *http.Request) error {
	frame := s.bareLayout(r, "Shared with you")
	frame.Assets.Script = s.assets.URL("share-landing.js")
	return render(w, r, http.StatusOK, templates.SharePage(templates.Share{Layout: frame}))
}

// openShare exchanges the token of a share link for a guest cookie.
func (s *Server) openShare(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Token string `json:"token"`
	}
	notFound := &problem{
		Title: "Link not found", Status: http.StatusNotFound,
		Detail: "This link has expired, was revoked, or is incomplete. Ask for another one.",
	}
	if err := readBody(r, &body); err != nil || len(body.Token) > maxToken {
		body.Token = ""
	}
	shared, cookie, ok := s.shares.Exchange(r.Context(), body.Token, s.actorOf(r))
	if !ok {
		return notFound
	}
	s.setShareCookie(w, r, cookie, max(1, int(time.Until(shared.Expires).Seconds())))
	return writeJSONBody(w, r, http.StatusOK, struct {
		To string `json:"to"`
	}{shared.To})
}

// leaveShare removes the guest cookie. It does not redirect to another page. On a server without a login, that page
// would show the former guest data that was not shared.
func (s *Server) leaveShare(w http.ResponseWriter, r *http.Request) error {
	s.setShareCookie(w, r, "", -1)
	return render(w, r, http.StatusOK, templates.LeftPage(s.bareLayout(r, "You left the shared view")))
}

// setShareCookie sets the guest cookie. With SameSite=Lax, the browser sends the cookie even when the guest follows a
// link from another site. Without the cookie, the guest would count as another viewer.
func (s *Server) setShareCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: auth.CookieNameFor(share.CookieName, r), Value: value, Path: s.base.At("/"), MaxAge: age,
		HttpOnly: true, Secure: auth.OverTLS(r), SameSite: http.SameSiteLaxMode,
	})
}

// identifyGuest returns the guest (viewer of a share link) that sent a request. ok is false if the request has no
// guest cookie. If the share link is not valid, from.err is the reason.
func (s *Server) identifyGuest(r *http.Request) (from sender, ok bool) {
	cookies := r.CookiesNamed(auth.CookieNameFor(share.CookieName, r))
	if len(cookies) == 0 {
		return sender{}, false
	}
	for _, cookie := range cookies {
		g, ok := s.shares.Guest(cookie.Value)
		switch {
		case ok && g.Share.Cluster != s.clusterOf(r).id:
			return sender{err: otherCluster(), shareEnded: true}, true
		case ok:
			return sender{identity: auth.Identity{
				Viewer: g.Share.Viewer(), Expires: g.Share.Expires, Ended: g.Ended,
				Cookie: true,
			}, guest: &g}, true
		}
	}
	return sender{err: shareEnded(), shareEnded: true}, true
}

// shareEnded returns the error for guests whose share link has expired or was revoked.
func shareEnded() error {
	return &problem{
		Title: "Link expired", Status: http.StatusUnauthorized,
		Detail: "This link was revoked or has expired. Ask for another link, or leave the shared view to log in " +
			"yourself.",
	}
}

// otherCluster returns the error for guests whose share link is for a cluster that is not active. Objects with the
// same names in the active cluster are not shared.
func otherCluster() error {
	return &problem{
		Title: "Another cluster is active", Status: http.StatusUnauthorized,
		Detail: "The link is for another cluster than the active one. Ask the creator of the link to switch to " +
			"that cluster, or leave the shared view.",
	}
}

// guestOf returns the guest that sent a request, or nil if the sender is not a guest.
func guestOf(r *http.Request) *share.Guest {
	from, _ := r.Context().Value(senderKey{}).(sender)
	return from.guest
}

// actorOf returns the user and the address that the audit log records for a request.
func (s *Server) actorOf(r *http.Request) share.Actor {
	actor := share.Actor{}
	if guestOf(r) == nil {
		actor.User = identityOf(r).Viewer.User
	}
	if address, known := s.peers.clientAddr(r); known {
		actor.Address = address.String()
	}
	return actor
}
