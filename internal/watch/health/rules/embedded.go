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
func (s *Embedded) Find(group, kind string) *script.Script {
	s.list.Do(s.readPaths)
	key := group + "/" + kind
	file, ok := s.paths[key]
	if !ok {
		i := slices.IndexFunc(s.patterns, func(pattern string) bool {
			matched, _ := path.Match(pattern, key)
			return matched
		})
		if i < 0 {
			return nil
		}
		file = s.paths[s.patterns[i]]
	}
	if compiled, ok := s.compiled.Load(file); ok {
		found, _ := compiled.(*script.Script)
		return found
	}
	compiled, _ := s.compiled.LoadOrStore(file, compileEmbedded(file))
	found, _ := compiled.(*script.Script)
	return found
}

func (s *Embedded) readPaths() {
	s.paths = make(map[string]string)
	files, _ := fs.Glob(resource_customizations.Embedded, "*/*"+scriptFile) // The pattern is valid.
	for _, file := range files {
		key := strings.TrimSuffix(file, scriptFile)
		if strings.Contains(key, "_") {
			key = strings.ReplaceAll(key, "_", "*")
			s.patterns = append(s.patterns, key)
		}
		s.paths[key] = file
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
