package watch

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/listwatch"
	"glasshouse/internal/watch/resource"
)

func (c *Cluster) readPrinterColumns(ctx context.Context, resource *resource.Resource) listwatch.PrinterColumns {
	if resource.Group == "" {
		return listwatch.PrinterColumns{}
	}
	definitions := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	text, err := c.get(ctx, definitions, "", resource.Resource+"."+resource.Group)
	if err != nil {
		return listwatch.PrinterColumns{}
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
		return listwatch.PrinterColumns{}
	}
	columns := listwatch.PrinterColumns{Dates: make(map[string]string), Paths: make(map[string]string)}
	for _, version := range crd.Spec.Versions {
		if version.Name != resource.Version {
			continue
		}
		for _, column := range version.Columns {
			if path, isSimple := listwatch.SimplePath(column.JSONPath); column.Type == "date" && isSimple {
				columns.Dates[column.Name] = path
			}
			path := column.JSONPath
			if _, isDuplicate := columns.Paths[column.Name]; isDuplicate {
				path = "" // Two columns have this name, so the path is ambiguous.
			}
			columns.Paths[column.Name] = path
		}
	}
	return columns
}
