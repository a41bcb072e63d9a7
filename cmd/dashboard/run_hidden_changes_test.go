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

	"github.com/glasshouse-project/glasshouse/internal/livetest"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Compile each pattern only once, because the race detector makes the compilation slow.
var (
	digestMember = regexp.MustCompile(`"digest":"[0-9a-f]*"`)
	nonceText    = regexp.MustCompile(`"nonce-[^"]*"`)
	latencyValue = regexp.MustCompile(`"latencyMs":\d+`)
	latencyText  = regexp.MustCompile(`Responds in \d+ ms`)
	extraCells   = regexp.MustCompile(`,"extra":\[[^\]]*\]`)
	cursorMember = regexp.MustCompile(`"cursor":"([^"]+)"`)
	textMember   = regexp.MustCompile(`"text":"(?:[^"\\]|\\.)*"`)
	eventsMember = regexp.MustCompile(`"events":\[.*\]`)
	objectMember = regexp.MustCompile(`,"object":\{.*\}`)
	idMember     = regexp.MustCompile(`"id":\d+,`)
)

// observer is a client with restricted permissions. It searches its responses for signs of hidden changes.
type observer struct {
	prober *prober
	name   string
	header http.Header
	target target
	byName bool // The observer can get one object, but cannot list objects.
	// If isThorough is true, the observer uses all filters of subscriptions, and also requests and subscribes to objects
	// of a namespace that it cannot read.
	isThorough bool

	requests []string
	// The first response to each request, with masked values. The key is the request, followed by the state of the
	// visible objects ("0" or "1").
	responses map[string]string
	// The first messages of each view, with masked values. The key is the view, followed by the state of the visible
	// objects ("0" or "1").
	messages map[string]string
	cursors  map[string]bool
	lengths  map[int]bool
	socket   *backgroundSocket
	last     map[int]string // The newest cursor of each subscription, by ID.
	views    []string       // The view of each subscription; the index is the subscription ID minus one.
	nextID   int
	foreign  []string // The messages that subscribe to hidden objects, without op and ID.
	kept     int      // The highest ID of the subscriptions that stay open.
}

func (p *prober) newObserver(t *testing.T, name string, header http.Header, object target) *observer {
	t.Helper()
	s := &observer{
		prober: p, name: name, header: header, target: object, byName: name == "user by name",
		isThorough: name == "user by namespace",
		responses:  make(map[string]string), messages: make(map[string]string), last: make(map[int]string),
		cursors: make(map[string]bool), lengths: make(map[int]bool),
	}
	requests := routeRequests()
	for _, route := range p.routes(t) {
		routeRequests, listed := requests[route]
		if !listed {
			t.Errorf("%s is a new route: add its requests to routeRequests", route)
		}
		for _, request := range routeRequests {
			// A request with follow=true is not sent, because its response does not end. The observer uses the view
			// "log" instead.
			if !strings.Contains(request, "follow=true") {
				s.requests = append(s.requests, object.expand(request))
				if foreign := p.foreign().expand(request); s.isThorough && !slices.Contains(s.requests, foreign) {
					s.requests = append(s.requests, foreign)
				}
			}
		}
	}
	if s.isThorough {
		s.requests = append(s.requests, "/api/v1/search?q=hidden")
	}
	slices.Sort(s.requests)
	s.socket = p.openSocket(t, header)
	return s
}

// foreign returns an object that no observer can read.
func (p *prober) foreign() target { return target{"core/v1/configmaps", p.otherNamespace, plantedName} }

// get returns the cursor of a response, and its status, headers and body in one text (masked). In this text,
// placeholders replace the values that always differ.
func (o *observer) get(t *testing.T, path string) (masked, cursor string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.prober.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = path
	request.Header = o.header.Clone()
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
		t.Fatalf("%s sends too many requests: %s", o.name, body)
	}
	cursor = o.recordCursor(t, path, string(body))
	o.wantNothingHidden(t, path, string(body))
	text := string(body)
	if strings.HasPrefix(path, "/api/v1/logs/") && response.StatusCode == http.StatusOK {
		text = "LOG" // Logs grow, so they are not compared.
	}
	var out strings.Builder
	fmt.Fprintln(&out, response.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		if name != "Date" && name != "Content-Length" && name != "Set-Cookie" {
			fmt.Fprintln(&out, name, response.Header[name])
		}
	}
	return o.mask(out.String() + text), cursor
}

