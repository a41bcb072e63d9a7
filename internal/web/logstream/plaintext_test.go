package logstream

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// toPlainText adds pieces of a log to a plainText one by one, and returns the text without escape sequences.
func toPlainText(pieces ...[]byte) string {
	var p plainText
	var text []byte
	for _, piece := range pieces {
		text = p.append(text, piece)
	}
	return string(p.finish(text))
}

// Invariant: I28.
func TestPlainTextRemovesEscapeSequences(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"text", "a\tb\n größe 日本 🎉\n", "a\tb\n größe 日本 🎉\n"},
		{"colors", "\x1b[31mred\x1b[0m \x1b[1;38;5;12mblue\x1b[m", "red blue"},
		{"private parameters", "\x1b[?25la\x1b[>4;2mb", "ab"},
		{"title, ended by BEL", "\x1b]0;title\aafter", "after"},
		{"link, ended by ST", "\x1b]8;;http://evil.test\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"device control string", "\x1bP1$r0m\x1b\\after", "after"},
		{"character set", "\x1b(Ba\x1b#8b", "ab"},
		{"keypad mode", "\x1b=a\x1bcb", "ab"},
		{"unterminated string ends with the line", "\x1b]0;never\nnext\n", "\nnext\n"},
		{"unterminated sequence ends with the line", "\x1b[31\nnext", "\nnext"},
		{"two ESC characters", "\x1b\x1b[31ma", "a"},
		{"ESC at the end", "a\x1b", "a"},
		{"other control characters", "a\x00b\x07c\x7fd\u009be", "a\ufffdb\ufffdc\ufffdd\ufffde"},
		{"CRLF line ends", "a\r\nb\r\n", "a\nb\n"},
		{"carriage return without a line feed", "10%\r20%\r", "10%\ufffd20%\ufffd"},
		{"invalid UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd"},
		{"incomplete character", "\xf0\x9f\x8e", "\ufffd\ufffd\ufffd"},
		{"markup is unchanged", "<script>alert(1)</script>", "<script>alert(1)</script>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := toPlainText([]byte(test.text)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzPlainText checks that any log becomes valid text with the same lines, at every split of the input.
//
// Invariant: I28.
func FuzzPlainText(f *testing.F) {
	for _, seed := range []string{"a\x1b[31mb\n", "\x1b]8;;x\x1b\\y\r\n", "\xf0\x9f\x8e\x89\xc3", "\x1b\r\n\r"} {
		f.Add([]byte(seed), uint(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, at uint) {
		full := toPlainText(text)
		if !utf8.ValidString(full) || strings.ContainsFunc(full, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t'
		}) {
			t.Errorf("toPlainText(%q): got %q with control characters or invalid UTF-8", text, full)
		}
		if got, want := strings.Count(full, "\n"), strings.Count(string(text), "\n"); got != want {
			t.Errorf("plain text %q: got %d lines, want %d", full, got, want)
		}
		split := int(at % uint(len(text)+1)) //nolint:gosec // A length fits an int.
		if got := toPlainText(text[:split], text[split:]); got != full {
			t.Errorf("split into %q and %q: got %q, want %q", text[:split], text[split:], got, full)
		}
	})
}
