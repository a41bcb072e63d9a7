package attack

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/glasshouse-project/glasshouse/test/faults/program"
)

// memoryLimit is the value of --memory-limit, and the limit of the program's cgroup.
const memoryLimit = 512 << 20

type site struct {
	*probe
	*content

	program *program.Program
	address string
	tls     *tls.Config // Nil without TLS.
	group   *cgroup     // Nil if this process cannot create a cgroup.
	peak    atomic.Int64

	document document
	routes   []route

	stop func()
}

func (p *probe) open(args ...string) *site {
	p.Helper()
	c := contentOf(p)
	s := &site{probe: p, content: c}
	path, dir := p.path, p.TempDir()
	group, err := newCgroup(fmt.Sprintf("glasshouse-attack-%d", time.Now().UnixNano()), memoryLimit)
	if err == nil {
		s.group = group
		path = must(group.wrap(p.path, dir))(p)
	} else {
		p.Logf("no cgroup limits the memory, so only the RSS is sampled: %v", err)
	}
	args = append([]string{
		"--kubeconfig", c.Kubeconfig, "--auth", "token", "--memory-limit", "512Mi", "--data-dir",
		filepath.Join(dir, "data"),
	}, args...)
	s.program = must(program.Start(p.Context(), program.Options{Path: path, Args: args}))(p)
	_, s.address, _ = strings.Cut(s.program.URL, "://")
	if s.isTLS() {
		s.tls = s.clientTLS()
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.Context()))
	var sampling sync.WaitGroup
	sampling.Go(func() { s.sample(ctx) })
	s.stop = sync.OnceFunc(func() {
		cancel()
		sampling.Wait()
		s.stopProgram()
	})
	p.Cleanup(s.stop)
	s.waitReady()
	return s
}

func (s *site) stopProgram() {
	killed := s.hasEnded()
	err := s.program.Stop(20 * time.Second)
	if (err != nil || killed) && !s.isBaseline {
		memory, _ := s.memory()
		s.Errorf("the program ended with %v before it was stopped (killed: %t): %s", err, killed, memory)
	}
	if s.Failed() {
		log := s.program.Log()
		s.Logf("end of the log:\n%s", log[max(0, len(log)-8000):])
	}
	if s.group != nil {
		_ = eventually(5*time.Second, s.group.remove) // If this fails, only an empty cgroup remains.
	}
}

func (s *site) hasEnded() bool {
	select {
	case <-s.program.Ended():
		return true
	default:
		return false
	}
}

func (s *site) waitReady() {
	s.Helper()
	transport := s.transport("127.0.0.1")
	transport.DisableKeepAlives = true // An idle connection would change the numbers of goroutines and descriptors.
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	s.check(eventually(30*time.Second, func() error {
		r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.program.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		a, err := client.Do(r)
		if err != nil {
			return err
		}
		defer func() { _ = a.Body.Close() }()
		if a.StatusCode != http.StatusOK {
			return fmt.Errorf("GET /readyz: got status %d, want 200", a.StatusCode)
		}
		return nil
	}))
}

func (s *site) isTLS() bool { return strings.HasPrefix(s.program.URL, "https:") }

func (s *site) sample(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	line := regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
	for ctx.Err() == nil {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.program.PID()))
		if match := line.FindSubmatch(text); err == nil && match != nil {
			var kilobytes int64
			_, _ = fmt.Sscan(string(match[1]), &kilobytes) // The pattern matches only digits.
			s.peak.Store(max(s.peak.Load(), kilobytes<<10))
		}
		<-tick.C
	}
}

const memoryBar = "RSS at most 90 % of 512 MB, cgroup at most 512 MB, never killed"

// memory checks that RSS is at most 90 % of memoryLimit. The cgroup can reach 100 % because of page cache.
func (s *site) memory() (text string, isWithin bool) {
	peak := s.peak.Load()
	text = fmt.Sprintf("RSS %d MB", peak>>20)
	isWithin = peak > 0 && peak <= memoryLimit*9/10 && !s.hasEnded()
	if s.hasEnded() {
		text += ", killed"
	}
	if s.group == nil {
		return text + " (no cgroup)", isWithin
	}
	used, err := s.group.peak()
	kills, killsErr := s.group.kills()
	if err = errors.Join(err, killsErr); err != nil {
		return fmt.Sprint(text, ", ", err), false
	}
	text += fmt.Sprintf(", cgroup %d MB, %d killed by the kernel", used>>20, kills)
	return text, isWithin && used <= memoryLimit && kills == 0
}

