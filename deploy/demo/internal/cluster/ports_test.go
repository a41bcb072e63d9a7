package cluster

import (
	"net"
	"path/filepath"
	"testing"
)

func TestChoosePorts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ports.json")
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // the error does not matter here
	addr, ok := taken.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("a TCP listener on a %T", taken.Addr())
	}
	port := addr.Port

	first, err := choosePorts(path, port)
	if err != nil {
		t.Fatal(err)
	}
	if first.APIServer == port {
		t.Errorf("the API server gets port %d, which is taken", port)
	}
	seen := map[int]bool{}
	for _, p := range first.all() {
		if *p == 0 || seen[*p] {
			t.Errorf("port %d is none, or given twice: %+v", *p, first)
		}
		seen[*p] = true
	}

	again, err := choosePorts(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if again.APIServer != first.APIServer {
		t.Errorf("the API server moves from %d to %d", first.APIServer, again.APIServer)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	first, err := lock(path, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(path, dir); err == nil {
		t.Error("two of them in one directory")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := lock(path, dir)
	if err != nil {
		t.Fatalf("after the first has gone: %v", err)
	}
	_ = second.Close()
}
