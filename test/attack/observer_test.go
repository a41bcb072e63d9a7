package attack

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// observer is a client with permissions for only one namespace. It tries to detect changes in other namespaces.
type observer struct {
	name      string
	header    string
	namespace string
}

func (s *site) createVisible() (namespace string) {
	s.Helper()
	namespace = must(s.Namespace(s.Context()))(s.probe)
	for i := range 3 {
		cm := &corev1.ConfigMap{Data: map[string]string{"text": fmt.Sprint("visible ", i)}}
		cm.Name, cm.Labels = fmt.Sprint("visible-", i), map[string]string{"shown": "yes"}
		_, err := s.Core.CoreV1().ConfigMaps(namespace).Create(s.Context(), cm, metav1.CreateOptions{})
		s.check(err)
	}
	s.createEvent(namespace, "visible-event", "visible-0")
	return namespace
}

func (s *site) createEvent(namespace, name, of string) {
	s.Helper()
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name, Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: of},
		Reason:         "Attacked", Message: "event of the attack test", Type: corev1.EventTypeNormal,
		FirstTimestamp: metav1.Now(), LastTimestamp: metav1.Now(), Count: 1,
	}
	_, err := s.Core.CoreV1().Events(namespace).Create(s.Context(), event, metav1.CreateOptions{})
	s.check(ignoreExisting(err))
}

func (s *site) observerRequests(o observer) []request {
	ns, object := "ns="+o.namespace, configMaps+"/"+o.namespace+"/visible-0"
	other := url.QueryEscape(configMaps + "/" + o.namespace + "/visible-1")
	snapshot := "/api/v1/snapshot/"
	paths := []string{
		snapshot + configMaps + "?" + ns, snapshot + configMaps + "?limit=2&" + ns,
		snapshot + configMaps + "?q=visible&" + ns, snapshot + configMaps + "?view=objects&" + ns,
		snapshot + events + "?" + ns, snapshot + configMaps + "?ns=" + s.hidden,
		"/api/v1/object/" + object, "/api/v1/object/" + object + "?format=yaml",
		"/api/v1/object/" + configMaps + "/" + s.hidden + "/oracle",
		"/api/v1/related/" + object, "/api/v1/search?q=visible", "/api/v1/search?q=oracle",
		"/api/v1/status", "/api/v1/resources", "/", "/status",
		"/r/" + configMaps + "?" + ns, "/r/" + events + "?" + ns, "/o/" + object,
		"/compare?a=" + url.QueryEscape(object) + "&b=" + other,
	}
	for _, format := range []string{"csv", "ndjson", "yaml"} {
		paths = append(paths, snapshot+configMaps+"?format="+format+"&"+ns)
	}
	requests := make([]request, 0, len(paths))
	for _, path := range paths {
		requests = append(requests, get(path, o.header))
	}
	return requests
}

func (s *site) responses(o observer, round int) (texts map[string]string) {
	s.Helper()
	texts = map[string]string{}
	for _, r := range s.observerRequests(o) {
		a := must(exchange(s.Context(), readerAddress(round), s.address, r))(s.probe)
		if !strings.Contains(r.path, s.hidden) && a.status >= http.StatusBadRequest {
			s.Fatalf("GET %s: got %d %.300s, so the test is not valid", r.path, a.status, a.body)
		}
		a.header.Del("Date")
		// The length can change with the ages in the body, such as from 9s to 10s.
		a.header.Del("Content-Length")
		var out strings.Builder
		fmt.Fprintln(&out, a.status)
		_ = a.header.Write(&out)
		texts[r.path] = out.String() + a.body
	}
	return texts
}

// streamMessages subscribes to each view. If the map resume has a cursor (resume position) for a view, a second
// subscription resumes from this cursor. It returns the texts and the cursors by the subscription's name. round selects
// the client address.
func (s *site) streamMessages(o observer, round int, resume map[string]string) (texts, cursors map[string]string) {
	s.Helper()
	st := must(s.openStream(s.Context(), readerAddress(round), o, resume))(s.probe)
	defer st.close()
	cursors = must(st.cursors())(s.probe)
	if resume != nil {
		// Leave time for messages that the server must not send.
		wait(20 * time.Millisecond)
	}
	return st.texts(), cursors
}

// readerAddress returns one of 20 client addresses, because the server limits requests per address.
func readerAddress(round int) string { return fmt.Sprint("127.0.3.", 1+round%20) }

// mask replaces times and cursors (resume positions), because they differ between responses. The length of a cursor
// stays visible.
func mask(text string) string {
	text = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`).ReplaceAllString(text, "TIME")
	text = regexp.MustCompile(`data-wire="TIME">[^<]*<`).ReplaceAllString(text, `data-wire="TIME">AGE<`)
	return cursorPattern().ReplaceAllStringFunc(text, func(cursor string) string {
		return fmt.Sprint("CURSOR of ", len(cursor))
	})
}

func cursorPattern() *regexp.Regexp { return regexp.MustCompile(`"cursor":"[^"]*"`) }

// changeHidden changes objects in the hidden namespace, and waits until the program has received the changes.
func (s *site) changeHidden(value string) {
	s.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "oracle"}, Data: map[string]string{"value": value}}
	maps := s.Core.CoreV1().ConfigMaps(s.hidden)
	written, err := maps.Update(s.Context(), cm, metav1.UpdateOptions{})
	if err != nil {
		written, err = maps.Create(s.Context(), cm, metav1.CreateOptions{})
	}
	s.check(err)
	name := fmt.Sprint("event-", time.Now().UnixNano())
	s.createEvent(s.hidden, name, "oracle")
	for kind, text := range map[string]string{configMaps: `"` + written.ResourceVersion + `"`, events: name} {
		all := get("/api/v1/snapshot/"+kind+"?ns="+s.hidden, bearer(s.creator))
		s.check(eventually(10*time.Second, func() error {
			if a := s.do(all); !strings.Contains(a.body, text) {
				return fmt.Errorf("the response does not contain %q", text)
			}
			return nil
		}))
	}
}
