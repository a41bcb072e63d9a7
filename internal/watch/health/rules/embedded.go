package rules

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/argoproj/argo-cd/v3/resource_customizations"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/script"
)

// Embedded finds the scripts of Argo CD. It compiles a script when it is first needed.
type Embedded struct {
	list     sync.Once
	paths    map[string]string // The path of a script, by GROUP/KIND.
	patterns []string          // Patterns of GROUP/KIND. The paths of their scripts have "_" instead of "*".
	compiled sync.Map          // *script.Script by path; nil if it has a syntax error.
}

const scriptFile = "/health.lua"

// Find returns the script for a kind, or nil if no script covers the kind.
func (e *Embedded) Find(group, kind string) *script.Script {
	e.list.Do(e.readPaths)
	key := group + "/" + kind
	file, ok := e.paths[key]
	if !ok {
		i := slices.IndexFunc(e.patterns, func(pattern string) bool {
			matched, _ := path.Match(pattern, key)
			return matched
		})
		if i < 0 {
			return nil
		}
		file = e.paths[e.patterns[i]]
	}
	if compiled, ok := e.compiled.Load(file); ok {
		found, _ := compiled.(*script.Script)
		return found
	}
	compiled, _ := e.compiled.LoadOrStore(file, compileEmbedded(file))
	found, _ := compiled.(*script.Script)
	return found
}

func (e *Embedded) readPaths() {
	e.paths = make(map[string]string)
	files, _ := fs.Glob(resource_customizations.Embedded, "*/*"+scriptFile) // The pattern is valid.
	for _, file := range files {
		key := strings.TrimSuffix(file, scriptFile)
		if strings.Contains(key, "_") {
			key = strings.ReplaceAll(key, "_", "*")
			e.patterns = append(e.patterns, key)
		}
		e.paths[key] = file
	}
}

// compileEmbedded returns nil for a script with a syntax error. A test compiles all scripts.
func compileEmbedded(file string) *script.Script {
	text, err := resource_customizations.Embedded.ReadFile(file)
	if err != nil {
		return nil
	}
	compiled, err := script.Compile(strings.TrimSuffix(file, scriptFile), string(text))
	if err != nil {
		return nil
	}
	return compiled
}
