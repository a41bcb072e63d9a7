package attack

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// secretCopy is a Secret as kubectl stores it in an annotation of an applied object.
const secretCopy = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"it"},` +
	`"data":{"password":"Y2FuYXJ5LWluLWEtY29weQ=="},"stringData":{"password":"canary-in-a-copy"}}`

// bzip2Copy and xzCopy are constants because Go's standard library cannot write these formats.
const (
	bzip2Copy = "QlpoOTFBWSZTWZiX6QkAAEgfgBAGMjIHFCngLq/fqiAAZDQpk1P1GoDTHqhtJoPU8oQkfqIaA0AAAHqWe8ybViiKGpmEI0hw" +
		"pWINVdTQZc9wAVtdHypn1XaQ34Oghdjw2ekx3EnQjb+DPnX59tdCN031uDRSuSWIVM5AgsxU4NUTGkIvVm+ESBATm9+Gwnlf" +
		"i7kinChITEv0hIA="
	xzCopy = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4ACXAHxdAD2IiCdDzzK4m5IC9z3QI9/ePT7U4Lce1TuEJu96gAFyPQoL0MsutkpN" +
		"FFPf7VqQCa3GmlNtrDYpkyxv1CzoBU2cAutVK/jHm1WfhrUkGiPHEhNioyuGsTD0Sq9AkSmvaEs32og5c0wJa51j3GG1kgsu" +
		"NkD8VbiZbz/1+AAAogybZYF95zoAAZgBmAEAAD/KNnaxxGf7AgAAAAAEWVo="
)

func copies(p *probe) map[string]string {
	p.Helper()
	var deflated bytes.Buffer
	writer := zlib.NewWriter(&deflated)
	_, err := writer.Write([]byte(secretCopy))
	p.check(err)
	p.check(writer.Close())
	const dataOnly = `{"data":{"password":"Y2FuYXJ5LWluLWEtY29weQ=="}}`
	const yaml = "apiVersion: v1\nkind: Secret\ndata:\n  password: Y2FuYXJ5LWluLWEtY29weQ==\n"
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	return map[string]string{
		"json":                    secretCopy,
		"json-base64":             encode(secretCopy),
		"json-quoted":             string(must(json.Marshal(dataOnly))(p)),
		"json-url":                url.QueryEscape(dataOnly),
		"yaml":                    yaml,
		"yaml-base64":             encode(yaml),
		"yaml-without-apiversion": strings.TrimPrefix(yaml, "apiVersion: v1\n"),
		"yaml-data-only":          "data:\n  password: Y2FuYXJ5LWluLWEtY29weQ==\n",
		"zlib":                    encode(deflated.String()),
		"bzip2":                   bzip2Copy,
		"xz":                      xzCopy,
	}
}

// fragment returns a part of the text. A response that contains this part contains a copy of the text. The part has no
// characters that JSON escapes.
func fragment(text string) string {
	if strings.Contains(text, "Y2FuYXJ5") {
		return "Y2FuYXJ5LWluLWEtY29weQ"
	}
	return text[len(text)/2 : len(text)/2+24]
}

// Even users who are allowed to read a Secret get no copy of it in its annotations.
func TestSecretsAnnotationsHaveNoCopies(t *testing.T) {
	t.Parallel()
	runOnEach(t, func(p *probe) {
		s := p.open()
		encodings := copies(p)
		annotations := map[string]string{}
		for form, text := range encodings {
			annotations["example.com/"+form] = text
		}
		object := must(json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": map[string]string{"password": "Y2FuYXJ5LWluLWEtY29weQ=="},
			"metadata": map[string]any{"name": "copied", "annotations": annotations},
		}))(p)
		s.check(s.create(p.Context(), "core/v1/secrets", s.namespace, string(object)))
		var leaks []string
		ref := "core/v1/secrets/" + s.namespace + "/copied"
		for _, path := range []string{
			"/api/v1/object/" + ref, "/api/v1/object/" + ref + "?format=yaml", "/o/" + ref,
			"/api/v1/snapshot/core/v1/secrets?view=objects&ns=" + s.namespace,
		} {
			a := s.do(get(path, bearer(s.creator)))
			if a.status != 200 {
				s.Errorf("GET %s: got status %d %.200s", path, a.status, a.body)
			}
			for form, text := range encodings {
				if strings.Contains(annotationIn(a.body, form), fragment(text)) {
					leaks = append(leaks, form)
				}
			}
		}
		s.require(len(leaks) == 0, "copies of a Secret in its annotations", "0 forms",
			"%d of %d forms: %s", len(distinct(leaks)), len(encodings), strings.Join(distinct(leaks), " "))
	})
}

func annotationIn(body, form string) string {
	for rest := body; ; {
		_, after, found := strings.Cut(rest, "example.com/"+form)
		if !found {
			return ""
		}
		if rest = after; after != "" && !strings.ContainsAny(after[:1], "-abcdefghijklmnopqrstuvwxyz") {
			value, _, _ := strings.Cut(after, "example.com/")
			return value
		}
	}
}

func distinct(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }
