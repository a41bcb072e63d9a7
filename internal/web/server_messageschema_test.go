package web_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/glasshouse-project/glasshouse/internal/livetest"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
)

// messageSchemas contains the schemas of WebSocket messages in openapi.json, by name.
type messageSchemas struct {
	document map[string]any
	// published contains the schemas as the server publishes them. They allow unknown members, because new versions of
	// the server can add members.
	published map[string]*jsonschema.Schema
	// closed contains the same schemas, changed to refuse unknown members.
	closed map[string]*jsonschema.Schema
}

var loadMessageSchemas = sync.OnceValues(func() (*messageSchemas, error) {
	text, err := os.ReadFile("api/openapi.json")
	if err != nil {
		return nil, err
	}
	schemas := &messageSchemas{}
	if err := json.Unmarshal(text, &schemas.document); err != nil {
		return nil, err
	}
	if schemas.published, err = compileMessageSchemas(schemas.document); err != nil {
		return nil, err
	}
	var closed map[string]any
	if err := json.Unmarshal(text, &closed); err != nil {
		return nil, err
	}
	refuseUnknownMembers(closed)
	schemas.closed, err = compileMessageSchemas(closed)
	return schemas, err
})

func compileMessageSchemas(document any) (map[string]*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	err := compiler.AddResource("openapi.json", document)
	compiled := make(map[string]*jsonschema.Schema)
	for _, name := range []string{"ServerMessage", "ClientMessage"} {
		var schemaErr error
		compiled[name], schemaErr = compiler.Compile("openapi.json#/components/schemas/" + name)
		err = errors.Join(err, schemaErr)
	}
	return compiled, err
}

// refuseUnknownMembers makes each schema that lists the members of an object refuse all other members.
func refuseUnknownMembers(value any) {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := value["properties"].(map[string]any); ok && value["additionalProperties"] == nil {
			value["additionalProperties"] = false
		}
		for _, child := range value {
			refuseUnknownMembers(child)
		}
	case []any:
		for _, child := range value {
			refuseUnknownMembers(child)
		}
	}
}

// validateMessage returns an error if the text does not match the named schema in openapi.json. It also refuses
// members that the schema does not contain.
func validateMessage(schema string, text []byte) error {
	schemas, err := loadMessageSchemas()
	if err != nil {
		return err
	}
	message, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return errors.Join(schemas.published[schema].Validate(message), schemas.closed[schema].Validate(message))
}

func wantValid(t *testing.T, schema string, text []byte) {
	t.Helper()
	if err := validateMessage(schema, text); err != nil {
		t.Errorf("openapi.json, %s: %v\nin %.500s", schema, err, text)
	}
}

// target returns the schema that schema refers to with $ref, or schema itself if it has no $ref.
func (s *messageSchemas) target(schema map[string]any) map[string]any {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return schema
	}
	found := any(s.document)
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		parent, _ := found.(map[string]any)
		found = parent[name]
	}
	schema, _ = found.(map[string]any)
	return schema
}

// addMembers adds the paths of all members that a schema lists, such as "window rows[] name".
func (s *messageSchemas) addMembers(paths map[string]bool, path string, schema any) {
	object, _ := schema.(map[string]any)
	object = s.target(object)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		alternatives, _ := object[keyword].([]any)
		for _, alternative := range alternatives {
			s.addMembers(paths, path, alternative)
		}
	}
	s.addItems(paths, path, object)
	members, _ := object["properties"].(map[string]any)
	for name, member := range members {
		paths[path+" "+name] = true
		s.addMembers(paths, path+" "+name, member)
	}
}

func (s *messageSchemas) addItems(paths map[string]bool, path string, schema map[string]any) {
	if items, ok := schema["items"].(map[string]any); ok {
		s.addMembers(paths, path+"[]", items)
	}
}

// messageMembers returns the paths of all members in the schemas of the server's messages. A path starts with the
// type of the message.
func (s *messageSchemas) messageMembers() map[string]bool {
	paths := make(map[string]bool)
	root := s.target(map[string]any{"$ref": "#/components/schemas/ServerMessage"})
	alternatives, _ := root["oneOf"].([]any)
	for _, alternative := range alternatives {
		reference, _ := alternative.(map[string]any)
		message := s.target(reference)
		members, _ := message["properties"].(map[string]any)
		typeSchema, _ := members["type"].(map[string]any)
		s.addMembers(paths, fmt.Sprint(typeSchema["const"]), message)
	}
	return paths
}

