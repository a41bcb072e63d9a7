package apitest

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
)

// AddKind starts to serve a kind, as after the creation of a CRD.
func (s *Server) AddKind(k Kind) {
	if len(k.Verbs) == 0 {
		k.Verbs = []string{"get", "list", "watch"}
	}
	s.change(func() { s.kinds = append(s.kinds, &kind{Kind: k, refused: make(map[string]int)}) })
}

// RemoveKind stops serving a kind and ends its watches, as after the deletion of a CRD.
func (s *Server) RemoveKind(ref string) {
	s.change(func() {
		s.kindLocked(ref).watchEndings++
		s.kinds = slices.DeleteFunc(s.kinds, func(k *kind) bool { return k.Ref == ref })
	})
}

// SetColumns changes the table columns of a kind, without ending open watches.
func (s *Server) SetColumns(ref, columns string) {
	s.change(func() { s.kindLocked(ref).Columns = columns })
}

// Set creates or updates objects of a kind.
func (s *Server) Set(ref string, items ...Item) {
	s.change(func() {
		k := s.kindLocked(ref)
		for _, item := range items {
			if item.UID == "" {
				item.UID = item.Namespace + "/" + item.Name
			}
			s.version++
			o := object{Item: item, version: s.version}
			eventType := "MODIFIED"
			index, exists := slices.BinarySearchFunc(k.objects, o, compare)
			switch {
			case !exists:
				eventType = "ADDED"
				k.objects = slices.Insert(k.objects, index, o)
			case k.objects[index].UID != item.UID:
				k.log = append(
					k.log,
					event{
						version: s.version, namespace: item.Namespace, name: item.Name, kind: "DELETED",
						item: k.objects[index],
					},
				)
				s.version++
				o.version, eventType = s.version, "ADDED"
				fallthrough
			default:
				k.objects[index] = o
			}
			k.log = append(
				k.log, event{version: o.version, namespace: item.Namespace, name: item.Name, kind: eventType, item: o},
			)
		}
	})
}

// SetCells changes an object's table cells without a new resourceVersion, like a change of the printer columns in a
// CRD.
func (s *Server) SetCells(ref, namespace, name, cells string) {
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
		index, exists := slices.BinarySearchFunc(k.objects, object{Item: Item{Namespace: namespace, Name: name}}, compare)
		if !exists {
			panic("apitest: no object " + namespace + "/" + name)
		}
		s.version++
		o := k.objects[index]
		o.version = s.version
		k.objects = slices.Delete(k.objects, index, index+1)
		k.log = append(k.log, event{version: s.version, namespace: namespace, name: name, kind: "DELETED", item: o})
	})
}

// SetRest changes an object's JSON without a new resourceVersion, like a new default in the schema of a CRD.
func (s *Server) SetRest(ref, namespace, name, rest string) {
	s.change(func() {
		k := s.kindLocked(ref)
		for i := range k.objects {
			if k.objects[i].Namespace == namespace && k.objects[i].Name == name {
				k.objects[i].Rest = rest
			}
		}
	})
}

// ChangeWhileDown closes all connections, calls f, and discards the history of the kind. Clients cannot continue their
// watches of the kind, and must list it again.
func (s *Server) ChangeWhileDown(ref string, f func()) {
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

// Send sends a raw line of text to all open watches of a kind.
func (s *Server) Send(ref, text string) {
	s.change(func() { k := s.kindLocked(ref); k.log = append(k.log, event{raw: text}) })
}

// EndWatches ends all watches of a kind.
func (s *Server) EndWatches(ref string) { s.change(func() { s.kindLocked(ref).watchEndings++ }) }

// Expire ends all watches of a kind and discards its history. The next watch from an old resourceVersion gets 410 Gone.
func (s *Server) Expire(ref string) {
	s.change(func() {
		k := s.kindLocked(ref)
		s.version++
		k.log, k.oldest = nil, s.version
		k.watchEndings++
	})
}

// Refuse makes lists and watches of a kind fail with an HTTP status. Status 0 permits them again. An empty namespace
// means all namespaces.
func (s *Server) Refuse(ref, namespace string, status int, reason string) {
	s.change(func() {
		k := s.kindLocked(ref)
		k.refused[namespace], k.reason = status, reason
		k.watchEndings++
	})
}

// Revoke removes the permission to list and watch a kind, without ending open watches. An empty namespace means all.
func (s *Server) Revoke(ref, namespace string) {
	s.change(func() {
		k := s.kindLocked(ref)
		k.refused[namespace], k.reason = http.StatusForbidden, "the permission was revoked"
	})
}

// RevokeWatch removes the permission to watch a kind, without ending open watches.
func (s *Server) RevokeWatch(ref string) {
	s.change(func() { s.kindLocked(ref).watchStatus = http.StatusForbidden })
}

// HangStreamingLists makes streaming lists of a kind send their objects, but not the bookmark that ends the list.
func (s *Server) HangStreamingLists(ref string) {
	s.change(func() { s.kindLocked(ref).noBookmarks = true })
}

// FailStreamingLists makes streaming lists of a kind fail with a reason, after which client-go silently tries again. An
// empty reason ends the failures.
func (s *Server) FailStreamingLists(ref, reason string) {
	s.change(func() { s.kindLocked(ref).streamError = reason })
}

// RefuseWatches makes watches of a kind fail with an HTTP status, and ends open ones. Status 0 allows them again.
func (s *Server) RefuseWatches(ref string, status int) {
	s.change(func() { k := s.kindLocked(ref); k.watchStatus = status; k.watchEndings++ })
}

// Down stops or restarts the server. A stopped server closes all connections and refuses new ones.
func (s *Server) Down(down bool) {
	s.change(func() { s.down = down })
	if down {
		s.listener.closeAll()
	}
}

// EnableTLS makes the server use TLS for new connections. The function cert returns the server certificate for each
// connection. authorities is the path of the CA file that clients use.
func (s *Server) EnableTLS(authorities string, cert func() *tls.Certificate) {
	s.Config.Host, s.Config.CAFile = "https://api.test", authorities
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	s.listener.cert = cert
}

// DisableAggregatedDiscovery makes the server behave like an old API server that does not support aggregated discovery.
func (s *Server) DisableAggregatedDiscovery() { s.change(func() { s.plainDiscovery = true }) }

// MakeUnavailable makes all requests for a path fail with the HTTP status 503 and the given reason.
func (s *Server) MakeUnavailable(path, reason string) {
	s.FailPath(path, http.StatusServiceUnavailable, reason)
}

// Handle sets the handler for a path.
func (s *Server) Handle(path string, handler http.HandlerFunc) {
	s.change(func() { s.handlers[path] = handler })
}

// FailPath makes all requests for a path fail with an HTTP status and a reason. Status 0 removes the failure.
func (s *Server) FailPath(path string, code int, reason string) {
	s.change(func() { s.failures[path] = status{code, reason} })
}

// Hang makes all requests for a path wait without a response.
func (s *Server) Hang(path string) {
	s.change(func() { s.failures[path] = status{code: noResponse} })
}
