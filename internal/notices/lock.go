package notices

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// metafile is the path of the last esbuild report, relative to web/. The build command in web/embed.go sets this path.
const metafile = "node_modules/.cache/esbuild.json"

// iconPackage is the npm package whose icons web/icons.mjs writes into a file, without esbuild.
const iconPackage = "lucide"

const packagesFolder = "node_modules/"

type packageLock struct {
	Packages map[string]struct {
		Version, License string
		Dev              bool
		// The direct dependencies of the package: a version range for each name. In Packages, the key "" means the web page
		// itself.
		Dependencies map[string]string
	}
}

// LockedPackages returns the direct and indirect dependencies in web/package.json, without license texts. It does not
// use the bundler's report, which omits dependencies inside published packages.
func LockedPackages(root string) ([]Component, error) {
	locked, err := readLock(root)
	if err != nil {
		return nil, err
	}
	components := make([]Component, 0, len(locked.Packages))
	for _, folder := range locked.folders() {
		entry := locked.Packages[folder]
		components = append(components, Component{Name: nameOf(folder), Version: entry.Version, License: entry.License})
	}
	return components, nil
}

// Packages returns the result of LockedPackages with license texts. It returns an error if the built page contains
// packages that are not in this result.
func Packages(root string) ([]Component, error) {
	locked, err := readLock(root)
	if err != nil {
		return nil, err
	}
	if err := locked.verify(root); err != nil {
		return nil, err
	}
	components, err := LockedPackages(root)
	if err != nil {
		return nil, err
	}
	for i, folder := range locked.folders() {
		path := filepath.Join(root, "web", filepath.FromSlash(folder))
		if components[i].Texts, err = readTexts(path, path); err != nil {
			return nil, err
		}
		if len(components[i].Texts) == 0 || components[i].License == "" {
			return nil, fmt.Errorf("the npm package %s has no license file, or no license in web/package-lock.json",
				components[i].title())
		}
	}
	return components, nil
}

func readLock(root string) (packageLock, error) {
	var locked packageLock
	return locked, readJSON(filepath.Join(root, "web", "package-lock.json"), &locked)
}

func readJSON(path string, target any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read packages: %w", err)
	}
	if err := json.Unmarshal(text, target); err != nil {
		return fmt.Errorf("decode %s: %w", filepath.Base(path), err)
	}
	return nil
}

func (l packageLock) folders() []string {
	var folders []string
	for _, folder := range slices.Sorted(maps.Keys(l.Packages)) {
		if folder != "" && !l.Packages[folder].Dev {
			folders = append(folders, folder)
		}
	}
	return folders
}

// nameOf returns "@b/c" for the folder "node_modules/a/node_modules/@b/c".
func nameOf(folder string) string {
	return folder[strings.LastIndex(folder, packagesFolder)+len(packagesFolder):]
}

func (l packageLock) verify(root string) error {
	bundled, err := bundledFolders(root)
	if err != nil {
		return err
	}
	for _, folder := range slices.Sorted(maps.Keys(bundled)) {
		if !slices.Contains(l.folders(), folder) {
			return fmt.Errorf("%s is bundled: move it to the dependencies in web/package.json", nameOf(folder))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Packages[""].Dependencies)) {
		if !bundled[packagesFolder+name] && name != iconPackage {
			return fmt.Errorf("%s is not bundled: remove it from the dependencies in web/package.json", name)
		}
	}
	return nil
}

func bundledFolders(root string) (map[string]bool, error) {
	var report struct {
		Outputs map[string]struct {
			Inputs map[string]struct{ BytesInOutput int }
		}
	}
	if err := readJSON(filepath.Join(root, "web", filepath.FromSlash(metafile)), &report); err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for _, output := range report.Outputs {
		for file, input := range output.Inputs {
			if folder, ok := packageOf(file); ok && input.BytesInOutput > 0 {
				folders[folder] = true
			}
		}
	}
	return folders, nil
}

func packageOf(file string) (folder string, ok bool) {
	folder = regexp.MustCompile(`^.*\bnode_modules/(@[^/]+/)?[^/]+`).FindString(file)
	return folder, folder != ""
}