// requireMemory checks two peaks: the resident memory since the test last set s.peak to 0, and the cgroup's memory
// since the program started. The parameter extra is appended to the reported result.
func (s *site) requireMemory(attack, extra string) {
	s.Helper()
	text, isWithin := s.memory()
	s.require(isWithin, attack+": memory", memoryBar, "%s%s", text, extra)
}

func (s *site) do(r request) *response {
	s.Helper()
	return must(exchange(s.Context(), "127.0.0.1", s.address, r))(s.probe)
}

func bearer(token string) string { return "Authorization: Bearer " + token }

type part struct {
	Resource   string   `json:"resource"`
	Namespaces []string `json:"namespaces,omitempty"`
	Labels     string   `json:"labels,omitempty"`
	Name       string   `json:"name,omitempty"`
}

// share creates and opens a share link to a page (to). It returns the link's token and a viewer's Cookie header.
func (s *site) share(to string, parts ...part) (token, guest string) {
	s.Helper()
	body := must(json.Marshal(map[string]any{"parts": parts, "to": to, "seconds": 3600}))(s.probe)
	a := s.do(post("/api/v1/shares", string(body), bearer(s.creator)))
	var created struct{ URL string }
	if err := json.Unmarshal([]byte(a.body), &created); err != nil || a.status != http.StatusCreated {
		s.Fatalf("create a share: got %d %s", a.status, a.body)
	}
	_, token, _ = strings.Cut(created.URL, "#")
	opened := s.do(post("/share", `{"token":"`+token+`"}`))
	cookies := (&http.Response{Header: opened.header}).Cookies()
	if opened.status != http.StatusOK || len(cookies) != 1 {
		s.Fatalf("open the link: got %d %s", opened.status, opened.body)
	}
	return token, "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
}

func (s *site) shareContent() (guest string) {
	s.Helper()
	_, guest = s.share("/r/"+configMaps+"?ns="+s.namespace,
		part{Resource: configMaps, Namespaces: []string{s.namespace}},
		part{Resource: "core/v1/pods", Namespaces: []string{"shop"}},
		part{Resource: "core/v1/pods/log", Namespaces: []string{"shop"}},
	)
	return guest
}

func post(path, body string, headers ...string) request {
	headers = append(
		[]string{"Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}, headers...,
	)
	return request{method: http.MethodPost, path: path, headers: headers, body: body}
}

type counts struct{ goroutines, descriptors, rss int }

func (s *site) counts() (c counts, err error) {
	var descriptorErr, rssErr error
	c.goroutines, err = s.program.Goroutines(s.Context())
	c.descriptors, descriptorErr = s.program.Sockets(s.Context())
	c.rss, rssErr = s.program.RSS(s.Context())
	return c, errors.Join(err, descriptorErr, rssErr)
}

// requireReturn waits until the program has about as few goroutines and descriptors as before the attack. It ignores
// the resident memory, because the Go runtime frees memory only over minutes.
func (s *site) requireReturn(finding string, before counts, timeout time.Duration) {
	s.Helper()
	bar := fmt.Sprintf("back within %v, up to 20 more goroutines and 10 more descriptors", timeout)
	if s.hasEnded() {
		s.require(false, finding, bar, "killed")
		return
	}
	var after counts
	err := eventually(timeout, func() (err error) {
		after, err = s.counts()
		if err == nil && (after.goroutines > before.goroutines+20 || after.descriptors > before.descriptors+10) {
			err = errors.New("more goroutines or descriptors than before")
		}
		return err
	})
	s.require(err == nil, finding, bar, "%d to %d goroutines, %d to %d descriptors, RSS %d to %d MB",
		before.goroutines, after.goroutines, before.descriptors, after.descriptors, before.rss>>20, after.rss>>20)
}

func eventually(timeout time.Duration, check func() error) error {
	deadline := time.Now().Add(timeout)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-tick.C
	}
}

func wait(d time.Duration) { <-time.After(d) }
