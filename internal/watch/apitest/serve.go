package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (o *object) json(k *Kind) string {
	version := strings.TrimPrefix(k.Ref[:strings.LastIndex(k.Ref, "/")], "core/")
	namespace := ""
	if o.Namespace != "" {
		namespace = fmt.Sprintf(`,"namespace":%q`, o.Namespace)
	}
	return oneLine(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q%s,"uid":%q,"resourceVersion":"%d"%s}%s}`,
		version, k.Kind, o.Name, namespace, o.UID, o.version, withComma(o.Metadata), withComma(o.Rest))
}

func oneLine(format string, args ...any) string {
	return strings.ReplaceAll(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", ""), "\t", "")
}

func withComma(members string) string {
	if members == "" {
		return ""
	}
	return "," + members
}

func (o *object) row(k *Kind) string {
	cells := o.Cells
	if cells == "" {
		cells = fmt.Sprintf("[%q]", o.Name)
	}
	return `{"cells":` + cells + `,"object":` + o.json(k) + `}`
}

func table(k *Kind, columns bool, version string, rows ...string) string {
	definitions := "null"
	if columns {
		definitions = k.Columns
	}
	return `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":` + version + `,"columnDefinitions":` +
		definitions + `,"rows":[` + strings.Join(rows, ",") + `]}`
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, k *kind, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := k.inNamespace(namespace)
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to := len(objects)
	meta := fmt.Sprintf(`{"resourceVersion":"%d"}`, s.version)
	page := k.Page
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); page == 0 {
		page = limit
	}
	if page > 0 && from+page < to {
		to = from + page
		meta = fmt.Sprintf(
			`{"resourceVersion":"%d","continue":"%d","remainingItemCount":%d}`, s.version, to, len(objects)-to,
		)
		if r.URL.Query().Get("fieldSelector") != "" { // Like API servers, send no remainingItemCount then.
			meta = fmt.Sprintf(`{"resourceVersion":"%d","continue":"%d"}`, s.version, to)
		}
	}
	texts := make([]string, 0, to-from)
	for i := range objects[from:to] {
		if o := &objects[from+i]; k.Columns != "" {
			texts = append(texts, o.row(&k.Kind))
		} else {
			texts = append(texts, o.json(&k.Kind))
		}
	}
	if k.Columns != "" {
		respond(w, "application/json", table(&k.Kind, true, meta, texts...))
		return
	}
	respond(
		w, "application/json",
		fmt.Sprintf(
			`{"kind":%q,"apiVersion":"v1","metadata":%s,"items":[%s]}`, k.Kind.Kind+"List", meta,
			strings.Join(texts, ","),
		),
	)
}

func (k *kind) inNamespace(namespace string) []object {
	return slices.DeleteFunc(slices.Clone(k.objects), func(o object) bool {
		return namespace != "" && o.Namespace != namespace
	})
}

type watcher struct {
	kind         *kind
	namespace    string
	logIndex     int
	rawFrom      int // length of kind.log when the watch began; the watch gets no earlier raw texts (see Send)
	watchEndings int
	version      int
	columnsSent  bool
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request, k *kind, namespace string) {
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("resourceVersion"))
	s.mu.Lock()
	active := &watcher{kind: k, namespace: namespace, watchEndings: k.watchEndings, version: from, rawFrom: len(k.log)}
	var lines string
	switch {
	case query.Get("sendInitialEvents") == "true":
		lines = active.initialLocked(s.version)
	case from < k.oldest:
		s.mu.Unlock()
		respond(
			w, "application/json",
			`{"type":"ERROR","object":`+Failure(http.StatusGone, "Expired", "too old resource version")+"}\n",
		)
		return
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	flusher, _ := w.(http.Flusher)
	flusher.Flush()                       // Send the headers now, so that the watch opens before its first event.
	minute := time.NewTicker(time.Minute) // Like a real API server, send a bookmark every minute.
	defer minute.Stop()
	for {
		if _, err := w.Write([]byte(lines)); err != nil {
			return
		}
		flusher.Flush()
		s.mu.Lock()
		changed := s.changed
		var open bool
		lines, open = active.nextLocked()
		s.mu.Unlock()
		switch {
		case !open:
			return
		case lines != "":
			continue
		}
		select {
		case <-changed:
		case <-minute.C:
			s.mu.Lock()
			if !k.noBookmarks {
				lines = active.line("BOOKMARK", &object{version: s.version})
			}
			s.mu.Unlock()
		case <-r.Context().Done():
			return
		}
	}
}

// initialLocked returns the initial events of a streaming list, one per line. version is the version of the list.
func (w *watcher) initialLocked(version int) string {
	var lines strings.Builder
	objects := w.kind.inNamespace(w.namespace)
	for i := range objects {
		lines.WriteString(w.line("ADDED", &objects[i]))
	}
	w.logIndex, w.version = len(w.kind.log), version
	if w.kind.noBookmarks {
		return lines.String()
	}
	if w.kind.streamError != "" {
		return lines.String() + `{"type":"ERROR","object":` +
			Failure(http.StatusTooManyRequests, "TooManyRequests", w.kind.streamError) + "}\n"
	}
	end := object{Item: Item{Metadata: `"annotations":{"k8s.io/initial-events-end":"true"}`}, version: version}
	lines.WriteString(w.line("BOOKMARK", &end))
	return lines.String()
}

func (w *watcher) line(kind string, o *object) string {
	text := o.json(&w.kind.Kind)
	if w.kind.Columns != "" {
		text = table(&w.kind.Kind, !w.columnsSent, "{}", o.row(&w.kind.Kind))
		w.columnsSent = true
	}
	return `{"type":"` + kind + `","object":` + text + "}\n"
}

func (w *watcher) nextLocked() (lines string, open bool) {
	if w.watchEndings != w.kind.watchEndings {
		return "", false
	}
	var text strings.Builder
	for ; w.logIndex < len(w.kind.log); w.logIndex++ {
		e := &w.kind.log[w.logIndex]
		switch {
		case e.raw != "" && w.logIndex >= w.rawFrom:
			text.WriteString(e.raw)
		case e.version > w.version && (w.namespace == "" || w.namespace == e.namespace):
			text.WriteString(w.line(e.kind, &e.item))
		}
	}
	return text.String(), true
}