func (o *observer) mask(text string) string {
	text = digestMember.ReplaceAllString(text, `"digest":X`)
	text = nonceText.ReplaceAllString(text, "NONCE")
	// Mask the response time of the API server, because it depends on the load of the machine.
	text = latencyValue.ReplaceAllString(text, `"latencyMs":X`)
	text = latencyText.ReplaceAllString(text, "Responds in X ms")
	// This member is absent if the author has changed the object twice within a second.
	text = extraCells.ReplaceAllString(text, "")
	return o.target.mask(text)
}

// recordCursor returns the cursor in a text. It fails if an earlier text had this cursor.
func (o *observer) recordCursor(t *testing.T, source, text string) string {
	t.Helper()
	match := cursorMember.FindStringSubmatch(text)
	if match == nil {
		return ""
	}
	if o.cursors[match[1]] {
		t.Errorf("%s, %s: the cursor %s occurs twice", o.name, source, match[1])
	}
	o.cursors[match[1]], o.lengths[len(match[1])] = true, true
	return match[1]
}

// wantNothingHidden checks that a text has neither the name nor a value of an object that changeHidden has changed.
func (o *observer) wantNothingHidden(t *testing.T, source, text string) {
	t.Helper()
	if at := strings.Index(text, "hidden-"); at >= 0 {
		t.Errorf("%s, %s: got a hidden object: %s", o.name, source, text[max(0, at-200):min(len(text), at+100)])
	}
}

func (o *observer) wantSame(t *testing.T, first map[string]string, key, text string) {
	t.Helper()
	// Under load, the server sends the home page without the list of problems, and the script of the page requests the
	// list later. Compare such a page only with other pages without the list.
	if strings.Contains(text, `id="asof" class="asof" data-at="TIME"></span>`) {
		key += ", without problems"
	}
	want, known := first[key]
	if !known {
		first[key] = text
	} else if text != want {
		t.Errorf("%s, %s: the response has changed, %s", o.name, key, firstDifference(text, want))
	}
}

func (o *observer) subscribe(view, members string) (id int) {
	memberText := `"resource":"REF","view":"` + view + `"`
	switch view {
	case "window":
		memberText += `,"offset":0,"count":100`
	case "object":
		memberText += `,"ns":["NS"],"name":"NAME"`
	case "changes":
		if o.byName {
			memberText += `,"ns":["NS"],"name":"NAME"`
		}
	case "log":
		memberText = `"resource":"core/v1/pods","ns":["NS"],"name":"NAME","view":"log","follow":true`
	case "resources":
		memberText = `"view":"resources"`
	}
	return o.send(view, o.target.expand(memberText)+members)
}

