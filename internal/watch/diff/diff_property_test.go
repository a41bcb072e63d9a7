package diff_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/wI2L/jsondiff"

	"github.com/glasshouse-project/glasshouse/internal/watch/diff"
)

func check(t *testing.T, before, after []byte) []byte {
	t.Helper()
	patch, former, err := diff.Compare(before, after)
	if err != nil {
		t.Fatalf("Compare: %v\nbefore %s\nafter  %s", err, before, after)
	}
	if !json.Valid(patch) {
		t.Fatalf("the patch is not JSON: %s", patch)
	}
	checkFormerValues(t, before, patch, former)
	if got, want := apply(t, decode(t, before), patch), decode(t, after); !reflect.DeepEqual(got, want) {
		t.Fatalf("applied: got %v, want %v\nbefore %s\nafter  %s\npatch  %s", got, want, before, after, patch)
	}
	if limit := len(`[{"op":"replace","path":"","value":}]`) + len(after); len(patch) > limit {
		t.Fatalf("got a patch of %d bytes, want at most %d as for a replaced root\nbefore %s\nafter  %s\npatch  %s",
			len(patch), limit, before, after, patch)
	}
	if repeated, err := diff.Patch(before, after); err != nil || !bytes.Equal(repeated, patch) {
		t.Fatalf("Patch is not deterministic: second call got %s, error %v; first call %s", patch, err, repeated)
	}
	return patch
}

// checkFormerValues checks each former value: it must be the value at the path of its operation, immediately before
// this operation is applied.
func checkFormerValues(t *testing.T, before, patch, former []byte) {
	t.Helper()
	formerValues := make(map[string]json.RawMessage)
	var ops []json.RawMessage
	if err := json.Unmarshal(patch, &ops); err != nil {
		t.Fatal(err)
	}
	if former != nil {
		if err := json.Unmarshal(former, &formerValues); err != nil || len(formerValues) == 0 {
			t.Fatalf("decode former values %s: %v", former, err)
		}
	}
	document := decode(t, before)
	for i, text := range ops {
		var op diff.Op
		if err := json.Unmarshal(text, &op); err != nil {
			t.Fatal(err)
		}
		if value, ok := formerValues[strconv.Itoa(i)]; ok {
			delete(formerValues, strconv.Itoa(i))
			if got, want := decode(t, value), valueAt(t, document, op.Path); op.Op == "add" ||
				!reflect.DeepEqual(got, want) {
				t.Fatalf("former value of %s %s: want %v, got %v\nbefore %s\npatch  %s",
					op.Op, op.Path, want, got, before, patch)
			}
		}
		document = apply(t, document, append(append([]byte{'['}, text...), ']'))
	}
	if len(formerValues) > 0 {
		t.Fatalf("former values of nonexistent operations: %v\npatch %s", formerValues, patch)
	}
}

// checkOracles compares the patch with results of jsondiff and evanphx/json-patch. expected is the patch of jsondiff.
// before and after must escape the same characters, because jsondiff ignores differences in escaping.
func checkOracles(t *testing.T, before, after, patch []byte) (expected []byte) {
	t.Helper()
	expected, err := compareJSON(before, after, jsondiff.LCS())
	if err != nil {
		t.Fatal(err)
	}
	if (string(patch) == "[]") != (string(expected) == "[]") {
		t.Fatalf("got %s, jsondiff returns %s\nbefore %s\nafter  %s", patch, expected, before, after)
	}
	// Skip documents that evanphx/json-patch does not handle: it loses members with an empty name, and cannot patch a
	// scalar.
	if bytes.Contains(before, []byte(`""`)) || bytes.Contains(after, []byte(`""`)) ||
		bytes.TrimSpace(before)[0] != '{' || bytes.TrimSpace(after)[0] != '{' {
		return expected
	}
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Apply(before)
	if err != nil {
		t.Fatalf("evanphx: %v\nbefore %s\nafter  %s\npatch  %s", err, before, after, patch)
	}
	if !reflect.DeepEqual(decode(t, got), decode(t, after)) {
		t.Fatalf("evanphx: got %s, want %s\nbefore %s\npatch  %s", got, after, before, patch)
	}
	return expected
}

// A patch between two random JSON documents changes the first into the second. On average, patches are not longer than
// patches of the library jsondiff.
// Invariant: I3.
func TestPatchesTransformRandomDocuments(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	ourBytes, jsondiffBytes, compared := 0, 0, 0
	for i := range 20_000 {
		a := g.value(3)
		b := g.value(3)
		if i%4 > 0 {
			b = a
			for range g.IntN(4) {
				b = g.mutate(b)
			}
		}
		loose := i%8 > 5
		before, after := g.encode(a, loose && i%8 == 7), g.encode(b, loose)
		patch := check(t, before, after)
		if i%4 != 2 {
			continue
		}
		if theirs := checkOracles(t, before, after, patch); !loose {
			ourBytes += len(patch)
			jsondiffBytes += len(theirs)
			compared++
		}
	}
	if ourBytes > jsondiffBytes {
		t.Errorf("mean size: got %d bytes, jsondiff with LCS %d", ourBytes/compared, jsondiffBytes/compared)
	}
	t.Logf("mean size over %d pairs: %d bytes, jsondiff with LCS %d", compared, ourBytes/compared, jsondiffBytes/compared)
}

// For random changes of Kubernetes objects, a patch changes the old object into the new one. On average, it is not
// longer than that of jsondiff.
// Invariant: I3.
func TestRandomChangesOfKubernetesObjects(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	ourBytes, jsondiffBytes, compared := 0, 0, 0
	for _, object := range []struct {
		text   string
		rounds int
	}{{fixture(t, "pod-running.json"), 300}, {endpointSlice(6), 1_500}, {service, 3_000}} {
		a := decode(t, []byte(object.text))
		for i := range object.rounds {
			b := a
			for range 1 + g.IntN(4) {
				b = g.mutate(b)
			}
			before, after := g.encode(a, false), g.encode(b, false)
			patch := check(t, before, after)
			if i%8 == 0 {
				ourBytes += len(patch)
				jsondiffBytes += len(checkOracles(t, before, after, patch))
				compared++
			}
			if i%20 > 0 { // Continue with b, except in every 20th round: mutations would delete most of the object.
				a = b
			} else {
				a = decode(t, []byte(object.text))
			}
		}
	}
	if ourBytes > jsondiffBytes {
		t.Errorf("mean size: got %d bytes, jsondiff with LCS %d", ourBytes/compared, jsondiffBytes/compared)
	}
	t.Logf("mean size over %d pairs: %d bytes, jsondiff with LCS %d", compared, ourBytes/compared, jsondiffBytes/compared)
}

const service = `{"kind":"Service","apiVersion":"v1",` +
	`"metadata":{"name":"web","labels":{"app.kubernetes.io/name":"web","tier~x":"1"}},
"spec":{"ports":[{"name":"http","protocol":"TCP","port":80,"targetPort":8080},` +
	`{"name":"dns","protocol":"UDP","port":53},{"name":"dns-tcp","protocol":"TCP","port":53}],
"clusterIPs":["10.96.0.7","fd00::7"],"sessionAffinity":"None"},` +
	`"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}]},
"conditions":[{"type":"A","status":"True","lastTransitionTime":null},` +
	`{"type":"B","status":"False","lastTransitionTime":null}]}}`
