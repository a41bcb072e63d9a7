package relations

import (
	"encoding/json"
	"unique"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/objectrefs"
	"github.com/glasshouse-project/glasshouse/internal/watch/resource"
)

type finder struct {
	access   *watch.Access
	resource *resource.Resource
	kind     string // group/resource
	object   objectrefs.Object
	known    []watch.ResourceStatus
	lists    []*list
	builder  *graphBuilder

	pods   []*entry
	reads  int
	labels labelSets
}

func (f *finder) self() string {
	return idOf(f.kind, f.object.Namespace, f.object.Name)
}

type labelSets map[unique.Handle[string]]map[string]string

func (l labelSets) of(text unique.Handle[string]) map[string]string {
	set, ok := l[text]
	if !ok {
		if err := json.Unmarshal([]byte(text.Value()), &set); err != nil {
			set = nil
		}
		l[text] = set
	}
	return set
}
