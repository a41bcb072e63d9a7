package templates_test

import (
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/web/templates"
)

// Only names with a word for production have the color of production, in the header and in the icon.
func TestColorOfTheClusterDependsOnWordsInItsName(t *testing.T) {
	for name, want := range map[string]bool{
		"prod": true, "PROD": true, "production": true, "prd": true, "prod-eu-1": true, "eu-west-1.prod": true,
		"k8s_prod_01": true, "prod2": true, "shop/production": true, "arn:aws:eks:eu-west-1:1:cluster/prod": true,
		"nonprod": false, "non-prod": false, "preprod": false, "pre-prod": false, "pre_production": false,
		"not-prod": false, "no-prod": false, "eu-non-prod-1": false, "subprod": false, "sub-prod": false,
		"product": false, "products-dev": false, "reproduce": false, "prodigy": false, "production-line2x": true,
		"demo": false, "staging": false, "pre": false, "-": false,
	} {
		t.Run(name, func(t *testing.T) {
			if got := templates.ClusterIcon(name); (got == "favicon-prod.svg") != want {
				t.Errorf("icon: got %s, production: %t", got, want)
			}
			html := render(t, templates.ObjectPage(templates.Object{Layout: templates.Layout{Cluster: name}}))
			if strings.Contains(html, `data-color="prod"`) != want {
				t.Errorf("the name in the header has the color of production: %t, want %t", !want, want)
			}
		})
	}
	if got := templates.ClusterIcon(""); got != "favicon.svg" {
		t.Errorf("icon without the name of a cluster: got %s", got)
	}
}
