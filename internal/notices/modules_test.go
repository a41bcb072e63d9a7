package notices_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/notices"
)

const isc = `Copyright 2026 A. U. Thor

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.`

// program creates a program that links another module only on Windows. The parameter license is the license of that
// module.
func program(t *testing.T, license string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module program\n\ngo 1.26.0\n\n" +
			"require other.test/m v1.2.3\n\nreplace other.test/m => ./m\n",
		"cmd/dashboard/main.go":      "package main\n\nfunc main() {}\n",
		"cmd/dashboard/a_windows.go": "package main\n\nimport _ \"other.test/m/forked/a\"\n",
		"m/go.mod":                   "module other.test/m\n\ngo 1.26.0\n",
		"m/LICENSE":                  license,
		"m/forked/NOTICE":            "a notice",
		"m/forked/a/a.go":            "package a\n",
		"m/forked/a/license.go":      "package a\n",
		"m/forked/b/b.go":            "package b\n",
		"m/forked/b/LICENSE":         isc,
	} {
		writeFile(t, filepath.Join(root, name), content)
	}
	return root
}

func TestModulesContainLicenseTextsOfLinkedPackages(t *testing.T) {
	modules, err := notices.Modules(t.Context(), program(t, isc))
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) != 2 {
		t.Fatalf("got %v, want the standard library and one module", modules)
	}
	if got, want := modules[1].String(), "other.test/m v1.2.3 (ISC)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := []notices.Text{{File: "LICENSE", Body: isc}, {File: "forked/NOTICE", Body: "a notice"}}
	if got := modules[1].Texts; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnknownLicenseIsAnError(t *testing.T) {
	license := isc + strings.Repeat("\nIt must not be used on Sundays or for money.", 20)
	_, err := notices.Modules(t.Context(), program(t, license))
	want := "license of other.test/m v1.2.3: LICENSE is not a known license"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}
