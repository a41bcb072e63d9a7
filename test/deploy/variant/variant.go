// Package variant renders the Kubernetes objects of each deployment variant, with kustomize and with Helm.
package variant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Namespace is the namespace of the dashboard in all variants.
const Namespace = "glasshouse"

// Names returns the deployment variants, which are folders in deploy/kustomize.
func Names() []string { return []string{"cluster", "namespaced", "team", "monitoring"} }

const (
	// Placeholder is a string in the variant "team" that users must replace with the addresses of their ingress
	// controller.
	Placeholder = "INGRESS_ADDRESSES"
	// Addresses is the example address range that Kustomize and Helm insert for Placeholder.
	Addresses = "192.0.2.7/32"
)

func replacePlaceholder(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(Placeholder), []byte(Addresses))
}

// Objects contains rendered objects by key, "kind namespace/name".
type Objects map[string]map[string]any

// Kustomize renders deploy/kustomize/<name> in the repository at root.
func Kustomize(root, name string) (Objects, error) {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(
		filesys.MakeFsOnDisk(), filepath.Join(root, "deploy/kustomize", name),
	)
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w", name, err)
	}
	objects := Objects{}
	for _, resource := range rendered.Resources() {
		text, err := resource.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("kustomize %s: %w", name, err)
		}
		if err := objects.add(replacePlaceholder(text)); err != nil {
			return nil, fmt.Errorf("kustomize %s: %w", name, err)
		}
	}
	return objects, nil
}

// Helm renders the chart with deploy/helm/<name>.yaml. A top-level key in values replaces the same key of the file.
func Helm(root, name string, values map[string]any) (Objects, error) {
	chart, err := loader.LoadDir(filepath.Join(root, "deploy/helm/glasshouse"))
	if err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	chartValues := map[string]any{}
	if name != "cluster" {
		text, err := os.ReadFile(filepath.Join(root, "deploy/helm", name+".yaml"))
		if err != nil {
			return nil, fmt.Errorf("read the values: %w", err)
		}
		if err := yaml.UnmarshalStrict(replacePlaceholder(text), &chartValues); err != nil {
			return nil, fmt.Errorf("read the values of %s: %w", name, err)
		}
	}
	maps.Copy(chartValues, values)
	release := common.ReleaseOptions{Name: "glasshouse", Namespace: Namespace, IsInstall: true, Revision: 1}
	renderValues, err := util.ToRenderValues(chart, chartValues, release, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("check the values of %s: %w", name, err)
	}
	files, err := engine.Render(chart, renderValues)
	if err != nil {
		return nil, fmt.Errorf("render the chart for %s: %w", name, err)
	}
	objects := Objects{}
	for file, text := range files {
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			if err := objects.add([]byte(document)); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return objects, nil
}

func (o Objects) add(document []byte) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return fmt.Errorf("decode an object: %w", err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil || len(object) == 0 {
		return err
	}
	metadata, _ := object["metadata"].(map[string]any)
	key := fmt.Sprintf("%v %v/%v", object["kind"], metadata["namespace"], metadata["name"])
	if _, exists := o[key]; exists {
		return fmt.Errorf("%s occurs twice", key)
	}
	o[key] = object
	return nil
}

// Decode decodes each object of the given kind into a T, and calls the function each with it.
func Decode[T any](objects Objects, kind string, each func(T)) error {
	for key, object := range objects {
		if object["kind"] != kind {
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		var decoded T
		if err := yaml.UnmarshalStrict(text, &decoded); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		each(decoded)
	}
	return nil
}
