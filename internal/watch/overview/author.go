package overview

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/glasshouse-project/glasshouse/internal/watch/event"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit"
)

// authorOf returns the author of a change (nil if unknown), and the path of the first changed member.
func authorOf(c *inherit.SpecChange, cache *event.Cache) (by *fieldmanager.Author, what string) {
	by, err := event.AuthorOf(c.Change, cache)
	if err != nil {
		return nil, ""
	}
	delta, err := event.DeltaOf(c.Change, cache)
	if err != nil {
		return nil, ""
	}
	return by, changedPath(delta.Text)
}

// changedPath returns the first path that a delta changes, and the number of other changed paths. Example:
// "spec.template.spec.containers.0.image and 2 more". It ignores the status and the metadata.
func changedPath(delta []byte) string {
	var d struct {
		Patch []struct{ Path string } `json:"patch"`
	}
	if json.Unmarshal(append(append([]byte(`{"x":0`), delta...), '}'), &d) != nil {
		return ""
	}
	var paths []string
	for _, operation := range d.Patch {
		if !strings.HasPrefix(operation.Path, "/status") && !strings.HasPrefix(operation.Path, "/metadata") {
			paths = append(paths, fieldPath(operation.Path))
		}
	}
	switch len(paths) {
	case 0:
		return ""
	case 1:
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}

// fieldPath converts a JSON Pointer to the path of a field. A name with a dot is in brackets, such as
// "metadata.annotations[kubectl.kubernetes.io/restartedAt]".
func fieldPath(pointer string) string {
	var path strings.Builder
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := unescape.Replace(token)
		switch {
		case strings.Contains(name, "."):
			name = "[" + name + "]"
		case path.Len() > 0:
			name = "." + name
		}
		path.WriteString(name)
	}
	return path.String()
}
