package objectrefs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
)

func TestConventionsAreFoundByMemberName(t *testing.T) {
	for spec, want := range map[string][]string{
		`{"clusterRef":{"name":"a","namespace":"b"}}`:              {"cluster // b/a object ref plain"},
		`{"vpcIdRefs":[{"name":"a"}]}`:                             {"vpc // /a object ref plain"},
		`{"vpcRef":{"from":{"name":"a"}}}`:                         {"vpc // /a object ref plain"},
		`{"rabbitmqClusterReference":{"name":"a"}}`:                {"rabbitmqCluster // /a object ref plain"},
		`{"routes":[{"middlewares":[{"name":"a"}]}]}`:              {"middlewares // /a object plain"},
		`{"flavors":[{"name":"a","of":[{"name":"cpu"}]}]}`:         {"of // /cpu object plain", "flavors // /a object"},
		`{"queueName":"a"}`:                                        {"queue // /a"},
		`{"source":"a","sourceNamespace":"b"}`:                     {"source // b/a", "sourceNamespace // /b"},
		`{"ipAddressPools":["a"]}`:                                 {"ipAddressPools // /a plain"},
		`{"gateway":"b/a"}`:                                        {"gateway // b/a"},
		`{"target":{"kind":"A","apiVersion":"x/v1","name":"a"}}`:   {"target x/A /a object plain"},
		`{"workflowTemplateRef":{"name":"a","clusterScope":true}}`: {"ClusterworkflowTemplate // /a object ref"},
		`{"tls":{"secret":"a"},"service":"b"}`:                     {"secret // /a", "service // /b"},
		// No references:
		`{"middlewares":[{"name":"a@file"}]}`:                     nil,
		`{"clusterRef":{"name":"a","optional":true}}`:             nil,
		`{"projectRef":{"name":"a","external":"b"}}`:              {"external // /b"},
		`{"taskRef":{"name":"a"},"secretName":"b"}`:               nil, // The function Of returns these references instead.
		`{"secret":{"name":"a"},"service":{"name":"b"}}`:          nil, // The function Of returns these references.
		`{"volumeSnapshotRef":{"name":"a"}}`:                      nil, // An output of a controller: see IsOutput.
		`{"managedSecretReference":{"name":"a"}}`:                 nil,
		`{"forProvider":{"roleName":"a"}}`:                        nil,
		`{"image":"registry.example.com/app:1","title":"A b"}`:    nil,
		`{"keyRef":{"name":"a","key":"b"}}`:                       nil,
		`{"nodeSelector":{"pool":"a"},"matchLabels":{"app":"b"}}`: nil,
	} {
		t.Run(spec, func(t *testing.T) {
			var got []string
			for _, c := range objectrefs.Conventions([]byte(`{"apiVersion":"example.com/v1","kind":"A","spec":` + spec + `}`)) {
				text := fmt.Sprintf("%s %s/%s %s/%s", c.Word, c.Group, c.Kind, c.Namespace, c.Name)
				if c.Kind == "" {
					text = fmt.Sprintf("%s // %s/%s", c.Word, c.Namespace, c.Name)
				}
				if c.IsObject {
					text += " object"
				}
				if c.IsRef {
					text += " ref"
				}
				if c.IsPlain {
					text += " plain"
				}
				got = append(got, text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	proxy := `{"apiVersion":"projectcontour.io/v1","kind":"HTTPProxy","spec":{"includes":[{"name":"a","conditions":[]}]}}`
	includes := objectrefs.Conventions([]byte(proxy))
	if len(includes) != 1 || includes[0].Kind != "HTTPProxy" || !includes[0].IsRef || includes[0].Word != "include" {
		t.Errorf("%s: got %+v, want a reference to an HTTPProxy", proxy, includes)
	}
	composite := `{"kind":"A","spec":{"compositionRef":{"name":"a"},"otherRef":{"name":"b"}}}`
	got := objectrefs.Conventions([]byte(composite))
	if len(got) != 2 || got[0].Group != "apiextensions.crossplane.io" || got[1].Group != "" {
		t.Errorf("%s: got %+v, want the group of Crossplane for the first reference only", composite, got)
	}
	build := `{"apiVersion":"build.openshift.io/v1","kind":"%s","spec":{"output":{"to":{"kind":"ImageStreamTag",` +
		`"name":"web:latest"}},"from":{"kind":"ImageStreamImage","name":"base@sha256:1"},` +
		`"other":{"kind":"ImageStreamTag","name":"latest"}}}`
	for kind, want := range map[string]string{
		"Build":       "[web spec.output.to true base spec.from false latest spec.other false]",
		"BuildConfig": "[web spec.output.to false base spec.from false latest spec.other false]",
	} {
		t.Run(kind, func(t *testing.T) {
			var got []any
			for _, c := range objectrefs.Conventions(fmt.Appendf(nil, build, kind)) {
				got = append(got, c.Name, c.Via, c.IsRef)
				if c.Name != "latest" && c.Group+"/"+c.Kind != "image.openshift.io/ImageStream" {
					t.Errorf("got %+v, want an ImageStream", c)
				}
			}
			if fmt.Sprint(got) != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
	if got := objectrefs.Conventions([]byte(`{"spec":`)); got != nil {
		t.Errorf("malformed text: got %v", got)
	}
}
