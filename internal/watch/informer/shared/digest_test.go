package shared_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/glasshouse-project/glasshouse/internal/watch/informer/shared"
)

// The server and the web page compute the same digests of rows: the tests of both use the cases in digest.json.
// Invariant: I8. A digest is a hash of rows. If the digest of the client's rows equals the digest of the server's rows,
// the client has the same rows as the server. The comparison is possible with any filter, and also while further
// changes are on the network.
func TestDigestsEqualThoseOfThePage(t *testing.T) {
	text, err := os.ReadFile("../../../../web/test/digest.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name   string
			Rows   []struct{ NS, Name, RV string }
			Count  int
			Digest string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("got %d test cases, error %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		var got shared.Digest
		for _, row := range c.Rows {
			got.Add(row.NS+"/"+row.Name, row.RV)
		}
		if got.Count != c.Count || got.Text() != c.Digest {
			t.Errorf("%s: got %d, %s; want %d, %s", c.Name, got.Count, got.Text(), c.Count, c.Digest)
		}
	}
}

// If only the last digits of two versions change, the digest (a hash of all rows) still changes.
// Invariant: I8.
func TestDigestChangesWithEachVersion(t *testing.T) {
	for i := range 40 {
		for j := range i {
			a, b := fmt.Sprintf("shop/web-%d", i), fmt.Sprintf("shop/web-%d", j)
			var before, after shared.Digest
			before.Add(a, "811")
			before.Add(b, "812")
			after.Add(a, "813")
			after.Add(b, "814")
			if before == after {
				t.Errorf("%s and %s: the digest did not change after both were updated", a, b)
			}
		}
	}
}