// removeMembers removes the paths of all members in value from the map. path is the path of value.
func removeMembers(paths map[string]bool, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			delete(paths, path+" "+name)
			removeMembers(paths, path+" "+name, member)
		}
	case []any:
		for _, item := range value {
			removeMembers(paths, path+"[]", item)
		}
	}
}

// The schemas in openapi.json match the messages of all views and all client operations. Each member in the schemas
// occurs in a message. All other tests of this package validate the messages that they receive, too.
//
// Invariant: I47.
func TestMessagesMatchTheSchemas(t *testing.T) {
	schemas, err := loadMessageSchemas()
	if err != nil {
		t.Fatal(err)
	}
	missing := schemas.messageMembers()
	options := livetest.Options{Query: "parts=true", OnMessage: func(m *livetest.Message) {
		wantValid(t, "ServerMessage", m.Raw)
		var message any
		if err := json.Unmarshal(m.Raw, &message); err != nil {
			t.Error(err)
		}
		removeMembers(missing, m.Type, message)
	}}
	inBubble(t, func(b *bubble) {
		b.api.Set("core/v1/namespaces", apitest.Item{Name: "a"})
		c := &schemaTab{b.openAs(options)}
		c.receiveViews(b)
		c.receiveExtraCells(b)
		c.receiveWindows(b)
		c.receiveLogs(b)
		c.receiveStates(b)
		c.Send(`{"op":"ping","id":7}`)
		c.Until(7, "pong")
		c.Send(`{"op":"unsubscribe","id":9999}`)
		c.Until(0, "error")
	}, apitest.Kind{Ref: "core/v1/namespaces", Kind: "Namespace", Cluster: true},
		apitest.Kind{Ref: "core/v1/secrets", Kind: "Secret"}, apitest.Kind{Ref: "core/v1/endpoints", Kind: "Endpoints"},
		apitest.Kind{Ref: "apps/v1/deployments", Kind: "Deployment"})
	// Chunks need connections with buffers, which the bubble does not have, so use a site without fake time.
	s := newSite(t)
	(&schemaTab{s.openAs(options)}).receiveLongMessages(s)
	for _, path := range []string{
		"resources resources[] count", // Only the response of /api/v1/resources has this member.
		// Other tests receive messages with these members.
		"resources problems[] group", "resources problems[] version", "resources problems[] reason",
		"resources resources[] namespaces", "state namespaces", "state count", "state total",
		"rates restarts reason", "rates restarts since", "rates warnings reason", "rates warnings since",
	} {
		delete(missing, path)
	}
	// Ignore these members: the verdicts of this test have no cause, and its overview and explanation are empty.
	maps.DeleteFunc(missing, func(path string, _ bool) bool {
		return strings.Contains(path, " cause") || strings.HasPrefix(path, "overview ") ||
			strings.HasPrefix(path, "explanation ")
	})
	for _, path := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("openapi.json: no message had the member %q", path)
	}
}

// schemaTab is a tab that validates the messages that it sends.
type schemaTab struct{ *tab }

func (c *schemaTab) Send(text string) {
	c.t.Helper()
	var operations []json.RawMessage
	if json.Unmarshal([]byte(text), &operations) != nil {
		operations = []json.RawMessage{[]byte(text)}
	}
	for _, operation := range operations {
		wantValid(c.t, "ClientMessage", operation)
	}
	c.tab.Send(text)
}

// waitForEach reads until each of the subscriptions has received a message of the type, or an event with this op.
func (c *schemaTab) waitForEach(typeOrOp string, ids ...int) {
	c.t.Helper()
	received := make(map[int]bool)
	for range 10_000 {
		m := c.Next()
		if m.Type == "error" && slices.Contains(ids, m.ID) {
			c.t.Fatalf("subscription %d failed: %s", m.ID, m.Raw)
		}
		if m.Type == typeOrOp || slices.ContainsFunc(m.Events, func(e livetest.Event) bool { return e.Op == typeOrOp }) {
			received[m.ID] = true
		}
		if !slices.ContainsFunc(ids, func(id int) bool { return !received[id] }) {
			return
		}
	}
	c.t.Fatalf("no %s for each of %v; only %v", typeOrOp, ids, received)
}

