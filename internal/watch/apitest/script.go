package apitest

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
)

// Serve adds a kind, like the creation of a CRD.
func (s *Server) Serve(k Kind) {
	if len(k.Verbs) == 0 {
		k.Verbs = []string{"get", "list", "watch"}
	}
	s.change(func() { s.kinds = append(s.kinds, &kind{Kind: k, refused: make(map[string]int)}) })
}

// Remove removes a kind and ends its watches, like the deletion of a CRD.
func (s *Server) Remove(ref string) {
	s.change(func() {
		s.kindLocked(ref).cuts++
		s.kinds = slices.DeleteFunc(s.kinds, func(k *kind) bool { return k.Ref == ref })
	})
}

// Print changes the columns of a kind. Open watches continue.
func (s *Server) Print(ref, columns string) {
	s.change(func() { s.kindLocked(ref).Columns = columns })
}

// Set creates or changes objects.
func (s *Server) Set(ref string, items ...Item) {
	s.change(func() {
		k := s.kindLocked(ref)
		for _, item := range items {
			if item.UID == "" {
				item.UID = item.Namespace + "/" + item.Name
			}
			s.version++
			o := object{Item: item, version: s.version}
			what := "MODIFIED"
			at, had := slices.BinarySearchFunc(k.objects, o, compare)
			switch {
			case !had:
				what = "ADDED"
				k.objects = slices.Insert(k.objects, at, o)
			case k.objects[at].UID != item.UID:
				k.log = append(
					k.log,
					event{
						version: s.version, namespace: item.Namespace, name: item.Name, kind: "DELETED",
						item: k.objects[at],
					},
				)
				s.version++
				o.version, what = s.version, "ADDED"
				fallthrough
			default:
				k.objects[at] = o
			}
			k.log = append(
				k.log, event{version: o.version, namespace: item.Namespace, name: item.Name, kind: what, item: o},
			)
		}
	})
}

// Reprint changes the cells of an object, but not its version, like a new path of a printer column.
func (s *Server) Reprint(ref, namespace, name, cells string) {
	s.change(func() {
		k := s.kindLocked(ref)
		for i := range k.objects {
			if k.objects[i].Namespace == namespace && k.objects[i].Name == name {
				k.objects[i].Cells = cells
			}
		}
	})
}

// Delete deletes an object.
func (s *Server) Delete(ref, namespace, name string) {
	s.change(func() {
		k := s.kindLocked(ref)
		at, had := slices.BinarySearchFunc(k.objects, object{Item: Item{Namespace: namespace, Name: name}}, compare)
		if !had {
			panic("apitest: no object " + namespace + "/" + name)
		}
		s.version++
		o := k.objects[at]
		o.version = s.version
		k.objects = slices.Delete(k.objects, at, at+1)
		k.log = append(k.log, event{version: s.version, namespace: namespace, name: name, kind: "DELETED", item: o})
	})
}

// Rewrite changes the text of an object, but not its version. A new default of a CRD's schema, a conversion, or a newer
// API server does the same.
func (s *Server) Rewrite(ref, namespace, name, rest string) {
	s.change(func() {
		k := s.kindLocked(ref)
		for i := range k.objects {
			if k.objects[i].Namespace == namespace && k.objects[i].Name == name {
				k.objects[i].Rest = rest
			}
		}
	})
}

// Quietly runs f without events for any watch. It closes all connections first, and discards the history of the kind,
// so that clients must list again.
func (s *Server) Quietly(ref string, f func()) {
	s.Down(true)
	f()
	s.change(func() {
		k := s.kindLocked(ref)
		s.version++
		k.log, k.oldest = nil, s.version
	})
	s.Down(false)
}

func compare(a, b object) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// Send sends text as it is to all open watches of a kind.
func (s *Server) Send(ref, text string) {
	s.change(func() { k := s.kindLocked(ref); k.log = append(k.log, event{raw: text}) })
}

// Cut ends all watches of a kind.
func (s *Server) Cut(ref string) { s.change(func() { s.kindLocked(ref).cuts++ }) }

// Expire ends all watches of a kind and discards its history, so that the next watch gets 410 Gone.
func (s *Server) Expire(ref string) {
	s.change(func() {
		k := s.kindLocked(ref)
		s.version++
		k.log, k.oldest = nil, s.version
		k.cuts++
	})
}

// Refuse responds to lists and watches of a kind with a status from now on, and ends its watches; 0 allows them again.
// An empty namespace means all namespaces.
func (s *Server) Refuse(ref, namespace string, status int, reason string) {
	s.change(func() {
		k := s.kindLocked(ref)
		k.refused[namespace], k.reason = status, reason
		k.cuts++
	})
}

// Revoke removes the permission to list and watch a kind in a namespace; "" for all. Open watches continue, like those
// of a real API server.
func (s *Server) Revoke(ref, namespace string) {
	s.change(func() {
		k := s.kindLocked(ref)
		k.refused[namespace], k.reason = http.StatusForbidden, "the right was taken away"
	})
}

// RevokeWatch removes the permission to watch a kind. Open watches continue.
func (s *Server) RevokeWatch(ref string) {
	s.change(func() { s.kindLocked(ref).noWatch = http.StatusForbidden })
}

// Silence makes streaming lists of a kind send their objects and never end.
func (s *Server) Silence(ref string) { s.change(func() { s.kindLocked(ref).silent = true }) }

// BreakStreams ends streaming lists of a kind with an error, and fails other lists with status 500. An API server does
// the same while its conversion webhook is down. client-go retries this error without reporting it. An empty reason
// removes the error.
func (s *Server) BreakStreams(ref, reason string) {
	s.change(func() { s.kindLocked(ref).broken = reason })
}

// NoWatches refuses every watch of a kind with a status from now on, and ends open watches; 0 allows watches again.
func (s *Server) NoWatches(ref string, status int) {
	s.change(func() { k := s.kindLocked(ref); k.noWatch = status; k.cuts++ })
}

// Down refuses connections while down is true, and closes the existing ones.
func (s *Server) Down(down bool) {
	s.change(func() { s.down = down })
	if down {
		s.listener.cut()
	}
}

// Secure starts TLS on new connections. Each uses the certificate that cert returns at that time. Clients trust the
// authorities in a file.
func (s *Server) Secure(authorities string, cert func() *tls.Certificate) {
	s.Config.Host, s.Config.CAFile = "https://api.test", authorities
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	s.listener.cert = cert
}

// Plain disables aggregated discovery, like an old server.
func (s *Server) Plain() { s.change(func() { s.plain = true }) }

// Break responds to a path with status 503 and a reason.
func (s *Server) Break(path, reason string) { s.RefuseGet(path, http.StatusServiceUnavailable, reason) }

// Answer responds to a path with a handler of the test.
func (s *Server) Answer(path string, answer http.HandlerFunc) {
	s.change(func() { s.answers[path] = answer })
}

// RefuseGet responds to a path with a status and a reason.
func (s *Server) RefuseGet(path string, code int, reason string) {
	s.change(func() { s.broken[path] = status{code, reason} })
}

// Hang never responds to a path.
func (s *Server) Hang(path string) {
	s.change(func() { s.broken[path] = status{code: never} })
}
