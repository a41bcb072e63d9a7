package watch

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/wire"
)

// printed is what the definition of a custom resource says of its columns, by
// their names; nil where the definition may not be read, or there is none.
type printed struct {
	// dates are the paths behind the columns of type date: the API server sends
	// their cells as passed time ("33h"), which goes stale. Without them the times
	// are reckoned back from the cells.
	dates map[string]string
	// paths are the JSONPaths of all of them: a cell that may show what is masked
	// is masked, too.
	paths map[string]string
}

// printedColumns finds what a custom resource's columns show.
func (c *Cluster) printedColumns(ctx context.Context, resource *Resource) printed {
	if resource.Group == "" {
		return printed{}
	}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	text, err := c.get(ctx, definitions, "", resource.Resource+"."+resource.Group)
	if err != nil {
		return printed{}
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name    string `json:"name"`
				Columns []struct {
					Name     string `json:"name"`
					Type     string `json:"type"`
					JSONPath string `json:"jsonPath"`
				} `json:"additionalPrinterColumns"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(text, &crd); err != nil {
		return printed{}
	}
	columns := printed{make(map[string]string), make(map[string]string)}
	for _, version := range crd.Spec.Versions {
		if version.Name != resource.Version {
			continue
		}
		for _, column := range version.Columns {
			if path, simple := wire.SimplePath(column.JSONPath); column.Type == "date" && simple {
				columns.dates[column.Name] = path
			}
			path := column.JSONPath
			if _, twice := columns.paths[column.Name]; twice {
				path = "" // Which of them is which is not known.
			}
			columns.paths[column.Name] = path
		}
	}
	return columns
}
