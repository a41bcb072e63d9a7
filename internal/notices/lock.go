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

// metafile is the path of the report that esbuild writes about the last build, relative to web/. The build command in
// web/embed.go sets this path.
const metafile = "node_modules/.cache/esbuild.json"

const packagesFolder = "node_modules/"

type packageLock struct {
	Packages map[string]struct {
		Version, License string
		Dev              bool
		// Dependencies are the direct dependencies of a package. In Packages, the key "" is the web page itself,
		// whose dependencies are those in package.json.
		Dependencies map[string]string
	}
}

// LockedPackages returns the npm packages in the web page, without license texts. These are all direct and indirect
// dependencies in web/package.json. It does not use the report of the bundler, because this report does not list the
// packages that a published package already contains.
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

// Packages returns the same packages as LockedPackages, with the license texts of the installed packages. It returns
// an error if the last build contains a package that is not a dependency of web/package.json, or does not contain a
// direct dependency.
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
			return nil, fmt.Errorf("the npm package %s has no license file, or names no license", components[i].title())
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

// nameOf returns the name of the npm package in a folder. For "node_modules/a/node_modules/@b/c", the name is "@b/c".
func nameOf(folder string) string {
	return folder[strings.LastIndex(folder, packagesFolder)+len(packagesFolder):]
}

// verify returns an error if the last build contains a package that is not a dependency of web/package.json, or does
// not contain a direct dependency.
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
		if !bundled[packagesFolder+name] {
			return fmt.Errorf("%s is not bundled: remove it from the dependencies in web/package.json", name)
		}
	}
	return nil
}

// bundledFolders returns the folders of the npm packages from which the bundle contains at least one byte.
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

// packageOf returns the folder of the npm package that contains a file. If no package contains the file, ok is false.
func packageOf(file string) (folder string, ok bool) {
	folder = regexp.MustCompile(`^.*\bnode_modules/(@[^/]+/)?[^/]+`).FindString(file)
	return folder, folder != ""
}
