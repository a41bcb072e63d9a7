package watch

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"glasshouse/internal/watch/wire"
)

// dateColumns finds the paths behind a custom resource's printer columns of
// type date: the API server sends their cells as passed time ("33h"), which
// goes stale. Where the definition may not be read, there are none, and the
// times are reckoned back from the cells.
func (c *Cluster) dateColumns(ctx context.Context, resource *Resource) map[string]string {
	if resource.Group == "" {
		return nil
	}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	text, err := c.get(ctx, definitions, "", resource.Resource+"."+resource.Group)
	if err != nil {
		return nil
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
		return nil
	}
	dates := make(map[string]string)
	for _, version := range crd.Spec.Versions {
		for _, column := range version.Columns {
			if path, simple := wire.SimplePath(column.JSONPath); version.Name == resource.Version && column.Type == "date" && simple {
				dates[column.Name] = path
			}
		}
	}
	return dates
}
