package redact_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

func BenchmarkRedactPod(b *testing.B) {
	text, err := os.ReadFile("../testdata/pod-table.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	_, row, _ := bytes.Cut(bytes.Split(text, []byte("\n"))[1], []byte(`],"object":`))
	pod, ok := bytes.CutSuffix(row, []byte(`}]}}`))
	if !ok {
		b.Fatalf("got %.200s", row)
	}
	inner := fmt.Appendf(nil, `{"metadata":{"name":"a"},"spec":{"template":%s}}`, pod)
	for name, object := range map[string][]byte{"pod": pod, "template": inner} {
		b.Run(name, func(b *testing.B) {
			r := redact.New(nil, "", "pods")
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				clean, err := r.Object(out[:0], object)
				if err != nil {
					b.Fatal(err)
				}
				out = clean.Text
			}
		})
	}
}
