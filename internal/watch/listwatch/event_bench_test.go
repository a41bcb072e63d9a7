package listwatch_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/listwatch"
)

var podSpecificText = regexp.MustCompile(
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}|-[0-9a-z]{5}"|` +
		`\d\d:\d\dZ|\d+\.\d+\.\d+"|"\d{4,}"`,
)

func BenchmarkDecodeEvent(b *testing.B) {
	text, err := os.ReadFile("../testdata/pod-table.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	pods := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	lines := pods[:1]
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // The same values in each run.
	for n := range 2000 {
		lines = append(lines, podSpecificText.ReplaceAllFunc(pods[1+n%(len(pods)-1)], func(match []byte) []byte {
			for i, c := range match {
				switch {
				case c >= '0' && c <= '9':
					match[i] = byte('0' + random.IntN(6))
				case c >= 'a' && c <= 'f':
					match[i] = byte('a' + random.IntN(6))
				}
			}
			return match
		}))
	}
	for _, name := range []string{"listed", "watched"} {
		b.Run(name, func(b *testing.B) {
			d := listwatch.NewDecoder("pods")
			decode := func(line []byte) {
				if _, err := d.Event(line); err != nil {
					b.Fatal(err)
				}
			}
			for _, line := range lines { // This also creates the compression dictionary.
				decode(line)
			}
			if name == "watched" {
				d.EndList()
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				decode(lines[1+n%(len(lines)-1)])
			}
		})
	}
}
