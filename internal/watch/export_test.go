package watch

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
)

// DigestOf is the digest of rows, each a key and a resourceVersion.
func DigestOf(rows [][2]string) (count int, text string) {
	var d digest
	for _, row := range rows {
		d.add(row[0], row[1])
	}
	return d.count, fmt.Sprintf("%08x", d.sum)
}

// Labels is a JSON object of labels, as a selector reads it.
func Labels(text string) labels.Labels { return labelText(text) }
