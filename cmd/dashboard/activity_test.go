//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// spy is a restricted reader that searches for signs of hidden changes.
type spy struct {
	w      *walker
	name   string
	header http.Header
	aim    aim  // The object that requests ask for.
	names  bool // Whether it may list nothing, and may read one object by its name.

	questions []string
	answers   map[string]string // First response to each question in each state of the visible objects, masked.
	frames    map[string]string // First messages of each view in each state, masked.
	cursors   map[string]bool
	lengths   map[int]bool
	ear       *ear
	last      map[int]string // The newest cursor of each subscription.
	views     []string       // The view of each subscription, at the index of its ID minus one.
	nextID    int
}

func (w *walker) newSpy(t *testing.T, name string, header http.Header, a aim) *spy {
	t.Helper()
	s := &spy{
		w: w, name: name, header: header, aim: a, names: name == "user by name",
		answers: make(map[string]string), frames: make(map[string]string), last: make(map[int]string),
		cursors: make(map[string]bool), lengths: make(map[int]bool),
	}
	walks := walks()
	for _, route := range w.routes(t) {
		questions, decided := walks[route]
		if !decided {
			t.Errorf("%s is a new route: add its questions to walks", route)
		}
		for _, question := range questions {
			// This response would not end. The spy follows the view log instead.
			if !strings.Contains(question, "follow=true") {
				s.questions = append(s.questions, a.in(question))
			}
		}
	}
	slices.Sort(s.questions)
	options := &websocket.DialOptions{Subprotocols: []string{"glasshouse.v1+json"}, HTTPHeader: header}
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(w.url, "http://", "ws://", 1)+"/api/v1/live", options)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	s.ear = &ear{t, conn, make(chan string, 10_000)}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			_, frame, err := conn.Read(t.Context())
			if err != nil {
				return
			}
			s.ear.frames <- string(frame)
		}
	}()
	t.Cleanup(func() { _ = conn.CloseNow(); <-heard })
	return s
}

// ask sends a request. It returns the response with its headers, and the cursor in it if there is one.
func (s *spy) ask(t *testing.T, path string) (answer, cursor string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.w.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = path
	request.Header = s.header.Clone()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		t.Fatalf("%s asks too much: %s", s.name, body)
	}
	cursor = s.note(t, path, string(body))
	text := string(body)
	if strings.HasPrefix(path, "/api/v1/logs/") && response.StatusCode == http.StatusOK {
		text = "LOG" // The log grows.
	}
	var out strings.Builder
	fmt.Fprintln(&out, response.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		if name != "Date" && name != "Content-Length" && name != "Set-Cookie" {
			fmt.Fprintln(&out, name, response.Header[name])
		}
	}
	return s.mask(out.String() + text), cursor
}

func (s *spy) mask(text string) string {
	text = regexp.MustCompile(`"digest":"[0-9a-f]*"`).ReplaceAllString(text, `"digest":X`)
	text = regexp.MustCompile(`"nonce-[^"]*"`).ReplaceAllString(text, "NONCE")
	return s.aim.masked(text)
}

// note records the cursor in a text and returns it. Each cursor must be unique.
func (s *spy) note(t *testing.T, where, text string) string {
	t.Helper()
	match := regexp.MustCompile(`"cursor":"([^"]+)"`).FindStringSubmatch(text)
	if match == nil {
		return ""
	}
	if s.cursors[match[1]] {
		t.Errorf("%s, %s: the cursor %s comes twice", s.name, where, match[1])
	}
	s.cursors[match[1]], s.lengths[len(match[1])] = true, true
	return match[1]
}

// must checks that a text equals the first text with the same key.
func (s *spy) must(t *testing.T, first map[string]string, key, text string) {
	t.Helper()
	want, known := first[key]
	if !known {
		first[key] = text
	} else if text != want {
		t.Errorf("%s, %s has changed, %s", s.name, key, differs(text, want))
	}
}

// subscribe subscribes to a view, and returns the ID.
func (s *spy) subscribe(view, more string) (id int) {
	s.nextID++
	s.views = append(s.views, view)
	frame := `"resource":"REF","view":"` + view + `"`
	switch view {
	case "window":
		frame += `,"offset":0,"count":100`
	case "object":
		frame += `,"ns":["NS"],"name":"NAME"`
	case "changes":
		if s.names {
			frame += `,"ns":["NS"],"name":"NAME"`
		}
	case "log":
		frame = `"resource":"core/v1/pods","ns":["NS"],"name":"NAME","view":"log","follow":true`
	case "resources":
		frame = `"view":"resources"`
	}
	s.ear.send(fmt.Sprintf(`{"op":"subscribe","id":%d,%s%s}`, s.nextID, s.aim.in(frame), more))
	return s.nextID
}

