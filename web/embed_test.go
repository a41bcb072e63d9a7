package web_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/glasshouse-project/glasshouse/web"
)

func TestAssetURLsContainContentHash(t *testing.T) {
	assets, err := web.New()
	if err != nil {
		t.Fatal(err)
	}
	icons := []string{"favicon.svg", "favicon-prod.svg"} // for each result of templates.ClusterIcon
	for color := range 6 {
		icons = append(icons, fmt.Sprintf("favicon-%d.svg", color))
	}
	for _, name := range append(icons, "app.js", "app.css", "tabs.css", "status.css", "forms.css", "icons.svg") {
		t.Run(name, func(t *testing.T) {
			data, err := fs.ReadFile(assets.FS(), name)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 {
				t.Error("the file is empty")
			}
			path, hash, found := strings.Cut(assets.URL(name), "?v=")
			if path != "/static/"+name || !found || len(hash) != 16 {
				t.Errorf("URL = %q, want /static/%s?v=<16 digits>", assets.URL(name), name)
			}
			if !assets.Current(name, hash) || assets.Current(name, "0") || assets.Current(name, "") {
				t.Error("Current does not distinguish this build's hash from others")
			}
		})
	}
	chunks, err := fs.Glob(assets.FS(), "*-*.js")
	// The file share-landing.js is not a chunk (a part of the script): its name contains a hyphen, but no hash.
	chunks = slices.DeleteFunc(chunks, func(name string) bool { return name == "share-landing.js" })
	if err != nil || len(chunks) == 0 {
		t.Fatalf("chunks are %q, error %v", chunks, err)
	}
	for _, name := range chunks {
		if !assets.Current(name, "") {
			t.Errorf("Current(%s): got false, although the name contains a hash", name)
		}
	}
	// Without arguments, Chunks must return the chunks that app.js imports statically, and no chunk that app.js loads on
	// demand.
	app, err := fs.ReadFile(assets.FS(), "app.js")
	if err != nil {
		t.Fatal(err)
	}
	needed := assets.Chunks()
	for _, name := range chunks {
		isStatic := bytes.Contains(app, []byte(`from"./`+name+`"`)) || bytes.Contains(app, []byte(`import"./`+name+`"`))
		isDynamic := bytes.Contains(app, []byte(`import("./`+name+`")`))
		if isNeeded := slices.Contains(needed, "/static/"+name); isStatic && !isNeeded || isDynamic && isNeeded {
			t.Errorf("chunk %s is static: %t, dynamic: %t, preloaded: %t", name, isStatic, isDynamic, isNeeded)
		}
	}
	if len(needed) == 0 {
		t.Error("the script has no chunks")
	}
	if withPages := assets.Chunks("pages"); len(withPages) <= len(needed) ||
		!strings.HasPrefix(withPages[0], "/static/pages-") {
		t.Errorf("chunks of lists and objects are %q, want the view first, and its imports", withPages)
	}
	if got := assets.URL("none.js"); got != "/static/none.js" {
		t.Errorf("URL of a file that does not exist is %q", got)
	}
}

// firstPageSize returns the compressed size of script and style that a page loads at once.
func firstPageSize(t *testing.T, view string, styles ...string) (size int) {
	t.Helper()
	assets, err := web.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(append(assets.Chunks(view), "/static/app.js"), styles...) {
		text, err := fs.ReadFile(assets.FS(), strings.TrimPrefix(path, "/static/"))
		if err != nil {
			t.Fatal(err)
		}
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		size += compressed.Len()
	}
	return size
}

// A list page loads the view "pages" at once. Code that loads on demand does not count.
func TestFirstPageFits60kB(t *testing.T) {
	if size := firstPageSize(t, "pages", "/static/app.css"); size > 60_000 {
		t.Errorf("script and style of a list have %d bytes, want at most 60,000", size)
	}
}

// The home page loads Preact at once, but no code of lists.
func TestHomePageFits64kB(t *testing.T) {
	if size := firstPageSize(t, "home", "/static/app.css", "/static/home.css"); size > 64_000 {
		t.Errorf("script and style of the home page have %d bytes, want at most 64,000", size)
	}
}

