// Package web contains the files for the browser: the page templates (in templates) and the bundled script, style
// sheets and icon, which this package embeds. go generate builds the files in static/dist from static/src. They are
// committed, so that building the program needs only Go.
//
// The URL of an asset contains a hash of its bytes, so that browsers may cache it forever: another build has other
// URLs. The URL of the script contains a hash of all files, so that a page knows its build. A file that the script
// loads on demand has the hash in its name, because the script itself contains that name. The style of the tabs is the
// exception: its URL has no hash, and browsers revalidate it.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// The build needs the npm packages: npm ci --prefix web. The metafile lists what was bundled, for internal/notices.
//go:generate go tool templ generate -path templates
//go:generate rm -rf static/dist
//go:generate go tool esbuild static/src/app.ts static/src/share/share-landing.ts static/src/app.css static/src/tabs.css static/src/favicon.svg --bundle --splitting --minify --format=esm --target=es2022 --charset=utf8 --legal-comments=none --loader:.svg=copy --entry-names=[name] --chunk-names=[name]-[hash] --outdir=static/dist --metafile=node_modules/.cache/esbuild.json --log-level=warning

// script is the entry point of a page.
const script = "app.js"

//go:embed all:static/dist
var dist embed.FS

// Assets are the embedded files and their URLs. They do not change, and may be used by many goroutines.
type Assets struct {
	fsys   fs.FS
	hashes map[string]string // By file name; the one of the script is a hash of all files.
	chunks []string
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
	a := &Assets{fsys: fsys, hashes: map[string]string{}}
	all := sha256.New()
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
		_, _ = fmt.Fprintf(all, "%s %x\n", name, sum) // Writing to a hash never fails.
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("hash the embedded assets: %w", err)
	}
	a.hashes[script] = hex.EncodeToString(all.Sum(nil)[:8])
	if err := a.addChunks(script, regexp.MustCompile(`\b(?:from|import)"\./([\w-]+\.js)"`)); err != nil {
		return nil, err
	}
	return a, nil
}

// addChunks adds the chunks that a script imports statically, directly or through other chunks. Chunks that load on
// demand are not included.
func (a *Assets) addChunks(name string, imports *regexp.Regexp) error {
	text, err := fs.ReadFile(a.fsys, name)
	if err != nil {
		return fmt.Errorf("read the script: %w", err)
	}
	for _, match := range imports.FindAllSubmatch(text, -1) {
		chunk := string(match[1])
		if slices.Contains(a.chunks, chunk) {
			continue
		}
		a.chunks = append(a.chunks, chunk)
		if err := a.addChunks(chunk, imports); err != nil {
			return err
		}
	}
	return nil
}

// Chunks returns the URLs of the chunks that app.js imports statically, so that the browser can request all of them at
// once.
func (a *Assets) Chunks() []string {
	urls := make([]string, len(a.chunks))
	for i, chunk := range a.chunks {
		urls[i] = "/static/" + chunk
	}
	return urls
}

// FS contains the files under the names that URL takes. The server serves them under /static/.
func (a *Assets) FS() fs.FS { return a.fsys }

// URL returns the URL of a file, "/static/app.js?v=<hash>". For an unknown file, it returns the URL without a hash,
// which responds with 404.
func (a *Assets) URL(name string) string {
	if hash, ok := a.hashes[name]; ok {
		return "/static/" + name + "?v=" + hash
	}
	return "/static/" + name
}

// Build returns the id of this build of the page: the hash of all files, as in the script's URL.
func (a *Assets) Build() string { return a.hashes[script] }

// Current reports whether name and v, the hash that URL returns, identify exactly one content, so that the response may
// be cached forever.
func (a *Assets) Current(name, v string) bool {
	hash, ok := a.hashes[name]
	return ok && (hash == v || isChunk(name))
}

// isChunk reports whether a file is a chunk of the script. The bundler gives it a name with a hash of its content, for
// example "yaml-5KQ2XV7A.js".
func isChunk(name string) bool {
	name, isScript := strings.CutSuffix(name, ".js")
	dash := strings.LastIndexByte(name, '-')
	return isScript && dash >= 0 && len(name)-dash-1 == 8 && strings.ToUpper(name[dash:]) == name[dash:]
}
