package operator

import (
	"cmp"
	"regexp"

	"github.com/glasshouse-project/glasshouse/internal/watch/graph"
	"github.com/glasshouse-project/glasshouse/internal/watch/neighbor"
)

// outputMember matches members whose value names the object that a controller writes.
var outputMember = regexp.MustCompile(`^(?:destination|target|output|generated|managed)` +
	`(?:(?:Kube|Kubernetes)?(?:Secret|ConfigMap))?(?:Name|Reference|Ref)?$`)

// contentOutput matches such members whose value is a text. Without the kind, the text can have any meaning.
var contentOutput = regexp.MustCompile(`^(?:target|output|generated|managed)(?:Secret|ConfigMap)(?:Name)?$`)

// contentMember matches members that name a Secret or a ConfigMap, for which it is unknown who writes it.
var contentMember = regexp.MustCompile(`^(?:secret|configMap)Name$`)

// outputs contains how the spec of a custom resource refers to an object.
type outputs struct {
	id graph.ID // The object.
	by graph.ID // The custom resource.

	isOutput bool // The controller of the resource writes the object.
	isInput  bool // A member that does not belong to an output has the name of the object.
	hasOther bool // A member names another object, which the controller possibly writes.
}

// maxNesting limits the depth at which values are read.
const maxNesting = 12

// read reads a value of the spec. isTarget is true within a member such as destination.
func (o *outputs) read(value any, isTarget bool, depth int) {
	if depth == 0 {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		o.readObject(v, isTarget, depth)
	case []any:
		for _, item := range v {
			o.read(item, false, depth-1)
		}
	case string:
		o.isOutput = o.isOutput || isTarget && v == o.id.Name()
		o.isInput = o.isInput || !isTarget && v == o.id.Name()
		o.hasOther = o.hasOther || isTarget && v != o.id.Name()
	}
}

func (o *outputs) readObject(v map[string]any, isTarget bool, depth int) {
	text := func(in map[string]any, member string) string { text, _ := in[member].(string); return text }
	if o.isManifest(v) {
		o.isOutput = true
		return
	}
	kind := text(v, "kind")
	isTarget = isTarget && (kind == "" || kind == o.id.Kind.Kind) && v["create"] != false &&
		text(v, "creationPolicy") != "Merge" && text(v, "creationPolicy") != "None"
	for member, value := range v {
		_, isText := value.(string)
		switch {
		case isText && isTarget && (member == "name" || member == "secretName" || member == "configMapName"):
			o.read(value, true, depth-1)
		case isText && isTarget:
		case isText && contentMember.MatchString(member):
			o.read(value, false, depth-1)
			o.hasOther = o.hasOther || value != o.id.Name()
		case isText:
			o.read(value, contentOutput.MatchString(member), depth-1)
		default:
			isContent := isTarget && (member == "secret" || member == "configMap")
			o.read(value, isContent || outputMember.MatchString(member), depth-1)
		}
	}
}

// isManifest reports whether a value is the complete manifest of the object, which the controller applies.
func (o *outputs) isManifest(v map[string]any) bool {
	metadata, _ := v["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	return v["apiVersion"] == "v1" && v["kind"] == o.id.Kind.Kind && metadata["name"] == o.id.Name() &&
		cmp.Or(namespace, o.by.Namespace()) == o.id.Namespace()
}

// namesInStatus reports whether a member of the status, other than the conditions, contains only the given name.
func namesInStatus(n *neighbor.Neighbor, name string) bool {
	status := neighbor.Decode[struct {
		Status map[string]any `json:"status"`
	}](n.Object).Status
	delete(status, "conditions")
	o := outputs{id: graph.NewID(graph.Kind{}, "", name)}
	o.read(status, false, maxNesting)
	return o.isInput || o.isOutput
}
