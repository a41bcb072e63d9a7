//go:build integration

package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The image contains only one static program and its licenses, and runs as an unprivileged user. Its builds are
// reproducible.
//
// Invariant: I46.
func TestImageIsOneProgram(t *testing.T) {
	digest, folder := buildImage(t)
	if second, _ := buildImage(t); second != digest {
		t.Errorf("two builds of the same source have the digests %s and %s", digest, second)
	}
	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	decode(t, blob(t, folder, digest), &manifest)
	var image struct {
		OS     string
		Config struct {
			User            string
			Entrypoint, Cmd []string
			Env             []string
		}
	}
	decode(t, blob(t, folder, manifest.Config.Digest), &image)
	if image.OS != "linux" || image.Config.User != "65532:65532" ||
		!slices.Equal(image.Config.Entrypoint, []string{"/dashboard"}) || len(image.Config.Cmd) > 0 {
		t.Errorf("configuration of the image is %+v", image)
	}
	files := map[string][]byte{}
	for _, layer := range manifest.Layers {
		unpacked, err := gzip.NewReader(bytes.NewReader(blob(t, folder, layer.Digest)))
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewReader(unpacked)
		for {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if header.Typeflag == tar.TypeDir {
				continue
			}
			if files[header.Name], err = io.ReadAll(archive); err != nil {
				t.Fatal(err)
			}
			if header.Mode&0o222 != 0 {
				t.Errorf("%s is writable: mode %o", header.Name, header.Mode)
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(files)), []string{
		"dashboard", "licenses/LICENSE", "licenses/THIRD_PARTY_NOTICES",
	}; !slices.Equal(got, want) {
		t.Fatalf("files of the image are %q, want %q", got, want)
	}
	for _, name := range []string{"LICENSE", "THIRD_PARTY_NOTICES"} {
		if want, err := os.ReadFile(filepath.Join(root, name)); err != nil ||
			!bytes.Equal(files["licenses/"+name], want) {
			t.Errorf("licenses/%s differs from the file of the repository (%v)", name, err)
		}
		// ko copies the files of kodata into the image, and follows symbolic links.
		if copied, err := os.ReadFile(filepath.Join(root, "cmd/dashboard/kodata", name)); err != nil ||
			!bytes.Equal(copied, files["licenses/"+name]) {
			t.Errorf("kodata/%s differs from the file of the repository (%v)", name, err)
		}
	}
	program := files["dashboard"]
	binary, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the program links the libraries %v, error %v; want none", libraries, err)
	}
	t.Logf("digest %s, program size %d MB", digest, len(program)>>20)
}

func buildImage(t *testing.T) (digest, folder string) {
	t.Helper()
	folder = t.TempDir()
	if out, err := exec.CommandContext( //nolint:gosec // This is the script under test.
		t.Context(), root+"/deploy/image/build.sh", folder, "0.1.0",
	).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Manifests []struct{ Digest string } }
	decode(t, text, &index)
	if len(index.Manifests) != 1 {
		t.Fatalf("the layout has %d images, want 1", len(index.Manifests))
	}
	return index.Manifests[0].Digest, folder
}

func blob(t *testing.T, folder, digest string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "blobs", strings.ReplaceAll(digest, ":", "/")))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, text []byte, target any) {
	t.Helper()
	if err := json.Unmarshal(text, target); err != nil {
		t.Fatal(err)
	}
}
