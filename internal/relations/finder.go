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
	kind     string // group and plural of the resource of the field object
	object   objectrefs.Object
	known    knownResources
	lists    []*list
	builder  *graphBuilder

	pods   []*entry // pods that f.object selects
	using  []*entry // pods that use f.object, if it is a PersistentVolumeClaim
	reads  int
	labels labelSets
}

func (f *finder) self() string {
	return idOf(f.kind, f.object.Namespace, f.object.Name)
}

// knownResources are the resources that the viewer may discover.
type knownResources []watch.ResourceStatus

func (k knownResources) byName(name string) *resource.Resource {
	return k.find(func(r *resource.Resource) bool { return nameOf(r) == name })
}

func (k knownResources) byKind(group, kind string) *resource.Resource {
	return k.find(func(r *resource.Resource) bool { return r.Group == group && r.Kind == kind })
}

func (k knownResources) find(match func(*resource.Resource) bool) *resource.Resource {
	for n := range k {
		if r := &k[n].Resource; r.Preferred && match(r) {
			return r
		}
	}
	return nil
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
