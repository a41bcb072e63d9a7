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
	"glasshouse/internal/web/auth"
	"glasshouse/internal/web/share"
	"glasshouse/web/templates"
)

const (
	sharePath, leavePath = "/share", "/share/leave"
	// maxParts is the maximum number of parts of a share, and maxNote the maximum length of its note in bytes.
	maxParts, maxNote = 100, 1000
	// A share lasts between shortestShare and longestShare, and usualShare if the request specifies no time.
	shortestShare, usualShare, longestShare = time.Minute, 24 * time.Hour, 30 * 24 * time.Hour
	// maxToken is the maximum length of a link's token in bytes. A longer text is not looked up.
	maxToken = 100
)

// createShare creates a share link.
func (s *Server) createShare(w http.ResponseWriter, r *http.Request) error {
	var asked share.Request
	if err := readBody(r, &asked); err != nil {
		return err
	}
	long, err := lengthOf(&asked)
	if err != nil {
		return err
	}
	viewer := identityOf(r).Viewer
	now := time.Now().UTC().Truncate(time.Second)
	given := share.Share{
		To: asked.To, Created: now, Expires: now.Add(long), Note: asked.Note, Cluster: s.showing(r).id,
		Parts: asked.Parts, Creator: viewer.User,
	}
	if err := s.access(r).MayShare(r.Context(), &watch.Scope{Parts: given.Parts}); err != nil {
		return err
	}
	if err := s.leadsInto(r, &given); err != nil {
		return err
	}
	shared, token, err := s.shares.Create(r.Context(), given, s.whoOf(r))
	if err != nil {
		return err
	}
	return writeJSONBody(w, r, http.StatusCreated, share.Created{
		Document: (&share.Listed{Share: shared}).Document(),
		URL:      s.boundary.originFor(r) + s.base.At(sharePath) + "#" + token, Persistent: s.shares.Persistent(),
	})
}

// lengthOf checks a request to create a share, and returns how long the share lasts. It finds only errors that do not
// depend on the user.
func lengthOf(q *share.Request) (time.Duration, error) {
	if len(q.Parts) == 0 || len(q.Parts) > maxParts {
		return 0, badRequest("Invalid link",
			"There are %d parts; there must be from 1 to %d, each with a resource, such as core/v1/pods, and "+
				"optionally namespaces, labels, a name or words.", len(q.Parts), maxParts)
	}
	if len(q.Note) > maxNote || !utf8.ValidString(q.Note) || strings.ContainsFunc(q.Note, unicode.IsControl) {
		return 0, badRequest("Invalid note", "A note must be one line of at most %d bytes.", maxNote)
	}
	long := usualShare
	if q.Seconds != nil {
		if *q.Seconds < int64(shortestShare/time.Second) || *q.Seconds > int64(longestShare/time.Second) {
			return 0, badRequest("Invalid time",
				"seconds is %d; it must be from %d to %d. The default is %d.", *q.Seconds,
				shortestShare/time.Second, longestShare/time.Second, usualShare/time.Second)
		}
		long = time.Duration(*q.Seconds) * time.Second
	}
	return long, nil
}

// leadsInto refuses a share whose first page would show data that is not shared.
func (s *Server) leadsInto(r *http.Request, given *share.Share) error {
	queries, err := s.shownAt(given.To)
	if err != nil {
		return err
	}
	guest := s.showing(r).Cluster.For(given.Viewer())
	for _, q := range queries {
		if err := guest.May(r.Context(), q); err != nil {
			if p, ok := errors.AsType[*watch.Problem](err); ok && p.Cause == watch.Refused {
				return badRequest("Not shared",
					"to is %.200q, which shows more than the parts: use a page that shows only data of the parts.",
					given.To)
			}
			return err
		}
	}
	return nil
}

// shownAt returns the queries whose results the page at a path of this server shows.
func (s *Server) shownAt(to string) ([]watch.Query, error) {
	wrong := badRequest("Invalid page",
		"to is %.200q; it must be the path of a list, an object or a comparison, without the base path, such as "+
			"/r/core/v1/pods?ns=a.", to)
	u, err := url.Parse(to)
	if err != nil || to == "" || s.wayBack(to) != to || u.Fragment != "" {
		return nil, wrong
	}
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for n, segment := range segments {
		if segments[n], err = url.PathUnescape(segment); err != nil {
			return nil, wrong
		}
	}
	values, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil:
		return nil, wrong
	case segments[0] == "r" && len(segments) == 4:
		return []watch.Query{{
			Resource: strings.Join(segments[1:], "/"), Namespaces: namespacesOf(values),
			Labels: values.Get("labels"), Text: values.Get("q"),
		}}, nil
	case segments[0] == "o" && len(segments) == 6:
		return []watch.Query{objectQuery(segments[1:])}, nil
	case segments[0] == "compare" && len(segments) == 1 && values.Get("a") != "":
		queries := []watch.Query{}
		for _, side := range []string{values.Get("a"), values.Get("b")} {
			full, err := inFull(side, values.Get("a"))
			if err != nil {
				return nil, wrong
			}
			if full != "" {
				queries = append(queries, objectQuery(strings.Split(full, "/")))
			}
		}
		return queries, nil
	}
	return nil, wrong
}

// objectQuery returns the query for an object. parts are the group, version, resource, namespace and name.
func objectQuery(parts []string) watch.Query {
	q := watch.Query{Resource: strings.Join(parts[:3], "/"), Name: parts[4]}
	if parts[3] != "_" {
		q.Namespaces = parts[3:4]
	}
	return q
}