// managedPod returns a pod whose label and status contain the text of the parameter status. Its field managers have
// changed both.
func managedPod(name, status string, managers ...string) apitest.Item {
	entries := make([]string, len(managers))
	for i, manager := range managers {
		field := []string{`{"f:metadata":{"f:labels":{"f:app":{}}}}`, `{"f:status":{"f:phase":{}}}`}[i%2]
		entries[i] = fmt.Sprintf(
			`{"manager":%q,"operation":"Update","subresource":"status","time":%q,"fieldsV1":%s}`,
			manager, time.Now().Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339), field)
	}
	return apitest.Item{
		Namespace: "a", Name: name, Cells: fmt.Sprintf(`[%q,%q]`, name, status),
		Metadata: fmt.Sprintf(`"creationTimestamp":"2026-11-21T10:00:00Z","labels":{"app":%q},"managedFields":[%s]`,
			status, strings.Join(entries, ",")),
		Rest: fmt.Sprintf(`"status":{"phase":%q}`, status),
	}
}

// receiveViews receives all messages of the views rows, table, object, changes and resources.
func (c *schemaTab) receiveViews(b *bubble) {
	b.api.SetColumns(podsRef, `[{"name":"Name","type":"string","format":"name","description":"The name.","priority":1},`+
		`{"name":"Status","type":"date"}]`)
	b.api.Set(podsRef, managedPod("web-1", "Pending"))
	c.Send(`[{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":["a"],"labels":"","fields":"","view":"rows",
		"every":1},
		{"op":"subscribe","id":3,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"object"},
		{"op":"subscribe","id":4,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"changes"},
		{"op":"subscribe","id":5,"view":"resources"}]`)
	c.waitForEach("snapshot", 1, 3, 4)
	c.Send(`{"op":"subscribe","id":6,"view":"overview"}`)
	c.Until(6, "overview")
	c.Send(`{"op":"unsubscribe","id":6}`)
	c.Send(`{"op":"subscribe","id":7,"resource":"core/v1/pods","ns":["a"],"q":"web","view":"rates"}`)
	c.Until(7, "rates")
	c.Send(`{"op":"unsubscribe","id":7}`)
	c.Send(`{"op":"subscribe","id":8,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"explanation"}`)
	c.Until(8, "explanation")
	c.Send(`{"op":"unsubscribe","id":8}`)
	c.Send(`{"op":"subscribe","id":2,"resource":"core/v1/pods","view":"table","watched":true}`)
	c.Until(2, "snapshot")
	change := func(op string, f func()) {
		f()
		c.waitForEach(op, 1, 2, 3, 4)
	}
	change("update", func() { b.api.Set(podsRef, managedPod("web-1", "Running", "kubectl", "kubelet")) })
	change("delete", func() { b.api.Delete(podsRef, "a", "web-1") })
	change("add", func() {
		again := managedPod("web-1", "Failed", "kubectl")
		again.UID = "again"
		b.api.Set(podsRef, again)
	})

	c.Send(`[{"op":"unsubscribe","id":4},
		{"op":"subscribe","id":14,"resource":"core/v1/pods","ns":["a"],"name":"web-1","view":"changes"},
		{"op":"subscribe","id":15,"resource":"core/v1/pods","view":"rows","cursor":"x"}]`)
	c.waitForEach("snapshot", 14, 15) // The snapshot of subscription 14 contains the changes above.
	c.waitForEach("digest", 1, 2)
	c.waitForEach("heartbeat", 3, 5)
	c.Send(`[{"op":"unsubscribe","id":1},{"op":"unsubscribe","id":2},{"op":"unsubscribe","id":3},
		{"op":"unsubscribe","id":5},{"op":"unsubscribe","id":14},{"op":"unsubscribe","id":15},{"op":"ping","id":6}]`)
	c.Until(6, "pong") // The pong arrives after all these subscriptions have ended.
}