// hear reads messages until enough returns true. It returns the messages with changes, by subscription. The cursor of a
// heartbeat or digest must be the newest one.
func (s *spy) hear(t *testing.T, enough func(heard map[int][]string) bool) map[int][]string {
	t.Helper()
	heard := make(map[int][]string)
	deadline := time.After(30 * time.Second)
	for !enough(heard) {
		var frame string
		select {
		case frame = <-s.ear.frames:
		case <-deadline:
			t.Fatalf("%s: not enough within 30 s: %v", s.name, heard)
		}
		var m struct {
			ID           int
			Type, Cursor string
		}
		if err := json.Unmarshal([]byte(frame), &m); err != nil {
			t.Fatal(err)
		}
		if m.Type == "heartbeat" || m.Type == "digest" {
			if m.Cursor != "" && m.Cursor != s.last[m.ID] {
				t.Errorf("%s: a %s of %s has another cursor than the last message", s.name, m.Type, s.views[m.ID-1])
			}
			continue
		}
		if cursor := s.note(t, s.views[m.ID-1], frame); cursor != "" {
			s.last[m.ID] = cursor
		}
		if strings.HasSuffix(frame, `"events":[]}`) && !strings.Contains(frame, `"changes":`) {
			continue // This message has only a fresh cursor, which is sent after a while.
		}
		heard[m.ID] = append(heard[m.ID], frame)
	}
	return heard
}

// check compares the messages of a subscription with the first ones of the same view and state.
func (s *spy) check(t *testing.T, id int, state string, frames []string) {
	t.Helper()
	view := s.views[id-1]
	text := strings.Join(frames, "\n")
	switch view {
	case "log":
		text = regexp.MustCompile(`"text":"(?:[^"\\]|\\.)*"`).ReplaceAllString(frames[0], "TEXT")
	case "changes":
		// The snapshot contains the changes of the last minute.
		if strings.Contains(text, `"type":"snapshot"`) {
			text = regexp.MustCompile(`"events":\[.*\]`).ReplaceAllString(text, "EVENTS")
			text = regexp.MustCompile(`,"object":\{.*\}`).ReplaceAllString(text, "")
		}
	}
	text = regexp.MustCompile(`"id":\d+,`).ReplaceAllString(text, "")
	s.must(t, s.frames, view+" "+state, s.mask(text))
}

// lists returns the views to which the spy subscribes.
func (s *spy) lists() []string {
	if s.names {
		return []string{"object", "changes"}
	}
	return []string{"rows", "table", "window", "object", "changes"}
}

// spies returns restricted readers of each sort. Readers with access to a whole namespace see the namespace own.
// Readers with access to a part of a namespace see it in the namespace part.
func (w *walker) spies(t *testing.T, own, part string) []*spy {
	t.Helper()
	const ref = "core/v1/configmaps"
	read := []string{"get", "list", "watch"}
	rule := rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps", "pods", "pods/log"}, Verbs: read,
	}
	oneName := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: read}
	oneName.ResourceNames = []string{theName}
	namespace := w.token(t, own, "spy", rule)
	named := w.clusterToken(t, own, "spy-named", oneName)
	owner := w.clusterToken(t, own, "spy-owner", rule)
	w.none = owner // This user sees everything, including what the spies may not see.
	guest := func(parts string) http.Header {
		return http.Header{"Cookie": {w.open(w.share(t, owner, parts))}, "Origin": {w.url}}
	}
	in := func(ns, more string) string { return fmt.Sprintf(`{"resource":%q,"namespaces":[%q]%s}`, ref, ns, more) }
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	whole, some := aim{ref, own, theName}, aim{ref, part, theName}
	eventually(t, "the readers have their rights", func() error {
		for _, token := range []string{namespace, named} {
			if body, status := w.as(token, "/api/v1/object/"+ref+"/"+own+"/"+theName); status != http.StatusOK {
				return fmt.Errorf("%d %s", status, body)
			}
		}
		return nil
	})
	const pods = `,{"resource":"core/v1/pods","namespaces":[%q]},{"resource":"core/v1/pods/log","namespaces":[%q]}`
	logs := fmt.Sprintf(pods, own, own)
	return []*spy{
		w.newSpy(t, "user by namespace", bearer(namespace), whole),
		w.newSpy(t, "user by name", bearer(named), whole),
		w.newSpy(t, "guest by namespace", guest(in(own, "")+logs), whole),
		w.newSpy(t, "guest by labels", guest(in(part, `,"labels":"app=`+theName+`"`)), some),
		w.newSpy(t, "guest by name", guest(in(part, `,"name":"`+theName+`"`)), some),
		w.newSpy(t, "guest by text", guest(in(part, `,"q":"`+theName+`"`)), some),
	}
}

