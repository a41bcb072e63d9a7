package incidents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// The types object, cause and finding contain the parts of the response to GET /api/v1/problems that the test reads.
type object struct {
	Resource  string `json:"resource"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
}

func (o *object) String() string {
	return strings.TrimPrefix(o.Resource+" "+o.Namespace+"/"+o.Name, "core/")
}

type cause struct {
	object

	Sentence string `json:"sentence"`
}

type member struct {
	object

	Severity string   `json:"severity"`
	Reason   string   `json:"reason"`
	Sentence string   `json:"sentence"`
	Cause    *cause   `json:"cause"`
	Chain    []object `json:"chain"` // The path from the object to its cause.
}

type finding struct {
	member

	Objects []member `json:"objects"`
}

var errNoProblems = errors.New("the program does not serve /api/v1/problems")

// problems returns the findings of the program.
func problems(ctx context.Context, program string) ([]finding, error) {
	body := struct {
		Problems []finding `json:"problems"`
		Total    int       `json:"total"`
	}{}
	status, err := get(ctx, program+"/api/v1/problems?limit=2000", &body)
	switch {
	case status == http.StatusNotFound:
		return nil, errNoProblems
	case err != nil:
		return nil, err
	case body.Total > len(body.Problems):
		return nil, fmt.Errorf("got %d of %d findings", len(body.Problems), body.Total)
	}
	return body.Problems, nil
}

// verdicts returns the failed and degraded rows of resources as findings without a cause.
func verdicts(ctx context.Context, program string, resources []string) (findings []finding, err error) {
	for _, resource := range resources {
		body := struct {
			Rows []struct {
				NS, Name string
				Verdict  member
			}
		}{}
		status, err := get(ctx, program+"/api/v1/snapshot/"+resource+"?wait=20s", &body)
		if status == http.StatusNotFound {
			continue // The cluster does not serve this resource, because its CustomResourceDefinition is missing.
		}
		if err != nil {
			return nil, err
		}
		for _, row := range body.Rows {
			if severityOf(row.Verdict.Severity) < severityOf("degraded") {
				continue
			}
			row.Verdict.object = object{Resource: resource, Namespace: row.NS, Name: row.Name}
			findings = append(findings, finding{member: row.Verdict, Objects: []member{row.Verdict}})
		}
	}
	return findings, nil
}

func get(ctx context.Context, address string, body any) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		at, _ := url.Parse(address)
		return response.StatusCode, fmt.Errorf("GET %s: %s", at.Path, response.Status)
	}
	return response.StatusCode, json.NewDecoder(response.Body).Decode(body)
}

// resources returns all resources that the fixtures name.
func resources(fixtures []*fixture) []string {
	names := make(map[string]bool)
	for _, f := range fixtures {
		for _, e := range f.Expect {
			names[e.Resource] = true
		}
		for _, r := range f.Healthy {
			names[r.Resource] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// report is one object that the program reports, with the finding that contains it.
type report struct {
	member

	head object
}

// reports returns all reported objects: the main object of each finding, and the other objects in it.
func reports(findings []finding) (all []report) {
	for i := range findings {
		f := &findings[i]
		all = append(all, report{f.member, f.object})
		for _, m := range f.Objects {
			if m.Cause == nil {
				m.Cause = f.Cause
			}
			if m.object != f.object {
				all = append(all, report{m, f.object})
			} else if f.Cause == nil {
				all[len(all)-1].Cause = m.Cause
			}
		}
	}
	return all
}

// matches reports whether the reference r of a fixture names the object o. r can contain patterns (resource and name).
func (f *fixture) matches(r *reference, o *object) bool {
	if o.Namespace != r.in(f.namespace) && o.Namespace != "" {
		return false
	}
	isResource, _ := path.Match(r.Resource, o.Resource) // The error is nil, because the patterns were checked before.
	isName, _ := path.Match(r.Name, o.Name)
	return isResource && isName
}

// explains reports whether a report names one of the expected causes, and contains the expected texts.
func (f *fixture) explains(e *expectation, r *report) bool {
	sentence := strings.ToLower(r.Reason + " " + r.Sentence)
	if r.Cause != nil {
		sentence += " " + strings.ToLower(r.Cause.Sentence+" "+r.Cause.Name)
	}
	for _, alternatives := range e.Sentence {
		if !slices.ContainsFunc(strings.Split(strings.ToLower(alternatives), "|"), func(text string) bool {
			return strings.Contains(sentence, text)
		}) {
			return false
		}
	}
	causes := e.causes()
	return len(causes) == 0 || slices.ContainsFunc(causes, func(c reference) bool {
		return r.Cause != nil && f.matches(&c, &r.Cause.object) || r.head != r.object && f.matches(&c, &r.head)
	})
}