// receiveWindows receives all messages of the view window. It must be the only open subscription. While the tab does
// not read its messages, two subscriptions would wait for the same mutex, and synctest advances no fake time then.
func (c *schemaTab) receiveWindows(b *bubble) {
	status := func(name, text string) { b.api.Set(podsRef, managedPod(name, text, "kubectl")) }
	for n := range 8 {
		status(fmt.Sprint("job-", n), fmt.Sprint("s", n))
	}
	synctest.Wait() // Wait until the server has received all pods.
	c.Send(`{"op":"subscribe","id":20,"resource":"core/v1/pods","ns":["a"],"view":"window","q":"job","sort":"-status",` +
		`"offset":0,"count":3,"every":0}`)
	c.Until(20, "window") // The rows are job-7, job-6 and job-5.
	step := func(name, text, op string) {
		synctest.Wait()
		status(name, text)
		c.waitForEach(op, 20)
		<-time.After(2 * time.Second)
	}
	step("job-6", "s6x", "update")
	failed := managedPod("job-6", "s6x", "kubectl")
	failed.Rest = `"status":{"phase":"Failed"}`
	b.api.Set(podsRef, failed)
	c.UntilContains(`"window-events"`, `"verdict"`)
	step("job-0", "s8", "insert")
	step("job-7", "s1", "remove") // The row moves out of the window.
	status("web-2", "s0")         // The row is outside the window, so only the member "newest" is sent.
	c.UntilContains(`"newest"`, `"name":"web-2"`)
	b.api.Delete(podsRef, "a", "job-0")
	c.waitForEach("remove", 20)
	c.Until(20, "digest", "heartbeat")
	status("web-2", "s00")
	c.UntilContains(`"id":20`, `"newest"`)
	// The server would send this change only after a second, but includes the change in the window that is requested
	// below.
	status("web-2", "s000")
	synctest.Wait()
	c.Send(`[{"op":"window","id":20,"offset":2,"count":2},
		{"op":"window","id":20,"ns":["a"],"name":"job-3","offset":0,"count":1000}]`)
	c.UntilContains(`"id":20`, `"type":"window"`, `"newest"`)
	c.Send(`[{"op":"unsubscribe","id":20},{"op":"ping","id":21}]`)
	c.Until(21, "pong")
}

// managedBy returns an object whose specification a manager wrote at a time.
func managedBy(namespace, name, manager string, at time.Time) apitest.Item {
	return apitest.Item{
		Namespace: namespace, Name: name,
		Metadata: fmt.Sprintf(`"creationTimestamp":"2026-11-21T10:00:00Z","managedFields":[{"manager":%q,`+
			`"operation":"Update","time":%q,"fieldsV1":{"f:spec":{}}}]`, manager, at.UTC().Format(time.RFC3339)),
	}
}

// receiveExtraCells receives rows and updates with cells of extra columns.
func (c *schemaTab) receiveExtraCells(b *bubble) {
	const deploymentsRef = "apps/v1/deployments"
	start := time.Now()
	// extra waits until each of the subscriptions has received a message of a type, or an event, with an extra cell.
	extra := func(typeOrOp string, ids ...int) {
		c.t.Helper()
		for missing := slices.Clone(ids); len(missing) > 0; {
			m := c.Next()
			if raw := string(m.Raw); strings.Contains(raw, `"`+typeOrOp+`"`) && strings.Contains(raw, `"extra":[`) {
				missing = slices.DeleteFunc(missing, func(id int) bool { return id == m.ID })
			}
		}
	}
	set := func(name, manager string, second int) {
		edited := managedBy("a", name, manager, start.Add(time.Duration(second)*time.Second))
		edited.Rest = fmt.Sprintf(`"spec":{"replicas":%d}`, second)
		b.api.Set(deploymentsRef, edited)
	}
	set("web", "helm", 0)
	c.Send(`{"op":"subscribe","id":40,"resource":"apps/v1/deployments","view":"rows"}`)
	c.waitForEach("snapshot", 40)
	<-time.After(2 * time.Second) // The first object can arrive as an event after an empty snapshot.
	c.Send(`[{"op":"subscribe","id":41,"resource":"apps/v1/deployments","view":"rows"},
		{"op":"subscribe","id":42,"resource":"apps/v1/deployments","view":"table"},
		{"op":"subscribe","id":43,"resource":"apps/v1/deployments","view":"window","count":10,"offset":0}]`)
	ids := []int{41, 42, 43}
	extra("columns", ids...)
	set("web", "kubectl-edit", 5)
	extra("update", ids...)
	set("web-2", "helm", 0)
	extra("add", 41)
	set("web-3", "helm", 0)
	extra("insert", 43)
	c.Send(`[{"op":"unsubscribe","id":40},{"op":"unsubscribe","id":41},{"op":"unsubscribe","id":42},
		{"op":"unsubscribe","id":43},{"op":"ping","id":45}]`)
	c.Until(45, "pong")
}

