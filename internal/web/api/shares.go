package api

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/status"
	"github.com/glasshouse-project/glasshouse/internal/web/listen"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/internal/web/response"
	"github.com/glasshouse-project/glasshouse/internal/web/share"
)

// Maximum number of parts of a share link, and maximum length of its note in bytes.
const maxParts, maxNote = 100, 1000

// Shares serves the share links of users.
type Shares struct {
	Reader *response.Reader
	Store  *share.Store
	Admins []string // Groups whose members may list and revoke the links of other users.
	Peers  listen.Peers
	Base   request.BasePath
	// Origin returns the origin under which the client of a request reaches this server, such as https://example.org.
	Origin func(*http.Request) string
}

// Create creates a share link, and responds with its URL.
func (s *Shares) Create(w http.ResponseWriter, r *http.Request) error {
	var wanted share.Request
	if err := request.ReadBody(r, &wanted); err != nil {
		return err
	}
	lifetime, err := shareLifetime(&wanted)
	if err != nil {
		return err
	}
	viewer := request.IdentityOf(r).Viewer
	now := time.Now().UTC().Truncate(time.Second)
	newShare := share.Share{
		To: wanted.To, Created: now, Expires: now.Add(lifetime), Note: wanted.Note, Cluster: request.ClusterOf(r).ID,
		Parts: wanted.Parts, Creator: viewer.User,
	}
	if err := s.Reader.Access(r).AuthorizeShare(r.Context(), &watch.Scope{Parts: newShare.Parts}); err != nil {
		return err
	}
	if err := s.checkStartPage(r, &newShare); err != nil {
		return err
	}
	created, token, err := s.Store.Create(r.Context(), newShare, request.ActorOf(r, s.Peers))
	if err != nil {
		return err
	}
	return response.JSON(w, r, http.StatusCreated, share.Created{
		Document: (&share.Listed{Share: created}).Document(),
		URL:      s.Origin(r) + s.Base.At(request.SharePath) + "#" + token, Persistent: s.Store.Persistent(),
	})
}

// shareLifetime returns the lifetime of a requested share link. The caller must check the permissions of the user.
func shareLifetime(wanted *share.Request) (time.Duration, error) {
	if len(wanted.Parts) == 0 || len(wanted.Parts) > maxParts {
		return 0, request.BadRequest("Invalid link",
			"The link has %d parts, but must have from 1 to %d, each with a resource, such as core/v1/pods, and "+
				"optionally namespaces, labels, a name or words.", len(wanted.Parts), maxParts)
	}
	if len(wanted.Note) > maxNote || !utf8.ValidString(wanted.Note) ||
		strings.ContainsFunc(wanted.Note, unicode.IsControl) {
		return 0, request.BadRequest("Invalid note", "A note must be one line of at most %d bytes.", maxNote)
	}
	lifetime := share.DefaultLifetime
	if wanted.Seconds != nil {
		if *wanted.Seconds < int64(share.MinLifetime/time.Second) || *wanted.Seconds > int64(share.MaxLifetime/time.Second) {
			return 0, request.BadRequest("Invalid time",
				"The value of seconds is %d, but must be from %d to %d. The default is %d.", *wanted.Seconds,
				share.MinLifetime/time.Second, share.MaxLifetime/time.Second, share.DefaultLifetime/time.Second)
		}
		lifetime = time.Duration(*wanted.Seconds) * time.Second
	}
	return lifetime, nil
}

// checkStartPage returns an error if the start page of a share link shows data that the link does not share.
func (s *Shares) checkStartPage(r *http.Request, newShare *share.Share) error {
	if isHome, err := checkHome(newShare); isHome || err != nil {
		return err
	}
	queries, err := queriesAt(newShare.To)
	if err != nil {
		return err
	}
	guest := request.ClusterOf(r).Cluster.For(newShare.Viewer())
	for _, q := range queries {
		if err := guest.Authorize(r.Context(), q); err != nil {
			if p, ok := errors.AsType[*status.Problem](err); ok && p.Cause == status.Refused {
				return notShared(newShare)
			}
			return err
		}
	}
	return nil
}

