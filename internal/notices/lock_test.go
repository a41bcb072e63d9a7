package notices_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/notices"
)

const threePackages = `{"packages": {
	"": {"dependencies": {"@a/direct": "1"}, "devDependencies": {"tool": "3"}},
	"node_modules/@a/direct": {"version": "1.0.0", "license": "MIT"},
	"node_modules/@a/direct/node_modules/indirect": {"version": "2.0.0", "license": "ISC"},
	"node_modules/tool": {"version": "3.0.0", "license": "MIT", "dev": true}
}}`

func repository(t *testing.T, bundled ...string) string {
	t.Helper()
	root := t.TempDir()
	inputs := make([]string, len(bundled))
	for i, file := range bundled {
		inputs[i] = `"` + file + `": {"bytesInOutput": 9}`
	}
	metafile := `{"outputs": {"app.js": {"inputs": {` + strings.Join(inputs, ",") + `}}}}`
	files := map[string]string{
		"package-lock.json":                                      threePackages,
		"node_modules/.cache/esbuild.json":                       metafile,
		"node_modules/@a/direct/LICENSE":                         "\nthe license  \r\nof direct\r\n\r\n",
		"node_modules/@a/direct/license.js":                      "code",
		"node_modules/@a/direct/node_modules/indirect/COPYING":   "the license of indirect",
		"node_modules/@a/direct/node_modules/indirect/NOTICE.md": "its notice",
	}
	for name, content := range files {
		writeFile(t, filepath.Join(root, "web", name), content)
	}
	return root
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPackagesHaveTheirTexts(t *testing.T) {
	packages, err := notices.Packages(repository(t, "static/src/app.ts", "node_modules/@a/direct/dist/index.js"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range packages {
		got = append(got, p.String())
		for _, text := range p.Texts {
			got = append(got, text.File+": "+text.Body)
		}
	}
	want := []string{
		"@a/direct 1.0.0 (MIT)", "LICENSE: the license\nof direct",
		"indirect 2.0.0 (ISC)", "COPYING: the license of indirect", "NOTICE.md: its notice",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBundleMustMatchDependencies(t *testing.T) {
	for name, test := range map[string]struct {
		bundled []string
		want    string
	}{
		"development": {[]string{"node_modules/@a/direct/a.js", "node_modules/tool/b.js"}, "tool is bundled"},
		"not bundled": {nil, "@a/direct is not bundled"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := notices.Packages(repository(t, test.bundled...))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

func TestPackageWithoutLicenseIsRefused(t *testing.T) {
	root := repository(t, "node_modules/@a/direct/a.js")
	if err := os.Remove(filepath.Join(root, "web/node_modules/@a/direct/LICENSE")); err != nil {
		t.Fatal(err)
	}
	_, err := notices.Packages(root)
	if want := "@a/direct 1.0.0 has no license file"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}