// receiveLogs receives all messages of the view log.
func (c *schemaTab) receiveLogs(b *bubble) {
	b.api.Handle(upstream, func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(20 * time.Second)
		_, _ = w.Write([]byte("one\n"))
	})
	c.Send(logSubscription(30,
		`,"container":"app","tail":10,"since":"10m","previous":false,"timestamps":true,"follow":true`))
	c.Until(30, "log")
	c.Until(30, "heartbeat")
	c.Until(30, "log-end")
}

// receiveStates receives messages that contain all members of a resource state, and the error of a subscription.
func (c *schemaTab) receiveStates(b *bubble) {
	b.api.Refuse("core/v1/secrets", "", http.StatusForbidden, "not for this user")
	c.Send(`{"op":"subscribe","id":40,"resource":"core/v1/secrets"}`)
	c.UntilContains(`"id":40`, `"forbidden"`)
	c.Send(`{"op":"subscribe","id":42,"view":"resources"}`)
	c.UntilContains(`"type":"resources"`, `"reason":"`)
	c.Send(`{"op":"subscribe","id":41,"resource":"example.com/v1/none"}`)
	c.Until(41, "error")
}

// receiveLongMessages receives an object in chunks.
func (c *schemaTab) receiveLongMessages(s *site) {
	s.api.Set(podsRef, apitest.Item{
		Namespace: "a", Name: "long", Metadata: fmt.Sprintf(`"annotations":{"text":%q}`, strings.Repeat("a", 300<<10)),
	})
	s.waitForText("/api/v1/snapshot/"+podsRef, `"long"`)
	c.Send(`{"op":"subscribe","id":50,"resource":"core/v1/pods","ns":["a"],"name":"long","view":"object"}`)
	c.Until(50, "part")
	c.Until(50, "snapshot")
}

// The schema of the client's messages has exactly the members that the server knows. It refuses the invalid messages
// that the server refuses.
//
// Invariant: I47.
func TestClientMessagesMatchTheSchemas(t *testing.T) {
	schemas, err := loadMessageSchemas()
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(b *bubble) {
		c := b.open()
		c.Send(`{"op":"ping","id":1,"no-such-member":1}`)
		_, list, ok := strings.Cut(strings.TrimSuffix(c.Until(0, "error").Problem.Detail, "."), "members of a message are ")
		if !ok {
			b.t.Fatal("the error does not list the members")
		}
		known, documented := make(map[string]bool), make(map[string]bool)
		for name := range strings.SplitSeq(strings.ReplaceAll(list, " and ", ", "), ", ") {
			known[name] = true
		}
		paths := make(map[string]bool)
		schemas.addMembers(paths, "", map[string]any{"$ref": "#/components/schemas/ClientMessage"})
		for path := range paths {
			documented[strings.TrimPrefix(path, " ")] = true
		}
		wantSameNames(b.t, "openapi.json, ClientMessage", documented, known)

		for _, text := range []string{
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","color":"red"}`,
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"colors"}`,
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","every":1001}`,
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","watched":"yes"}`,
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","ns":"a"}`,
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"window","count":1001}`,
			`{"op":"subscribe","id":1,"resource":"core/v1/pods","view":"window","count":1,"offset":-1}`,
			`{"op":"subscribe","id":0,"resource":"core/v1/pods"}`,
			`{"op":"subscribe","resource":"core/v1/pods"}`,
			`{"op":"window","id":1}`,
			`{"op":"unsubscribe"}`,
			`{"op":"pong","id":1}`,
		} {
			c.Send(text)
			for c.Next().Type != "error" {
			}
			if validateMessage("ClientMessage", []byte(text)) == nil {
				b.t.Errorf("openapi.json accepts %s, which the server refuses", text)
			}
		}
	})
}
