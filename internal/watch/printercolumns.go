package watch

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/resource"
)

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