// listShares responds with the user's shares, or with all shares if the user manages shares.
func (s *Server) listShares(w http.ResponseWriter, r *http.Request) error {
	if _, err := valuesOf(r); err != nil {
		return err
	}
	viewer := identityOf(r).Viewer
	listed := s.shares.List(viewer.User, s.managesShares(viewer))
	answer := share.Documents{Shares: make([]share.Document, 0, len(listed)), Persistent: s.shares.Persistent()}
	for i := range listed {
		answer.Shares = append(answer.Shares, listed[i].Document())
	}
	return writeJSONBody(w, r, http.StatusOK, answer)
}

// revokeShare revokes a share.
func (s *Server) revokeShare(w http.ResponseWriter, r *http.Request) error {
	viewer := identityOf(r).Viewer
	there, err := s.shares.Revoke(r.Context(), param(r, "id"), viewer.User, s.managesShares(viewer), s.whoOf(r))
	if err != nil {
		return err
	}
	if !there {
		return &problem{
			Title: "Link not found", Status: http.StatusNotFound,
			Detail: "You have no link with this ID; it may have expired.",
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// managesShares reports whether a viewer may list and revoke the shares of others. Without a login, every viewer may,
// because no share belongs to a particular user.
func (s *Server) managesShares(v watch.Viewer) bool {
	return v.User == nil || slices.ContainsFunc(v.User.Groups, func(group string) bool {
		return slices.Contains(s.shareAdmins, group)
	})
}

// sharePage renders the page that a link opens. Its script reads the token from the URL fragment and sends it to
// openShare.
func (s *Server) sharePage(w http.ResponseWriter, r *http.Request) error {
	frame := s.bare(r, "Shared with you")
	frame.Assets.Script = s.assets.URL("opened.js")
	return render(w, r, http.StatusOK, templates.SharePage(templates.Share{Frame: frame}))
}

// openShare exchanges the token of a link for a guest cookie.
func (s *Server) openShare(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Token string `json:"token"`
	}
	none := &problem{
		Title: "Link not found", Status: http.StatusNotFound,
		Detail: "This link has expired, was revoked, or is incomplete. Ask for another one.",
	}
	if err := readBody(r, &asked); err != nil || len(asked.Token) > maxToken {
		asked.Token = ""
	}
	shared, cookie, ok := s.shares.Exchange(r.Context(), asked.Token, s.whoOf(r))
	if !ok {
		return none
	}
	s.setShareCookie(w, r, cookie, max(1, int(time.Until(shared.Expires).Seconds())))
	return writeJSONBody(w, r, http.StatusOK, struct {
		To string `json:"to"`
	}{shared.To})
}

// leaveShare removes the guest cookie. It does not redirect, because without a login the next page would show
// everything that was not shared.
func (s *Server) leaveShare(w http.ResponseWriter, r *http.Request) error {
	s.setShareCookie(w, r, "", -1)
	return render(w, r, http.StatusOK, templates.LeftPage(s.bare(r, "You left the shared view")))
}

// setShareCookie sets the guest cookie. It is SameSite=Lax, so that the browser also sends it when another site links
// here. Otherwise a guest who follows a link would count as another viewer.
func (s *Server) setShareCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: auth.CookieAt(share.CookieName, r), Value: value, Path: s.base.At("/"), MaxAge: age,
		HttpOnly: true, Secure: auth.OverTLS(r), SameSite: http.SameSiteLaxMode,
	})
}

// guestOf returns the sender of a request with a guest cookie. ok is false if the request has none.
func (s *Server) guestOf(r *http.Request) (from sender, ok bool) {
	given := r.CookiesNamed(auth.CookieAt(share.CookieName, r))
	if len(given) == 0 {
		return sender{}, false
	}
	for _, cookie := range given {
		g, ok := s.shares.Guest(cookie.Value)
		switch {
		case ok && g.Share.Cluster != s.showing(r).id:
			return sender{err: otherCluster(), left: true}, true
		case ok:
			return sender{identity: auth.Identity{
				Viewer: g.Share.Viewer(), Expires: g.Share.Expires, Ended: g.Ended,
				Cookie: true,
			}, guest: &g}, true
		}
	}
	return sender{err: shareEnded(), left: true}, true
}

// shareEnded returns the error for guests whose share has expired or was revoked.
func shareEnded() error {
	return &problem{
		Title: "Link expired", Status: http.StatusUnauthorized,
		Detail: "This link was revoked or has expired. Ask for another link, or leave the shared view to log in " +
			"yourself.",
	}
}

// otherCluster returns the error for guests of a cluster that is not the active one. Objects with the same names in the
// active cluster were not shared.
func otherCluster() error {
	return &problem{
		Title: "Another cluster is active", Status: http.StatusUnauthorized,
		Detail: "The link is for another cluster than the active one. Ask the creator of the link to switch to " +
			"that cluster, or leave the shared view.",
	}
}

// guestIn returns the guest that sent a request, or nil if the sender is not a guest.
func guestIn(r *http.Request) *share.Guest {
	from, _ := r.Context().Value(senderKey{}).(sender)
	return from.guest
}

// whoOf returns the sender of a request for the audit log.
func (s *Server) whoOf(r *http.Request) share.Who {
	who := share.Who{}
	if guestIn(r) == nil {
		who.User = identityOf(r).Viewer.User
	}
	if address, known := s.peers.clientAddr(r); known {
		who.From = address.String()
	}
	return who
}