// share creates a share with a token, and returns its link.
func (w *walker) share(t *testing.T, token, parts string) (link string) {
	t.Helper()
	var stated string
	eventually(t, "it is shared", func() error {
		body := strings.NewReader(`{"parts":[` + parts + `],"to":"/r/core/v1/configmaps","seconds":3600}`)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/api/v1/shares", body)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusCreated {
			return fmt.Errorf("%d %s %w", response.StatusCode, text, err)
		}
		var made struct{ URL string }
		err = json.Unmarshal(text, &made)
		stated = made.URL
		return err
	})
	return stated
}

// clusterToken returns the token of a new service account with permissions in all namespaces.
func (w *walker) clusterToken(t *testing.T, ns, name string, rule rbacv1.PolicyRule) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(mustConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Name: ns + "-" + name}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}}
	if _, err := client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: ns}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = client.RbacV1().ClusterRoles().Delete(ctx, meta.Name, metav1.DeleteOptions{})
		_ = client.RbacV1().ClusterRoleBindings().Delete(ctx, meta.Name, metav1.DeleteOptions{})
	})
	return w.token(t, ns, name)
}

// change makes a change that the spies may see, and returns when the program has received it.
func (w *walker) change(t *testing.T, namespaces []string, value string) {
	t.Helper()
	for _, ns := range namespaces {
		w.plant(t, ns, theName, value)
		w.await(t, ns, theName, value)
	}
}