func notShared(newShare *share.Share) error {
	return request.BadRequest("Not shared",
		"The value of to is %.200q, which shows more than the parts: use a page that shows only data of the parts.",
		newShare.To)
}

// checkHome reports whether a share link opens the home page or the page of a namespace. It returns an error if the
// link shares nothing there. Guests see only problems of shared objects on these pages, so no other check is necessary.
func checkHome(newShare *share.Share) (isHome bool, err error) {
	namespace, ok := newShare.HomeNamespace()
	if !ok || !isHomePath(newShare.To) {
		return false, nil
	}
	isShown := slices.ContainsFunc(newShare.Parts, func(p watch.Part) bool {
		return p.Name == "" && (namespace == "" || len(p.Namespaces) == 0 || slices.Contains(p.Namespaces, namespace))
	})
	if !isShown {
		return false, notShared(newShare)
	}
	return true, nil
}

// isHomePath reports whether the URL of a home page ("/" or "/ns/NAME") has no query parameters except q and kiosk.
func isHomePath(to string) bool {
	u, err := url.Parse(to)
	if err != nil || request.ReturnPath(to) != to || u.Fragment != "" {
		return false
	}
	values, err := url.ParseQuery(u.RawQuery)
	delete(values, "q")
	delete(values, "kiosk")
	return err == nil && len(values) == 0
}

// queriesAt returns the queries for the data that a page shows. An example of pagePath is /r/core/v1/pods?ns=a.
func queriesAt(pagePath string) ([]query.Query, error) {
	invalid := request.BadRequest("Invalid page",
		"The value of to is %.200q, but must be the path of a list, an object, a comparison, the home page or the "+
			"page of a namespace, without the base path, such as /r/core/v1/pods?ns=a, / or /ns/a.", pagePath)
	u, err := url.Parse(pagePath)
	if err != nil || pagePath == "" || request.ReturnPath(pagePath) != pagePath || u.Fragment != "" {
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
			Resource: strings.Join(segments[1:], "/"), Namespaces: request.NamespacesOf(values),
			Labels: values.Get("labels"), Text: values.Get("q"),
		}}, nil
	case segments[0] == "o" && len(segments) == 6:
		return []query.Query{objectQuery(segments[1:])}, nil
	case segments[0] == "compare" && len(segments) == 1 && values.Get("a") != "":
		queries := []query.Query{}
		for _, side := range []string{values.Get("a"), values.Get("b")} {
			full, err := request.ExpandObjectPath(side, values.Get("a"))
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

func objectQuery(parts []string) query.Query {
	q := query.Query{Resource: strings.Join(parts[:3], "/"), Name: parts[4]}
	if parts[3] != "_" {
		q.Namespaces = parts[3:4]
	}
	return q
}

// List responds with the share links of the user. Administrators get the share links of all users.
func (s *Shares) List(w http.ResponseWriter, r *http.Request) error {
	if _, err := request.ValuesOf(r); err != nil {
		return err
	}
	viewer := request.IdentityOf(r).Viewer
	listed := s.Store.List(viewer.User, s.managesAll(viewer))
	docs := share.Documents{Shares: make([]share.Document, 0, len(listed)), Persistent: s.Store.Persistent()}
	for i := range listed {
		docs.Shares = append(docs.Shares, listed[i].Document())
	}
	return response.JSON(w, r, http.StatusOK, docs)
}

// Revoke ends the share link whose ID is in the path of the request.
func (s *Shares) Revoke(w http.ResponseWriter, r *http.Request) error {
	viewer := request.IdentityOf(r).Viewer
	id, actor := request.Param(r, "id"), request.ActorOf(r, s.Peers)
	found, err := s.Store.Revoke(r.Context(), id, viewer.User, s.managesAll(viewer), actor)
	if err != nil {
		return err
	}
	if !found {
		return &request.Problem{
			Title: "Link not found", Status: http.StatusNotFound,
			Detail: "You have no link with this ID; it may have expired.",
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// managesAll reports whether a viewer is allowed to list and revoke the share links of others.
func (s *Shares) managesAll(v watch.Viewer) bool {
	return v.User == nil || slices.ContainsFunc(v.User.Groups, func(group string) bool {
		return slices.Contains(s.Admins, group)
	})
}