// Chunks also returns what other chunks import statically, but not what they load on demand.
func TestChunksOfChunksAreListed(t *testing.T) {
	assets, err := web.NewAssets(fstest.MapFS{
		"app.js":            {Data: []byte(`import{a}from"./one-ABCDEFGH.js";import("./later-ABCDEFGH.js")`)},
		"one-ABCDEFGH.js":   {Data: []byte(`import"./two-ABCDEFGH.js";export{a}`)},
		"two-ABCDEFGH.js":   {Data: []byte(`export{b}from"./one-ABCDEFGH.js"`)},
		"later-ABCDEFGH.js": {Data: []byte(`import"./rest-ABCDEFGH.js"`)},
		"rest-ABCDEFGH.js":  {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := assets.Chunks(), []string{"/static/one-ABCDEFGH.js", "/static/two-ABCDEFGH.js"}; !slices.Equal(got,
		want) {
		t.Errorf("Chunks: got %q, want %q", got, want)
	}
	if got, want := assets.Chunks("later"), []string{
		"/static/later-ABCDEFGH.js", "/static/one-ABCDEFGH.js", "/static/rest-ABCDEFGH.js", "/static/two-ABCDEFGH.js",
	}; !slices.Equal(got, want) {
		t.Errorf("Chunks with a view: got %q, want %q", got, want)
	}
}

// The build ID changes if an asset is added or any asset changes.
//
// Invariant: I38.
func TestBuildDependsOnAllAssets(t *testing.T) {
	files := func(other string) fstest.MapFS {
		files := fstest.MapFS{"app.js": {Data: []byte(`import"./a-ABCDEFGH.js";import("./b-ABCDEFGH.js")`)}}
		for _, name := range []string{"app.css", "favicon.svg", "a-ABCDEFGH.js", "b-ABCDEFGH.js"} {
			files[name] = &fstest.MapFile{Data: []byte("one")}
		}
		if other != "" {
			files[other] = &fstest.MapFile{Data: []byte("other")}
		}
		return files
	}
	build := func(other string) string {
		assets, err := web.NewAssets(files(other))
		if err != nil {
			t.Fatal(err)
		}
		if want := "/static/app.js?v=" + assets.Build(); assets.URL("app.js") != want ||
			!assets.Current("app.js", assets.Build()) {
			t.Errorf("build with another %q: URL of the script is %s, want %s", other, assets.URL("app.js"), want)
		}
		return assets.Build()
	}
	first, second := build(""), build("")
	if first != second {
		t.Error("two builds of the same files differ")
	}
	for other := range files("") {
		if build(other) == first {
			t.Errorf("build with another %s has the same hash", other)
		}
	}
	if build("c-ABCDEFGH.js") == first {
		t.Error("build with an additional file has the same hash")
	}
}

// The test ignores innerHTML in the code of Preact. Only the property dangerouslySetInnerHTML uses it, and
// web/test/ui/view.test.tsx forbids this property in the source.
//
// Invariant: I34.
func TestAssetsNameNoOtherHost(t *testing.T) {
	assets, err := web.New()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(assets.FS(), "*.[jc]s*")
	if err != nil || len(names) < 5 {
		t.Fatalf("assets = %q, %v", names, err)
	}
	withPreact := 0
	for _, name := range names {
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		// These addresses are the names of XML namespaces, so the browser does not request them.
		for _, namespace := range []string{"2000/svg", "1999/xhtml", "1998/Math/MathML"} {
			data = bytes.ReplaceAll(data, []byte("http://www.w3.org/"+namespace), nil)
		}
		// The link to the documentation of a kind. The browser requests it only after a click.
		if strings.HasPrefix(name, "kind-docs-") {
			data = bytes.Replace(data, []byte("https://kubernetes.io/docs/"), nil, 1)
		}
		if bytes.Contains(data, []byte("dangerouslySetInnerHTML")) {
			withPreact++
			data = bytes.ReplaceAll(data, []byte("innerHTML"), nil)
		}
		for _, address := range []string{"http://", "https://", "@import", "innerHTML", "eval(", "new Function"} {
			if bytes.Contains(data, []byte(address)) {
				t.Errorf("%s contains %q", name, address)
			}
		}
	}
	if withPreact > 1 {
		t.Errorf("%d assets contain Preact, want at most 1", withPreact)
	}
}
