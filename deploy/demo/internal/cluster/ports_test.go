package cluster

import (
	"net"
	"path/filepath"
	"testing"
)

func TestChosenPortsAreFreeAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ports.json")
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // An error would not affect the test.
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("address of a TCP listener has type %T", listener.Addr())
	}
	port := addr.Port

	first, err := choosePorts(path, port)
	if err != nil {
		t.Fatal(err)
	}
	if first.APIServer == port {
		t.Errorf("port of the API server is %d, which is in use", port)
	}
	used := map[int]bool{}
	for _, p := range first.all() {
		if *p == 0 || used[*p] {
			t.Errorf("port %d is 0 or used twice: %+v", *p, first)
		}
		used[*p] = true
	}

	second, err := choosePorts(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if second.APIServer != first.APIServer {
		t.Errorf("port of the API server changed from %d to %d", first.APIServer, second.APIServer)
	}
}

func TestLockIsExclusiveUntilReleased(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	first, err := lock(path, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(path, dir); err == nil {
		t.Error("second lock of the same directory: got no error")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := lock(path, dir)
	if err != nil {
		t.Fatalf("lock after the first was released: got error %v", err)
	}
	_ = second.Close()
}
