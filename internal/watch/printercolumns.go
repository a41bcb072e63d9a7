package watch

import (
	"context"
	"encoding/json"

	"glasshouse/internal/watch/resource"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/listwatch"
)

// printerColumns describes the columns in the CustomResourceDefinition of a resource, by column name. Its maps are
// nil if the resource has no definition, or if the program is not permitted to read it.
type printerColumns struct {
	// dates contains the paths (see listwatch.SimplePath) to the times that columns of type date show. The API server
	// sends their cells as an age ("33h"), which becomes outdated. If no path is known, the time is computed from the
	// age.
	dates map[string]string
	// paths contains the JSONPaths of all columns. They show which cells can contain a masked value, so that these
	// cells are masked, too.
	paths map[string]string
}

func (c *Cluster) readPrinterColumns(ctx context.Context, resource *resource.Resource) printerColumns {
	if resource.Group == "" {
		return printerColumns{}
	}
	definitions := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	text, err := c.get(ctx, definitions, "", resource.Resource+"."+resource.Group)
	if err != nil {
		return printerColumns{}
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
		return printerColumns{}
	}
	columns := printerColumns{make(map[string]string), make(map[string]string)}
	for _, version := range crd.Spec.Versions {
		if version.Name != resource.Version {
			continue
		}
		for _, column := range version.Columns {
			if path, isSimple := listwatch.SimplePath(column.JSONPath); column.Type == "date" && isSimple {
				columns.dates[column.Name] = path
			}
			path := column.JSONPath
			if _, isDuplicate := columns.paths[column.Name]; isDuplicate {
				path = "" // Two columns have this name, so the path is ambiguous.
			}
			columns.paths[column.Name] = path
		}
	}
	return columns
}
