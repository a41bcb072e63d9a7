// Package web embeds the assets for the browser, which go generate builds. The results are committed, so building the
// program needs only Go.
//
// Browsers can cache an asset forever: its URL or file name contains a hash. Only tabs.css has no hash, so browsers
// check it for changes. The hash of app.js covers all assets, and identifies the build.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// go generate needs the npm packages: npm ci --prefix web. The metafile lists the bundled packages for
// internal/notices.
//go:generate go tool templ generate -path templates
//go:generate rm -rf static/dist
//go:generate go tool esbuild static/src/app.ts static/src/share/share-landing.ts static/src/app.css static/src/home.css static/src/kiosk.css static/src/forms.css static/src/status.css static/src/tabs.css static/src/favicon.svg static/src/icons/*.svg --bundle --splitting --minify --format=esm --target=es2022 --charset=utf8 --legal-comments=none --loader:.svg=copy --entry-names=[name] --chunk-names=[name]-[hash] --outdir=static/dist --metafile=node_modules/.cache/esbuild.json --log-level=warning
//go:generate node icons.mjs

const script = "app.js"

//go:embed all:static/dist
var dist embed.FS

// Assets contains the embedded files and their URLs. It is immutable, and safe for concurrent use.
type Assets struct {
	fsys    fs.FS
	hashes  map[string]string   // Hash of each file, by file name. The entry for app.js is a hash of all files.
	imports map[string][]string // The chunks that a script imports statically, by the script's file name.
}

// New reads the embedded files.
func New() (*Assets, error) {
	fsys, err := fs.Sub(dist, "static/dist")
	if err != nil {
		return nil, fmt.Errorf("open the embedded assets: %w", err)
	}
	return newAssets(fsys)
}

func newAssets(fsys fs.FS) (*Assets, error) {
	a := &Assets{fsys: fsys, hashes: map[string]string{}, imports: map[string][]string{}}
	all := sha256.New()
	// The pattern starts with a literal text, which makes the search 15 times faster.
	pathPattern := regexp.MustCompile(`"\./([\w-]+\.js)"`)
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		a.hashes[name] = hex.EncodeToString(sum[:8])
		if strings.HasSuffix(name, ".js") {
			for _, at := range pathPattern.FindAllSubmatchIndex(data, -1) {
				if before := data[:at[0]]; bytes.HasSuffix(before, []byte("from")) || bytes.HasSuffix(before, []byte("import")) {
					a.imports[name] = append(a.imports[name], string(data[at[2]:at[3]]))
				}
			}
		}
		_, _ = fmt.Fprintf(all, "%s %x\n", name, sum) // a write to a hash never fails
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("hash the embedded assets: %w", err)
	}
	a.hashes[script] = hex.EncodeToString(all.Sum(nil)[:8])
	return a, nil
}

// Chunks returns the URLs of all chunks that a page needs immediately, so that browsers request them at the same time.
// These are the chunks of the given views, such as "pages", and the static imports of app.js and of these views.
func (a *Assets) Chunks(views ...string) []string {
	found := []string{script}
	for name := range a.hashes {
		stem, _, _ := strings.Cut(name, "-")
		if isChunk(name) && slices.Contains(views, stem) {
			found = append(found, name)
		}
	}
	slices.Sort(found[1:])
	for i := 0; i < len(found); i++ {
		for _, name := range a.imports[found[i]] {
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	urls := make([]string, 0, len(found)-1)
	for _, chunk := range found[1:] {
		urls = append(urls, "/static/"+chunk)
	}
	return urls
}

// FS returns the embedded files. The server serves them under /static/.
func (a *Assets) FS() fs.FS { return a.fsys }

// URL returns the URL of a file, such as "/static/app.js?v=<hash>". For an unknown file, the URL has no hash.
func (a *Assets) URL(name string) string {
	if hash, ok := a.hashes[name]; ok {
		return "/static/" + name + "?v=" + hash
	}
	return "/static/" + name
}

// Build returns the ID of this build of the page, a hash of all files. New stores the ID in place of the hash of the
// main script, so that the URL of the main script contains it as the version.
func (a *Assets) Build() string { return a.hashes[script] }

// Current reports whether a file's URL contains the hash of its present content, either in the parameter v or in the
// name of a chunk. If so, browsers can cache the response forever.
func (a *Assets) Current(name, v string) bool {
	hash, ok := a.hashes[name]
	return ok && (hash == v || isChunk(name))
}

// isChunk reports whether the bundler added a hash to a file name, such as "yaml-5KQ2XV7A.js".
func isChunk(name string) bool {
	name, isScript := strings.CutSuffix(name, ".js")
	dash := strings.LastIndexByte(name, '-')
	return isScript && dash >= 0 && len(name)-dash-1 == 8 && strings.ToUpper(name[dash:]) == name[dash:]
}
