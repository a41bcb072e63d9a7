package apitest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// json returns the object as the API server sends it.
func (o *object) json(k *Kind) string {
	version := strings.TrimPrefix(k.Ref[:strings.LastIndex(k.Ref, "/")], "core/")
	namespace := ""
	if o.Namespace != "" {
		namespace = fmt.Sprintf(`,"namespace":%q`, o.Namespace)
	}
	return oneLine(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q%s,"uid":%q,"resourceVersion":"%d"%s}%s}`,
		version, k.Kind, o.Name, namespace, o.UID, o.version, more(o.Metadata), more(o.Rest))
}

// oneLine removes line breaks and tabs, so that a test can write its JSON in several lines.
func oneLine(format string, args ...any) string {
	return strings.NewReplacer("\n", "", "\t", "").Replace(fmt.Sprintf(format, args...))
}

func more(members string) string {
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

// table returns rows as a Table. Only the first Table of a stream has columns.
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
	objects := k.within(namespace)
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
		if r.URL.Query().Get("fieldSelector") != "" { // API servers do the same.
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
		answer(w, "application/json", table(&k.Kind, true, meta, texts...))
		return
	}
	answer(
		w, "application/json",
		fmt.Sprintf(
			`{"kind":%q,"apiVersion":"v1","metadata":%s,"items":[%s]}`, k.Kind.Kind+"List", meta,
			strings.Join(texts, ","),
		),
	)
}

func (k *kind) within(namespace string) []object {
	return slices.DeleteFunc(slices.Clone(k.objects), func(o object) bool {
		return namespace != "" && o.Namespace != namespace
	})
}

// watcher is one watch.
type watcher struct {
	kind      *kind
	namespace string
	at        int // Index in the kind's log.
	since     int // Index in the log from which this watch gets raw text.
	cuts      int
	version   int  // Later versions are sent.
	told      bool // The columns have been sent.
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request, k *kind, namespace string) {
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("resourceVersion"))
	s.mu.Lock()
	me := &watcher{kind: k, namespace: namespace, cuts: k.cuts, version: from, since: len(k.log)}
	var lines string
	switch {
	case query.Get("sendInitialEvents") == "true":
		lines = me.initialLocked(s.version)
	case from < k.oldest:
		s.mu.Unlock()
		answer(
			w, "application/json",
			`{"type":"ERROR","object":`+Failure(http.StatusGone, "Expired", "too old resource version")+"}\n",
		)
		return
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	flusher, _ := w.(http.Flusher)
	flusher.Flush()                       // The watch is open before the first event.
	minute := time.NewTicker(time.Minute) // API servers send bookmarks in this interval.
	defer minute.Stop()
	for {
		if _, err := w.Write([]byte(lines)); err != nil {
			return
		}
		flusher.Flush()
		s.mu.Lock()
		moved := s.moved
		var open bool
		lines, open = me.nextLocked()
		s.mu.Unlock()
		switch {
		case !open:
			return
		case lines != "":
			continue
		}
		select {
		case <-moved:
		case <-minute.C:
			s.mu.Lock()
			if !k.silent {
				lines = me.line("BOOKMARK", &object{version: s.version})
			}
			s.mu.Unlock()
		case <-r.Context().Done():
			return
		}
	}
}

// initialLocked returns the lines of a streaming list.
func (me *watcher) initialLocked(version int) string {
	var lines strings.Builder
	objects := me.kind.within(me.namespace)
	for i := range objects {
		lines.WriteString(me.line("ADDED", &objects[i]))
	}
	me.at, me.version = len(me.kind.log), version
	if me.kind.silent {
		return lines.String()
	}
	if me.kind.broken != "" {
		return lines.String() + `{"type":"ERROR","object":` +
			Failure(http.StatusTooManyRequests, "TooManyRequests", me.kind.broken) + "}\n"
	}
	end := object{Item: Item{Metadata: `"annotations":{"k8s.io/initial-events-end":"true"}`}, version: version}
	lines.WriteString(me.line("BOOKMARK", &end))
	return lines.String()
}

func (me *watcher) line(kind string, o *object) string {
	text := o.json(&me.kind.Kind)
	if me.kind.Columns != "" {
		text = table(&me.kind.Kind, !me.told, "{}", o.row(&me.kind.Kind))
		me.told = true
	}
	return `{"type":"` + kind + `","object":` + text + "}\n"
}

func (me *watcher) nextLocked() (lines string, open bool) {
	if me.cuts != me.kind.cuts {
		return "", false
	}
	var text strings.Builder
	for ; me.at < len(me.kind.log); me.at++ {
		e := &me.kind.log[me.at]
		switch {
		case e.raw != "" && me.at >= me.since:
			text.WriteString(e.raw)
		case e.version > me.version && (me.namespace == "" || me.namespace == e.namespace):
			text.WriteString(me.line(e.kind, &e.item))
		}
	}
	return text.String(), true
}
