package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

type commands struct {
	Path string
	Args map[string][]string
}

func (c *Cluster) commands() (*commands, error) {
	text, err := os.ReadFile(filepath.Join(c.Dir, "commands.json"))
	if err != nil {
		return nil, fmt.Errorf("read the API server's command: %w", err)
	}
	decoded := &commands{}
	if err := json.Unmarshal(text, decoded); err != nil {
		return nil, fmt.Errorf("decode the API server's command: %w", err)
	}
	return decoded, nil
}

// An APIServer is an additional API server that a test can restart. It is not safe for concurrent use.
type APIServer struct {
	Addr string

	cluster *Cluster
	log     string
	flags   []string
	client  *http.Client
	process *os.Process
	ended   chan struct{}
}

// NewAPIServer returns an API server with the cluster's own flags and the given flags. It is not started yet.
func (c *Cluster) NewAPIServer(ctx context.Context, dir string, flags ...string) (*APIServer, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }() // Only its port number is used.
	config := rest.CopyConfig(c.Config)
	config.Timeout = time.Second
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return &APIServer{
		Addr: listener.Addr().String(), cluster: c, flags: flags, client: client,
		log: filepath.Join(dir, "kube-apiserver.log"),
	}, nil
}

// Start starts the API server, and waits until it is ready. The server runs until Kill or the end of this process.
func (a *APIServer) Start(ctx context.Context) error {
	cmds, err := a.cluster.commands()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(a.Addr)
	if err != nil {
		return fmt.Errorf("parse the address: %w", err)
	}
	log, err := os.Create(a.log)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer func() { _ = log.Close() }() // The child process has its own descriptor.
	cmd := exec.Command(cmds.Path)     //nolint:gosec,noctx // This is the demo's own program, and Kill ends it.
	cmd.Args = slices.Concat(
		[]string{"kube-apiserver"}, cmds.Args["kube-apiserver"], []string{"--secure-port=" + port}, a.flags,
	)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	a.ended = make(chan struct{})
	started := make(chan error, 1)
	go func() {
		// Pdeathsig kills the child process when its parent thread ends. So keep the thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(a.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // Wait returns an error because Kill ends the process.
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start an API server: %w", err)
	}
	a.process = cmd.Process
	return a.ready(ctx)
}

func (a *APIServer) ready(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+a.Addr+"/readyz", http.NoBody)
		if err != nil {
			return fmt.Errorf("request the API server's readiness: %w", err)
		}
		if response, err := a.client.Do(request); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-a.ended:
			return fmt.Errorf("the API server exited; see %s", a.log)
		case <-ctx.Done():
			return fmt.Errorf("the API server is not ready: %w", ctx.Err())
		}
	}
}

// Kill kills the API server, and waits until its process has ended.
func (a *APIServer) Kill() {
	if a.process == nil {
		return
	}
	_ = a.process.Kill()
	<-a.ended
	a.process = nil
}
