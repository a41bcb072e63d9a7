// Package variant makes the objects of each way to deploy the dashboard, as kustomize and as Helm make them.
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

// Namespace is where the variants put what they make.
const Namespace = "glasshouse"

// Names gives the variants, each a folder of deploy/kustomize.
func Names() []string { return []string{"cluster", "namespaced", "team", "monitoring"} }

const (
	// Placeholder is the text in the files of a team that has to be replaced with the addresses of the ingress controller.
	Placeholder = "INGRESS_ADDRESSES"
	// Addresses replaces it in tests, in Kustomize and in Helm.
	Addresses = "192.0.2.7/32"
)

func fillIn(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(Placeholder), []byte(Addresses))
}

// Objects are what is made, by kind, namespace and name.
type Objects map[string]map[string]any

// Kustomize makes what deploy/kustomize/NAME says; root is the repository.
func Kustomize(root, name string) (Objects, error) {
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(
		filesys.MakeFsOnDisk(), filepath.Join(root, "deploy/kustomize", name),
	)
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w", name, err)
	}
	objects := Objects{}
	for _, resource := range made.Resources() {
		text, err := resource.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("kustomize %s: %w", name, err)
		}
		if err := objects.add(fillIn(text)); err != nil {
			return nil, fmt.Errorf("kustomize %s: %w", name, err)
		}
	}
	return objects, nil
}

// Helm makes what the chart says with the values of deploy/helm/NAME.yaml, and with values, which go before those. The variant
// "cluster" has no file.
func Helm(root, name string, values map[string]any) (Objects, error) {
	chart, err := loader.LoadDir(filepath.Join(root, "deploy/helm/glasshouse"))
	if err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	given := map[string]any{}
	if name != "cluster" {
		text, err := os.ReadFile(filepath.Join(root, "deploy/helm", name+".yaml"))
		if err != nil {
			return nil, fmt.Errorf("read the values: %w", err)
		}
		if err := yaml.UnmarshalStrict(fillIn(text), &given); err != nil {
			return nil, fmt.Errorf("read the values of %s: %w", name, err)
		}
	}
	maps.Copy(given, values)
	release := common.ReleaseOptions{Name: "glasshouse", Namespace: Namespace, IsInstall: true, Revision: 1}
	all, err := util.ToRenderValues(chart, given, release, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("check the values of %s: %w", name, err)
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, fmt.Errorf("make the chart's objects of %s: %w", name, err)
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

// add takes one YAML or JSON document; one with nothing in it is left out.
func (o Objects) add(document []byte) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return fmt.Errorf("read an object: %w", err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil || len(object) == 0 {
		return err
	}
	metadata, _ := object["metadata"].(map[string]any)
	key := fmt.Sprintf("%v %v/%v", object["kind"], metadata["namespace"], metadata["name"])
	if _, twice := o[key]; twice {
		return fmt.Errorf("%s is there twice", key)
	}
	o[key] = object
	return nil
}

// Into reads the objects of a kind as the type of into, one after the other.
func Into[T any](objects Objects, kind string, each func(T)) error {
	for key, object := range objects {
		if object["kind"] != kind {
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		var into T
		if err := yaml.UnmarshalStrict(text, &into); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		each(into)
	}
	return nil
}
