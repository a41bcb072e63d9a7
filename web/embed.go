// Package web holds what the browser is given: the page templates (in
// templates) and the bundled script, style sheet and icon, which this package
// embeds. The files in static/dist are built from static/src by go generate
// and committed, so that building the program takes Go alone.
//
// An asset's address carries a hash of its bytes, so that it may be cached for
// ever: another build has other addresses. That of the script is of all files, so
// that a page knows which build it is of. What the script loads when it is needed
// has the hash in its name, as the script names it itself; but for the style of the
// tabs, which is asked for anew.
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

// Building needs the npm packages: npm ci --prefix web. The metafile names what was bundled, for internal/notices.
//go:generate go tool templ generate -path templates
//go:generate rm -rf static/dist
//go:generate go tool esbuild static/src/app.ts static/src/opened.ts static/src/app.css static/src/tabs.css static/src/favicon.svg --bundle --splitting --minify --format=esm --target=es2022 --charset=utf8 --legal-comments=none --loader:.svg=copy --entry-names=[name] --chunk-names=[name]-[hash] --outdir=static/dist --metafile=node_modules/.cache/esbuild.json --log-level=warning

// script is the file that a page begins with.
const script = "app.js"

//go:embed all:static/dist
var dist embed.FS

// Assets are the embedded files and their addresses. It does not change once
// made, and may be used by many goroutines.
type Assets struct {
	fsys   fs.FS
	hashes map[string]string // by file name; that of the script is of all files
	parts  []string
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
		_, _ = fmt.Fprintf(all, "%s %x\n", name, sum) // A hash takes all.
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("hash the embedded assets: %w", err)
	}
	a.hashes[script] = hex.EncodeToString(all.Sum(nil)[:8])
	if err := a.find(script, regexp.MustCompile(`\b(?:from|import)"\./([\w-]+\.js)"`)); err != nil {
		return nil, err
	}
	return a, nil
}

// find finds the parts that a script, or one of them, cannot begin without. What
// is loaded when it is needed is not among them.
func (a *Assets) find(name string, imports *regexp.Regexp) error {
	text, err := fs.ReadFile(a.fsys, name)
	if err != nil {
		return fmt.Errorf("read the script: %w", err)
	}
	for _, found := range imports.FindAllSubmatch(text, -1) {
		part := string(found[1])
		if slices.Contains(a.parts, part) {
			continue
		}
		a.parts = append(a.parts, part)
		if err := a.find(part, imports); err != nil {
			return err
		}
	}
	return nil
}

// Parts are the addresses of what app.js cannot begin without, for the browser to
// ask for all of it at once.
func (a *Assets) Parts() []string {
	addresses := make([]string, len(a.parts))
	for i, part := range a.parts {
		addresses[i] = "/static/" + part
	}
	return addresses
}

// FS holds the files by the names that URL takes, to be served under /static/.
func (a *Assets) FS() fs.FS { return a.fsys }

// URL returns the address of a file, "/static/app.js?v=<hash>". Without such a
// file it is the address without a hash, which answers 404.
func (a *Assets) URL(name string) string {
	if hash, ok := a.hashes[name]; ok {
		return "/static/" + name + "?v=" + hash
	}
	return "/static/" + name
}

// Build names this build of the page, as the script's address does: by the hash
// of all files.
func (a *Assets) Build() string { return a.hashes[script] }

// Current reports whether name and v, the hash that URL gives, are those of one
// text alone, so that the answer may be cached for ever.
func (a *Assets) Current(name, v string) bool {
	hash, ok := a.hashes[name]
	return ok && (hash == v || isChunk(name))
}

// isChunk reports whether a file is a part of the script: the bundler names it
// "yaml-5KQ2XV7A.js", by what it was made of.
func isChunk(name string) bool {
	name, isScript := strings.CutSuffix(name, ".js")
	dash := strings.LastIndexByte(name, '-')
	return isScript && dash >= 0 && len(name)-dash-1 == 8 && strings.ToUpper(name[dash:]) == name[dash:]
}