func (w *walker) await(t *testing.T, ns, name, value string) {
	t.Helper()
	eventually(t, "the program knows a change", func() error {
		body, status := w.as(w.none, "/api/v1/object/core/v1/configmaps/"+ns+"/"+name)
		if status != http.StatusOK || !strings.Contains(body, `"value":"`+value+`"`) {
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
}

// stir changes objects that no spy may see, and returns when the program has received these changes.
func (w *walker) stir(t *testing.T, part string, round int) {
	t.Helper()
	value := fmt.Sprint("stir-", round)
	if round%20 == 0 {
		w.o.namespace(t)
	}
	for _, ns := range []string{w.not, part} {
		w.plant(t, ns, "stir", value)
		w.plant(t, ns, value, "")
		if err := w.o.core.ConfigMaps(ns).Delete(t.Context(), value, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.plant(t, ns, "stir", value+"-end")
		w.await(t, ns, "stir", value+"-end")
	}
	w.plant(t, w.not, theName, value)
	w.await(t, w.not, theName, value)
}

// Invariant: S24. Nothing that a restricted reader receives depends on objects that it may not see. Responses, headers
// and messages of all routes and views differ only in times and resourceVersions. Hidden objects change in half of the
// rounds. A guess from the differences is right as often as by chance. ROUNDS is the number of rounds (200).
func TestHiddenChangesAreNotGuessed(t *testing.T) {
	rounds := 200
	if s := os.Getenv("ROUNDS"); s != "" {
		rounds, _ = strconv.Atoi(s)
	}
	w := newWalker(t)
	part := w.o.namespace(t)
	visible := []string{w.own, part}
	w.plant(t, part, theName, "0")
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: theName}, Spec: spec}
	if _, err := w.o.core.Pods(w.own).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod runs", func() error {
		pod, err := w.o.core.Pods(w.own).Get(t.Context(), theName, metav1.GetOptions{})
		if err == nil && pod.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return err
	})
	spies := w.spies(t, w.own, part)
	all := w.listen(t, w.none) // This subscription keeps all resources watched.
	for n, ref := range []string{"core/v1/configmaps", "core/v1/pods"} {
		all.send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"table"}`, n+1, ref))
	}
	all.hear(make(map[int][]string), func() bool { return true })
	followed := make(map[*spy][]int)
	// The first round starts all watches. The next ones are the baseline.
	for round := range 3 {
		state := strconv.Itoa(round % 2)
		w.stir(t, part, 1000+round)
		w.change(t, visible, state)
		for _, s := range spies {
			if round == 1 {
				clear(s.answers)
			}
			for _, question := range s.questions {
				answer, _ := s.ask(t, question)
				s.must(t, s.answers, question+" "+state, answer)
				if round == 0 {
					clear(s.answers)
				}
			}
			for _, view := range s.lists() {
				if round == 0 {
					followed[s] = append(followed[s], s.subscribe(view, ""))
				}
			}
			if round == 0 && strings.HasSuffix(s.name, "by namespace") {
				s.subscribe("log", "")
			}
			if round == 0 {
				s.subscribe("resources", "")
				s.hear(t, func(heard map[int][]string) bool {
					return len(heard) == len(s.views) && !slices.ContainsFunc(followed[s], func(id int) bool {
						return !strings.Contains(strings.Join(heard[id], ""), `"cursor":`)
					})
				})
			}
		}
	}
	byCursor, byRest := make(map[string]int), make(map[string]int)
	for round := range rounds {
		changes, state := round%4 == 1 || round%4 == 2, strconv.Itoa((round+1)%2)
		before, cursors := make(map[*spy]string), make(map[*spy]string)
		first := func(s *spy) string {
			if s.names {
				return "/api/v1/object/" + s.aim.in("REF/NS/NAME")
			}
			return "/api/v1/snapshot/" + s.aim.ref
		}
		held := make(map[*spy]map[int]string) // The cursors from before the visible change.
		for _, s := range spies {
			held[s] = maps.Clone(s.last)
		}
		w.change(t, visible, state)
		for _, s := range spies {
			heard := s.hear(t, func(heard map[int][]string) bool {
				return !slices.ContainsFunc(followed[s], func(id int) bool {
					return len(heard[id]) == 0 || !strings.Contains(heard[id][len(heard[id])-1], `"events":[{`)
				})
			})
			for id, frames := range heard {
				if round > 1 || s.views[id-1] == "log" {
					s.check(t, id, state, frames)
				}
			}
			before[s], cursors[s] = s.ask(t, first(s))
		}
		if changes {
			w.stir(t, part, round)
		}
		for _, s := range spies {
			after, cursor := s.ask(t, first(s))
			if (cursor != cursors[s]) == changes {
				byCursor[s.name]++
			}
			if (after != before[s]) == changes {
				byRest[s.name]++
			}
			for n := round / 4 % 10; n < len(s.questions); n += 10 {
				answer, _ := s.ask(t, s.questions[n])
				s.must(t, s.answers, s.questions[n]+" "+state, answer)
			}
			views := s.lists()
			view := views[round/4%len(views)]
			id := s.subscribe(view, fmt.Sprintf(`,"cursor":%q`, held[s][followed[s][round/4%len(views)]]))
			heard := s.hear(t, func(heard map[int][]string) bool {
				return strings.Contains(strings.Join(heard[id], ""), `"cursor":`)
			})
			if text := strings.Join(heard[id], ""); view != "window" &&
				(strings.Contains(text, `"reset"`) || !strings.Contains(text, `"events":[{`)) {
				t.Errorf("%s does not resume the view %s: %s", s.name, view, text)
			}
			if round > 1 { // In earlier rounds, the cursor may be older than several changes.
				s.check(t, id, state+", resubscribed", heard[id])
			}
			s.ear.send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id))
		}
	}
	for _, s := range spies {
		want := rounds / 2
		if !s.names && byCursor[s.name] != want || byRest[s.name] != want || len(s.lengths) != 1 {
			t.Errorf("%s: of %d guesses %d are right by the cursor and %d by all else, want %d; cursors have the "+
				"lengths %v",
				s.name, rounds, byCursor[s.name], byRest[s.name], want, s.lengths)
		}
		t.Logf("%s: of %d guesses %d are right by all but the cursor; %d cursors, %d questions",
			s.name, rounds, byRest[s.name], len(s.cursors), len(s.questions))
		if !s.names { // The response for an object has no cursor.
			t.Logf("%s: of %d guesses %d are right by the cursor", s.name, rounds, byCursor[s.name])
		}
	}
}
