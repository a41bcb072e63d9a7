package notices

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

const standardLibrary = "Go standard library and runtime"

// platforms returns the platforms for which releases are built. Some modules are linked on only one of them.
func platforms() [][2]string {
	return [][2]string{
		{"linux", "amd64"},
		{"linux", "arm64"},
		{"darwin", "amd64"},
		{"darwin", "arm64"},
		{"windows", "amd64"},
		{"windows", "arm64"},
	}
}

type linkedPackage struct {
	Dir      string
	Root     string
	Standard bool
	Module   *struct {
		Path, Version string
		Main          bool
	}
}

// linkedModule contains a module's folders with possible license files. Subfolders count, because forked code has its
// own license.
type linkedModule struct {
	name, version, root string
	folders             map[string]bool
}

// Modules returns the Go standard library and the Go modules in cmd/dashboard on any platform, sorted by name.
func Modules(ctx context.Context, root string) ([]Component, error) {
	modules := map[string]*linkedModule{}
	for _, platform := range platforms() {
		packages, err := listPackages(ctx, root, platform[0], platform[1])
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if p.Module == nil || !p.Module.Main {
				p.addTo(modules)
			}
		}
	}
	var components []Component
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		component, err := modules[name].component()
		if err != nil {
			return nil, err
		}
		components = append(components, component)
	}
	return components, nil
}

func listPackages(ctx context.Context, root, goos, goarch string) ([]linkedPackage, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Root,Standard,Module", "./cmd/dashboard")
	list.Dir = root
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	output, err := list.Output()
	if err != nil {
		if exitErr, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exitErr.Stderr)
		}
		return nil, fmt.Errorf("list the packages linked for %s/%s: %w", goos, goarch, err)
	}
	var packages []linkedPackage
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p linkedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("decode the packages linked for %s/%s: %w", goos, goarch, err)
		}
		packages = append(packages, p)
	}
}

func (p linkedPackage) addTo(modules map[string]*linkedModule) {
	// For the standard library, use only license files in the root folder, because the license in crypto/internal/boring
	// applies only to BoringCrypto.
	name, version, folder := standardLibrary, "", p.Root
	if !p.Standard {
		name, version, folder = p.Module.Path, p.Module.Version, p.Dir
	}
	if modules[name] == nil {
		folders := map[string]bool{p.Root: true}
		modules[name] = &linkedModule{name: name, version: version, root: p.Root, folders: folders}
	}
	for ; len(folder) > len(p.Root); folder = filepath.Dir(folder) {
		modules[name].folders[folder] = true
	}
}

func (m *linkedModule) component() (Component, error) {
	component := Component{Name: m.name, Version: m.version}
	for _, folder := range slices.Sorted(maps.Keys(m.folders)) {
		texts, err := readTexts(m.root, folder)
		if err != nil {
			return Component{}, err
		}
		component.Texts = append(component.Texts, texts...)
	}
	var err error
	if component.License, err = identify(component.Texts); err != nil {
		return Component{}, fmt.Errorf("identify the license of %s: %w", component.title(), err)
	}
	return component, nil
}
