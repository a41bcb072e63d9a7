package fieldmanager_test

import (
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
	"github.com/glasshouse-project/glasshouse/internal/watch/fieldmanager"
)

func BenchmarkPodStatus(b *testing.B) {
	recorded := versions(b, "pod.jsonl")
	before, after := recorded[2], recorded[3]
	patch, err := diff.Patch(before.text, after.text)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("diff", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := diff.Patch(before.text, after.text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("authors", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(fieldmanager.Attribute(after.managed, patch, after.text, before.newestTime())) != 1 {
				b.Fatal("want one author")
			}
		}
	})
	b.Run("newest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if newest, _ := fieldmanager.Newest(after.managed); newest == nil {
				b.Fatal("no author")
			}
		}
	})
}