func (o *observer) send(view, members string) (id int) {
	o.nextID++
	o.views = append(o.views, view)
	o.socket.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,%s}`, o.nextID, members))
	return o.nextID
}

// subscribeToAll subscribes to visible and to hidden objects with all views and filters. It returns the IDs of the
// subscriptions whose objects change.
func (o *observer) subscribeToAll() (changing []int) {
	all := subscriptions()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		own, foreign := o.target.expand(all[name]), o.prober.foreign().expand(all[name])
		if name != "log" { // The log grows without a change of an object.
			changing = append(changing, o.send(name, own))
		}
		if foreign != own {
			o.foreign = append(o.foreign, foreign)
			o.send("foreign", foreign)
		}
	}
	return changing
}

// wantNoOtherMessages checks that no open subscription except the one with the ID received messages. Logs are ignored,
// because they grow at any time.
func (o *observer) wantNoOtherMessages(t *testing.T, id int, received map[int][]string) {
	t.Helper()
	for other, messages := range received {
		if other != id && other <= o.kept && o.views[other-1] != "log" {
			t.Errorf("%s, view %s: got %s although no visible object has changed", o.name, o.views[other-1], messages)
		}
	}
}

// subscribeToHidden repeats a subscription to hidden objects, and checks that it receives the same messages as before.
func (o *observer) subscribeToHidden(t *testing.T, members string) (received map[int][]string) {
	t.Helper()
	id := o.send(members, members)
	received = o.readUntil(t, func(received map[int][]string) bool { return len(received[id]) > 0 })
	text := strings.Join(received[id], "")
	o.wantSameMessages(t, id, "", received[id][:1])
	if !strings.Contains(strings.ToLower(text), "forbidden") {
		t.Errorf("%s: got %s of a hidden object, want Forbidden", o.name, text)
	}
	if !strings.Contains(text, `"type":"error"`) { // An error ends the subscription.
		o.socket.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id))
	}
	delete(received, id)
	return received
}

// readUntil receives messages until the function enough returns true. It returns the messages with changes, by
// subscription ID.
func (o *observer) readUntil(t *testing.T, enough func(received map[int][]string) bool) map[int][]string {
	t.Helper()
	received := make(map[int][]string)
	deadline := time.After(30 * time.Second)
	for !enough(received) {
		var m *livetest.Message
		select {
		case m = <-o.socket.messages:
		case <-deadline:
			t.Fatalf("%s: not all messages arrived within 30 s: %v", o.name, received)
		}
		message := string(m.Raw)
		// Heartbeats and digests must contain the newest cursor.
		if m.Type == "heartbeat" || m.Type == "digest" {
			if m.Cursor != "" && m.Cursor != o.last[m.ID] {
				t.Errorf("%s: the cursor of a %s message of %s differs from that of the last "+
					"message", o.name, m.Type, o.views[m.ID-1])
			}
			continue
		}
		o.wantNothingHidden(t, o.views[m.ID-1], message)
		if cursor := o.recordCursor(t, o.views[m.ID-1], message); cursor != "" {
			o.last[m.ID] = cursor
		}
		if strings.HasSuffix(message, `"events":[]}`) && !strings.Contains(message, `"changes":`) {
			continue // Ignore this message: it contains no change, only a new cursor.
		}
		received[m.ID] = append(received[m.ID], message)
	}
	return received
}

// wantSameMessages checks that all subscriptions to a view get equal messages while the visible objects have the same
// state.
func (o *observer) wantSameMessages(t *testing.T, id int, state string, messages []string) {
	t.Helper()
	view := o.views[id-1]
	text := strings.Join(messages, "\n")
	switch view {
	case "log":
		text = textMember.ReplaceAllString(messages[0], "TEXT")
	case "changes":
		// Mask the events of a snapshot: they are the changes of the last minute, so they depend on the time.
		if strings.Contains(text, `"type":"snapshot"`) {
			text = eventsMember.ReplaceAllString(text, "EVENTS")
			text = objectMember.ReplaceAllString(text, "")
		}
	}
	text = idMember.ReplaceAllString(text, "")
	o.wantSame(t, o.messages, view+" "+state, o.mask(text))
}

func (o *observer) subscribedViews() []string {
	if o.byName {
		return []string{"object", "changes"}
	}
	return []string{"rows", "table", "window", "object", "changes"}
}

// newObservers returns clients with restricted permissions. Some of them can read all objects in ownNamespace. The
// others can read only some objects in partNamespace.
func (p *prober) newObservers(t *testing.T, ownNamespace, partNamespace string) []*observer {
	t.Helper()
	const ref = "core/v1/configmaps"
	read := []string{"get", "list", "watch"}
	rule := rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps", "pods", "pods/log"}, Verbs: read,
	}
	nameRule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: read}
	nameRule.ResourceNames = []string{plantedName}
	namespaceToken := p.token(t, ownNamespace, "spy", rule)
	nameToken := p.clusterToken(t, ownNamespace, "spy-named", nameRule)
	ownerToken := p.clusterToken(t, ownNamespace, "spy-owner", rule)
	p.allToken = ownerToken // The owner can read all objects, also those that are hidden from observers.
	guest := func(parts string) http.Header {
		return http.Header{"Cookie": {p.openLink(p.share(t, ownerToken, parts))}, "Origin": {p.url}}
	}
	sharePart := func(ns, filter string) string {
		return fmt.Sprintf(`{"resource":%q,"namespaces":[%q]%s}`, ref, ns, filter)
	}
	ownTarget, partTarget := target{ref, ownNamespace, plantedName}, target{ref, partNamespace, plantedName}
	eventually(t, "the permissions of the readers are effective", func() error {
		for _, token := range []string{namespaceToken, nameToken} {
			if body, status := p.getAs(token, "/api/v1/object/"+ref+"/"+ownNamespace+"/"+plantedName); status != http.StatusOK {
				return fmt.Errorf("GET object: got %d %s, want 200", status, body)
			}
		}
		return nil
	})
	const pods = `,{"resource":"core/v1/pods","namespaces":[%q]},{"resource":"core/v1/pods/log","namespaces":[%q]}`
	logs := fmt.Sprintf(pods, ownNamespace, ownNamespace)
	return []*observer{
		p.newObserver(t, "user by namespace", bearer(namespaceToken), ownTarget),
		p.newObserver(t, "user by name", bearer(nameToken), ownTarget),
		p.newObserver(t, "guest by namespace", guest(sharePart(ownNamespace, "")+logs), ownTarget),
		p.newObserver(t, "guest by labels", guest(sharePart(partNamespace, `,"labels":"app=`+plantedName+`"`)), partTarget),
		p.newObserver(t, "guest by name", guest(sharePart(partNamespace, `,"name":"`+plantedName+`"`)), partTarget),
		p.newObserver(t, "guest by text", guest(sharePart(partNamespace, `,"q":"`+plantedName+`"`)), partTarget),
	}
}

func (p *prober) share(t *testing.T, token, parts string) (link string) {
	t.Helper()
	var shareURL string
	eventually(t, "the link is created", func() error {
		body := strings.NewReader(`{"parts":[` + parts + `],"to":"/r/core/v1/configmaps","seconds":3600}`)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/api/v1/shares", body)
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
			return fmt.Errorf("POST /api/v1/shares: got %d %s, error %w; want 201", response.StatusCode, text, err)
		}
		var created struct{ URL string }
		err = json.Unmarshal(text, &created)
		shareURL = created.URL
		return err
	})
	return shareURL
}

func (p *prober) clusterToken(t *testing.T, ns, name string, rule rbacv1.PolicyRule) string {
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
	return p.token(t, ns, name)
}

func (p *prober) change(t *testing.T, namespaces []string, value string) {
	t.Helper()
	for _, ns := range namespaces {
		p.plant(t, ns, plantedName, value)
		p.waitForValue(t, ns, plantedName, value)
	}
}

func (p *prober) waitForValue(t *testing.T, ns, name, value string) {
	t.Helper()
	eventually(t, "the program has received a change", func() error {
		body, status := p.getAs(p.allToken, "/api/v1/object/core/v1/configmaps/"+ns+"/"+name)
		if status != http.StatusOK || !strings.Contains(body, `"value":"`+value+`"`) {
			return fmt.Errorf("GET object: got %d %s, want the new value", status, body)
		}
		return nil
	})
}

// changeHidden changes objects that no observer can read, and waits until the program has received the changes.
func (p *prober) changeHidden(t *testing.T, part string, n int) {
	t.Helper()
	value := fmt.Sprint("hidden-", n)
	if n%20 == 0 {
		p.api.namespace(t)
	}
	for _, ns := range []string{p.otherNamespace, part} {
		p.plant(t, ns, "hidden", value)
		p.plant(t, ns, value, "")
		if err := p.api.core.ConfigMaps(ns).Delete(t.Context(), value, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		p.plant(t, ns, "hidden", value+"-end")
		p.waitForValue(t, ns, "hidden", value+"-end")
	}
	p.plant(t, p.otherNamespace, plantedName, value)
	p.waitForValue(t, p.otherNamespace, plantedName, value)
}

// Hidden objects change in half of the rounds. In each round, the test guesses from the responses whether they have
// changed. It passes if only about half of the guesses are right, as in a random guess.
// Invariant: S24. A restricted reader is a client that may not see all objects of a resource. Nothing that a restricted
// reader receives depends on objects that this reader may not see. docs/security.md lists the exceptions.
// Invariant: I18.
func TestHiddenChangesCannotBeGuessed(t *testing.T) {
	// The environment variable ROUNDS sets the number of rounds. Each request is sent in 8 of 80 rounds.
	rounds := 80
	if s := os.Getenv("ROUNDS"); s != "" {
		rounds, _ = strconv.Atoi(s)
	}
	w := newProber(t)
	partNamespace := w.api.namespace(t)
	visible := []string{w.ownNamespace, partNamespace}
	w.plant(t, partNamespace, plantedName, "0")
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: plantedName}, Spec: spec}
	if _, err := w.api.core.Pods(w.ownNamespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod runs", func() error {
		pod, err := w.api.core.Pods(w.ownNamespace).Get(t.Context(), plantedName, metav1.GetOptions{})
		if err == nil && pod.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("the pod's phase is %s, want Running", pod.Status.Phase)
		}
		return err
	})
	observers := w.newObservers(t, w.ownNamespace, partNamespace)
	allSocket := w.openSocket(t, bearer(w.allToken)) // This socket keeps all resources watched.
	for n, ref := range []string{"core/v1/configmaps", "core/v1/pods"} {
		allSocket.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"view":"table"}`, n+1, ref))
	}
	allSocket.Send(`{"op":"subscribe","id":3,"view":"overview"}`)
	allSocket.collect(make(map[int][]string), func() bool { return true })
	eventually(t, "the home pages are complete", func() error {
		for _, s := range observers {
			if text, _ := s.get(t, "/api/v1/problems"); !strings.Contains(text, `"watched":[{`) {
				continue // This observer can read only some objects of each resource, so it never gets the list "watched".
			}
			if text, _ := s.get(t, "/"); strings.Contains(text, `id="count" class="count"></span>`) {
				return fmt.Errorf("the home page of the %s: some resources are not read yet", s.name)
			}
		}
		return nil
	})
	for n := range 12 { // Afterwards, the home pages have the maximum number of recent changes of ConfigMaps.
		w.change(t, visible, fmt.Sprint("first-", n))
		<-time.After(1100 * time.Millisecond) // The times in managedFields have a precision of a second.
	}
	followed := make(map[*observer][]int)
	// Round 0 only starts all watches. Rounds 1 and 2 record the first responses, to which later ones must be equal.
	for round := range 3 {
		state := strconv.Itoa(round % 2)
		w.changeHidden(t, partNamespace, 1000+round)
		w.change(t, visible, state)
		for _, s := range observers {
			if round == 1 {
				clear(s.responses)
			}
			for _, request := range s.requests {
				response, _ := s.get(t, request)
				s.wantSame(t, s.responses, request+" "+state, response)
				if round == 0 {
					clear(s.responses)
				}
			}
			for _, view := range s.subscribedViews() {
				if round == 0 {
					followed[s] = append(followed[s], s.subscribe(view, ""))
				}
			}
			if round == 0 && strings.HasSuffix(s.name, "by namespace") {
				s.subscribe("log", "")
			}
			if round == 0 {
				s.subscribe("resources", "")
				if s.isThorough {
					followed[s] = append(followed[s], s.subscribeToAll()...)
				}
				s.kept = s.nextID
				s.readUntil(t, func(received map[int][]string) bool {
					return len(received) == len(s.views) && !slices.ContainsFunc(followed[s], func(id int) bool {
						return !strings.Contains(strings.Join(received[id], ""), `"cursor":`)
					})
				})
			}
		}
	}
	byCursor, byContent := make(map[string]int), make(map[string]int)
	for round := range rounds {
		changes, state := round%4 == 1 || round%4 == 2, strconv.Itoa((round+1)%2)
		before, cursors := make(map[*observer]string), make(map[*observer]string)
		firstPath := func(s *observer) string {
			if s.byName {
				return "/api/v1/object/" + s.target.expand("REF/NS/NAME")
			}
			return "/api/v1/snapshot/" + s.target.ref
		}
		oldCursors := make(map[*observer]map[int]string)
		for _, s := range observers {
			oldCursors[s] = maps.Clone(s.last)
		}
		w.change(t, visible, state)
		for _, s := range observers {
			received := s.readUntil(t, func(received map[int][]string) bool {
				return !slices.ContainsFunc(followed[s], func(id int) bool {
					return len(received[id]) == 0 || !strings.Contains(received[id][len(received[id])-1], `"events":[{`)
				})
			})
			for id, messages := range received {
				if s.views[id-1] == "foreign" && round > 1 {
					t.Errorf("%s: got %s of a hidden object after the first messages", s.name, messages)
				}
				if round > 1 || s.views[id-1] == "log" {
					s.wantSameMessages(t, id, state, messages)
				}
			}
			before[s], cursors[s] = s.get(t, firstPath(s))
		}
		if changes {
			w.changeHidden(t, partNamespace, round)
		}
		for _, s := range observers {
			after, cursor := s.get(t, firstPath(s))
			if (cursor != cursors[s]) == changes {
				byCursor[s.name]++
			}
			if (after != before[s]) == changes {
				byContent[s.name]++
			}
			for n := round / 4 % 10; n < len(s.requests); n += 10 {
				response, _ := s.get(t, s.requests[n])
				s.wantSame(t, s.responses, s.requests[n]+" "+state, response)
			}
			views := s.subscribedViews()
			view := views[round/4%len(views)]
			id := s.subscribe(view, fmt.Sprintf(`,"cursor":%q`, oldCursors[s][followed[s][round/4%len(views)]]))
			received := s.readUntil(t, func(received map[int][]string) bool {
				return strings.Contains(strings.Join(received[id], ""), `"cursor":`)
			})
			if text := strings.Join(received[id], ""); view != "window" &&
				(strings.Contains(text, `"reset"`) || !strings.Contains(text, `"events":[{`)) {
				t.Errorf("%s cannot resume the view %s: %s", s.name, view, text)
			}
			// Skip rounds 0 and 1: there, oldCursors are older than in later rounds, so the responses have more changes.
			if round > 1 {
				s.wantSameMessages(t, id, state+", resubscribed", received[id])
				s.wantNoOtherMessages(t, id, received)
				// Each of these is sent in rounds that change hidden objects, and in rounds that do not.
				for n := round / 4 % 10; n < len(s.foreign); n += 10 {
					s.wantNoOtherMessages(t, 0, s.subscribeToHidden(t, s.foreign[n]))
				}
			}
			s.socket.Send(fmt.Sprintf(`{"op":"unsubscribe","id":%d}`, id))
		}
	}
	for _, s := range observers {
		want := rounds / 2
		if !s.byName && byCursor[s.name] != want || byContent[s.name] != want || len(s.lengths) != 1 {
			t.Errorf("%s: of %d guesses, %d are right by the cursor and %d by other content, want %d; cursor lengths are %v",
				s.name, rounds, byCursor[s.name], byContent[s.name], want, s.lengths)
		}
		t.Logf("%s: of %d guesses, %d are right by other content than the cursor; %d cursors, %d requests",
			s.name, rounds, byContent[s.name], len(s.cursors), len(s.requests))
		if !s.byName {
			t.Logf("%s: of %d guesses, %d are right by the cursor", s.name, rounds, byCursor[s.name])
		}
	}
}
