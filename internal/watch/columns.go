package watch

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/wire"
)

// printed describes the columns of a custom resource as its definition does, by column name. Its maps are nil if the
// definition may not be read, or if there is none.
type printed struct {
	// dates contains the paths of columns of type date. The API server sends their cells as an age ("33h"), which
	// becomes outdated. Without the paths, the times are computed back from the cells.
	dates map[string]string
	// paths contains the JSONPaths of all columns. A cell that may show a masked value is masked, too.
	paths map[string]string
}

// printedColumns reads what a custom resource's columns show.
func (c *Cluster) printedColumns(ctx context.Context, resource *Resource) printed {
	if resource.Group == "" {
		return printed{}
	}
	definitions := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
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
				path = "" // Two columns have this name, so the path is ambiguous.
			}
			columns.paths[column.Name] = path
		}
	}
	return columns
}
