package incidents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	manifestjson "k8s.io/apimachinery/pkg/util/json"
	manifest "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const prefix = "incident-"

// fixture is one YAML file in the folder testdata or withheld. The first YAML document is the header, and the others
// are objects or further steps of the setup. The namespace of the fixture is incident-NAME. In the YAML documents, $NS
// is this namespace, and "ago 5m" is the time five minutes ago.
type fixture struct {
	header

	name      string
	namespace string
	documents []document
}

type header struct {
	Source  string `json:"source"`
	Summary string `json:"summary"`
	Area    string `json:"area"`
	// Age is the time since the incident began; the default is 2 h. The test moves the times of all objects back
	// by this duration.
	Age    *string           `json:"age"`
	Labels map[string]string `json:"labels"` // Of the namespace.
	// Pods maps names to the states that pods can have. The annotation "kubelet" of a pod contains the name of its state.
	// The default state is Running.
	Pods    map[string]podState `json:"pods"`
	Expect  []expectation       `json:"expect"`
	Healthy []reference         `json:"healthy"`
}

// reference names an object. Name is a pattern, because some names are generated. The default namespace is that of the
// fixture.
type reference struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (r *reference) String() string { return r.Resource + " " + r.Name }

// expectation is an object that must be reported, and what the report must contain about its cause.
type expectation struct {
	reference

	Severity string `json:"severity"` // failed or degraded: the minimum.
	// The report must name Cause or one of OrCause. Without causes, only the sentence is compared.
	Cause   *reference  `json:"cause"`
	OrCause []reference `json:"orCause"`
	// Sentence lists texts that the sentence of the report must contain. Case is ignored. In a text, "|" separates
	// alternatives.
	Sentence []string `json:"sentence"`
}

func (e *expectation) causes() []reference {
	if e.Cause == nil {
		return e.OrCause
	}
	return append([]reference{*e.Cause}, e.OrCause...)
}

// document is one step of the setup of a fixture.
type document struct {
	object *unstructured.Unstructured // The step creates or updates this object with its status.
	wait   *reference                 // The step waits until this object is ready (see isAvailable).
	remove *reference                 // The step deletes this object.
}

func load(folder string) (fixtures []*fixture, err error) {
	files, err := filepath.Glob(folder + "/*.yaml")
	if err != nil {
		return nil, err
	}
	only, err := regexp.Compile(os.Getenv("GLASSHOUSE_INCIDENT"))
	if err != nil {
		return nil, fmt.Errorf("read GLASSHOUSE_INCIDENT: %w", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !only.MatchString(name) {
			continue
		}
		f, err := read(file, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		fixtures = append(fixtures, f)
	}
	return fixtures, nil
}

func read(file, name string) (*fixture, error) {
	text, err := os.ReadFile(file) //nolint:gosec // The files are those of testdata.
	if err != nil {
		return nil, err
	}
	f := &fixture{name: name, namespace: prefix + name}
	text = bytes.ReplaceAll(text, []byte("$NS"), []byte(f.namespace))
	documents := manifest.NewYAMLReader(newReader(text))
	first, err := documents.Read()
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(first, &f.header); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	for n := 2; ; n++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return f, f.check()
		}
		if err == nil {
			err = f.add(text)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
	}
}

func (f *fixture) add(text []byte) error {
	text, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	var members map[string]any
	if err := manifestjson.Unmarshal(text, &members); err != nil { // Decodes integers as int64, like client-go.
		return err
	}
	if len(members) == 0 {
		return nil
	}
	if members["kind"] != nil {
		resolved, ok := resolveTimes(members, time.Now()).(map[string]any)
		if !ok {
			return errors.New("not an object")
		}
		f.documents = append(f.documents, document{object: &unstructured.Unstructured{Object: resolved}})
		return nil
	}
	step := struct {
		Wait   *reference `json:"wait"`
		Delete *reference `json:"delete"`
	}{}
	if err := yaml.UnmarshalStrict(text, &step); err != nil {
		return err
	}
	f.documents = append(f.documents, document{wait: step.Wait, remove: step.Delete})
	return nil
}

func (f *fixture) check() error {
	switch {
	case f.Source == "" || f.Summary == "" || f.Area == "":
		return errors.New("the header needs source, summary and area")
	case len(f.Expect) == 0 && len(f.Healthy) == 0:
		return errors.New("the header needs expect or healthy")
	case len(f.namespace) > 63:
		return errors.New("the name is too long for a namespace")
	}
	for i := range f.Expect {
		e := &f.Expect[i]
		if severityOf(e.Severity) < severityOf("degraded") {
			return fmt.Errorf("%s: unknown severity %q", e, e.Severity)
		}
		if len(e.causes()) == 0 && len(e.Sentence) == 0 {
			return fmt.Errorf("%s: cause or sentence is missing", e)
		}
	}
	for _, r := range f.references() {
		_, err := path.Match(r.Resource, "")
		_, nameErr := path.Match(r.Name, "")
		if err != nil || nameErr != nil || strings.Count(r.Resource, "/") != 2 || r.Name == "" {
			return fmt.Errorf("%s: the resource or the name is not valid", &r)
		}
	}
	_, err := f.age()
	return err
}

// references returns all objects that the header names.
func (f *fixture) references() (all []reference) {
	for i := range f.Expect {
		all = append(append(all, f.Expect[i].reference), f.Expect[i].causes()...)
	}
	return append(all, f.Healthy...)
}

func (f *fixture) age() (time.Duration, error) {
	if f.Age == nil {
		return 2 * time.Hour, nil
	}
	return time.ParseDuration(*f.Age)
}

// resolveTimes replaces each text such as "ago 5m" with a time: in this example, five minutes before now.
func resolveTimes(value any, now time.Time) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = resolveTimes(v[name], now)
		}
	case []any:
		for i := range v {
			v[i] = resolveTimes(v[i], now)
		}
	case string:
		if text, ok := strings.CutPrefix(v, "ago "); ok {
			if ago, err := time.ParseDuration(text); err == nil {
				return now.Add(-ago).UTC().Format(time.RFC3339)
			}
		}
	}
	return value
}

func severityOf(name string) int {
	for i, known := range []string{"none", "ok", "progressing", "degraded", "failed"} {
		if name == known {
			return i
		}
	}
	return -1
}

// merge copies the members of the JSON object changes into base, and returns base.
func merge(base map[string]any, changes json.RawMessage) (map[string]any, error) {
	if len(changes) > 0 {
		if err := json.Unmarshal(changes, &base); err != nil {
			return nil, err
		}
	}
	return base, nil
}

func newReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }
