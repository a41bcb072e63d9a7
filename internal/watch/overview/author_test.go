package overview_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/overview"
)

// The changed path contains the names of the fields, and not their escaped form in a JSON Pointer.
func TestChangedPathHasUnescapedNames(t *testing.T) {
	t.Parallel()
	for delta, want := range map[string]string{
		`,"patch":[{"op":"replace","path":"/spec/replicas"}]`: "spec.replicas",
		`,"patch":[{"op":"add","path":"/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt"}]`: "" +
			"spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]",
		`,"patch":[{"op":"add","path":"/data/app.properties"},{"op":"add","path":"/data/b"}]`: "" +
			"data[app.properties] and 1 more",
		`,"patch":[{"op":"add","path":"/data/a~01"}]`:        "data.a~1",
		`,"patch":[{"op":"replace","path":"/status/phase"}]`: "",
	} {
		t.Run(delta, func(t *testing.T) {
			if got := overview.ChangedPath([]byte(delta)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
