package templates_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/glasshouse-project/glasshouse/web/templates"
)

// The page isolates invisible and direction-changing characters. web/test/text/invisible-chars.test.ts tests the same
// in TypeScript.
//
// Invariant: I34.
func TestInvisibleCharactersAreShown(t *testing.T) {
	const name = "admin\u202enimda\u200b"
	html := render(t, templates.ObjectPage(templates.Object{
		Layout: templates.Layout{Title: name}, Crumbs: []templates.Crumb{{Text: name}}, YAML: "name: " + name,
	}))
	for _, want := range []string{
		`<title>admin[U+202E]nimda[U+200B] - Glasshouse</title>`,
		`admin<span class="invisible-char" data-codepoints="U+202E">` + "\u202e" +
			`</span>nimda<span class="invisible-char" data-codepoints="U+200B">` + "\u200b" + `</span></h1>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
	visible := regexp.MustCompile(`<span class="invisible-char"[^>]*>[^<]*</span>`).ReplaceAllString(html, "")
	if i := strings.IndexFunc(visible, func(r rune) bool { return unicode.Is(unicode.Cf, r) }); i >= 0 {
		t.Errorf("an invisible character is not marked: %q", visible[max(0, i-40):i+10])
	}
	var all strings.Builder
	for r := range rune(0xe0200) {
		if !unicode.IsControl(r) && !unicode.Is(unicode.Cs, r) {
			all.WriteString("x" + string(r))
		}
	}
	manyMarks := render(t, templates.ObjectPage(templates.Object{YAML: all.String()}))
	if n := strings.Count(manyMarks, `class="invisible-char"`); n != 33 {
		t.Errorf("got %d marks, want 32 and one for the rest", n)
	}
}
