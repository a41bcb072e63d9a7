//go:build integration

package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// canaryRules returns redaction rules for those canaries (secret test values) that only a rule masks.
func canaryRules() []string {
	return []string{
		"env", "core/v1/configmaps:data.*", "core/v1/configmaps:binaryData.*",
		"test.example.com/v1/widgets:spec.values.password",
		`*:metadata.annotations["example.com/token"]`, `*:..annotations["example.com/copy"]`,
	}
}

// ruleMaskedPlaces returns the places (kinds of fields) whose secret test values are masked only by a redaction rule.
func ruleMaskedPlaces() []string {
	return []string{"annotation", "config", "copy", "cron", "env", "init", "revision", "widget"}
}

// canaries generates secret test values: a unique prefix, then the place (the kind of field), such as "env".
type canaries struct {
	prefix string
	// If true, pod templates contain encoded copies of Secrets. These are masked only for guests (viewers of a share
	// link).
	hasEncodedCopies bool
}

func newCanaries() canaries {
	rare := make([]byte, 9)
	for n := range rare {
		rare[n] = byte('a' + rand.IntN(26)) //nolint:gosec // The prefix must be rare, but not secret.
	}
	return canaries{prefix: "c4n4ry" + string(rare)}
}

func (c canaries) value(place string, n int) string {
	return fmt.Sprintf("%s-%s-%d-end", c.prefix, place, n)
}

// encodedCopies returns annotations with copies of a Secret in several encodings. Archives are uncompressed, so that
// the test can find the value of the Secret in them.
func (c canaries) encodedCopies(t *testing.T, place string, n int) map[string]string {
	t.Helper()
	value := c.value(place, n)
	object := fmt.Sprintf(`{"kind":"Secret","data":{"a":%q}}`, value)
	yaml := "kind: Secret\ndata:\n  a: " + value + "\n"
	encode := base64.StdEncoding.EncodeToString
	return map[string]string{
		"example.com/json": object, "example.com/quoted": strconv.Quote(object),
		"example.com/percents": url.QueryEscape(object),
		"example.com/yaml":     yaml, "example.com/json-coded": encode([]byte(object)),
		"example.com/yaml-coded":  encode([]byte(yaml)),
		"example.com/twice-coded": encode([]byte(encode([]byte(object)))),
		"example.com/hex":         hex.EncodeToString([]byte(object)),
		"example.com/gzip": uncompressedArchive(t, object, func(w io.Writer) (io.WriteCloser, error) {
			return gzip.NewWriterLevel(w, gzip.NoCompression)
		}),
		"example.com/zlib": uncompressedArchive(t, object, func(w io.Writer) (io.WriteCloser, error) {
			return zlib.NewWriterLevel(w, zlib.NoCompression)
		}),
		"example.com/bzip": encode([]byte("BZh91AY&SY" + object)),
		"example.com/xz":   encode([]byte("\xfd7zXZ\x00\x00\x04" + object)),
		"example.com/zstd": encode([]byte("\x28\xb5\x2f\xfd" + object)),
	}
}

// uncompressedArchive returns an archive of the text, in base64. newWriter must not compress, so that the text can be
// found in the decoded archive.
func uncompressedArchive(t *testing.T, text string, newWriter func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func (c canaries) innerAnnotations(t *testing.T, n int) map[string]string {
	t.Helper()
	annotations := map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": fmt.Sprintf(`{"data":{"a":%q}}`, c.value("applied", n)),
		"example.com/copy": fmt.Sprintf(`{"data":{"a":%q}}`, c.value("copy", n)),
	}
	if c.hasEncodedCopies {
		maps.Copy(annotations, c.encodedCopies(t, "copy", n))
	}
	return annotations
}

func (c canaries) encodedForms() [][]byte {
	forms := [][]byte{[]byte(c.prefix), []byte(hex.EncodeToString([]byte(c.prefix))), []byte(strings.ToUpper(c.prefix))}
	// Base64 encodes groups of 3 bytes, so the encoded prefix depends on its position in a group. For each position, use
	// only the groups that contain nothing but bytes of the prefix.
	for padding := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", padding) + c.prefix))
		end := (padding + len(c.prefix)) / 3 * 4
		aligned := text[(padding+2)/3*4 : end]
		forms = append(forms, []byte(aligned))
		twice := base64.StdEncoding.EncodeToString([]byte(aligned))
		forms = append(forms, []byte(twice[:len(twice)/4*4-4]))
	}
	return forms
}

var placeAtStart = regexp.MustCompile(`^-([a-z]+)-\d+-`)

// places returns the places (kinds of fields) whose secret test values are in a text; "?" for an encoded value.
func (c canaries) places(text []byte) (found []string) {
	for n, form := range c.encodedForms() {
		for rest := text; ; {
			at := bytes.Index(rest, form)
			if at < 0 {
				break
			}
			place := "?"
			after := rest[at+len(form) : min(len(rest), at+len(form)+40)]
			if match := placeAtStart.FindSubmatch(after); n == 0 && match != nil {
				place = string(match[1])
			}
			found = append(found, place)
			rest = rest[at+len(form):]
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func plantedResources() []string {
	return []string{
		"core/v1/secrets", "core/v1/configmaps", "apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets",
		"apps/v1/controllerrevisions",
		"apps/v1/daemonsets", "batch/v1/jobs", "batch/v1/cronjobs", "core/v1/podtemplates", "core/v1/pods",
		"core/v1/services",
		"test.example.com/v1/widgets", "core/v1/events",
	}
}

func (c canaries) plant(t *testing.T, o *apiClient, ns string, n int) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "it", Namespace: ns, Annotations: map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": fmt.Sprintf(`{"data":{"a":%q}}`, c.value("applied", n)),
		"example.com/token": c.value("annotation", n), "example.com/round": strconv.Itoa(n),
	}}
	metaNamed := func(name string) metav1.ObjectMeta {
		other := *meta.DeepCopy()
		other.Name = name
		return other
	}
	helm := metaNamed("sh.helm.release.v1.it.v1")
	helm.Labels = map[string]string{"owner": "helm", "name": "it", "version": "1"}
	unnamed := metaNamed("bare") // The labels make this object a Helm release, although its name does not.
	unnamed.Labels = helm.Labels
	labels := map[string]string{"app": "it"}
	template := func(place string) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: c.innerAnnotations(t, n)},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyAlways,
				InitContainers: []corev1.Container{
					{Name: "i", Image: "example.com/i", Env: []corev1.EnvVar{{Name: "A", Value: c.value("init", n)}}},
				},
				Containers: []corev1.Container{{
					Name: "c", Image: "example.com/c", Env: []corev1.EnvVar{
						{Name: "A", Value: c.value(place, n)},
						{
							Name: "B", ValueFrom: &corev1.EnvVarSource{
								SecretKeyRef: &corev1.SecretKeySelector{
									LocalObjectReference: corev1.LocalObjectReference{Name: "it"}, Key: "data",
								},
							},
						},
					},
					EnvFrom: []corev1.EnvFromSource{
						{
							SecretRef: &corev1.SecretEnvSource{
								LocalObjectReference: corev1.LocalObjectReference{Name: "it"},
							},
						},
					},
				}},
			},
		}
	}
	cron := template("cron")
	cron.Spec.RestartPolicy = corev1.RestartPolicyNever
	daemon := template("env")
	daemon.Spec.NodeSelector = map[string]string{"example.com/none": "none"} // No node matches, so no pod starts.
	job := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: c.innerAnnotations(t, n)},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}},
		},
	}
	suspended := true // Only while a Job is suspended can its pod template be changed.
	secret := *meta.DeepCopy()
	maps.Copy(secret.Annotations, c.encodedCopies(t, "secret", n))
	secret.Annotations["helm.sh/resource-policy"] = c.encodedCopies(t, "secret", n)["example.com/zlib"]
	secret.Annotations["cert-manager.io/common-name"] = c.value("secret", n) + " and more"
	selector := &metav1.LabelSelector{MatchLabels: labels}
	objects := map[string][]any{
		"core/v1/secrets": {
			&corev1.Secret{
				ObjectMeta: secret, Data: map[string][]byte{"data": []byte(c.value("data", n))},
				StringData: map[string]string{"string": c.value("string", n)},
			},
			&corev1.Secret{
				ObjectMeta: helm, Type: "helm.sh/release.v1", Data: map[string][]byte{
					"release": []byte(base64.StdEncoding.EncodeToString([]byte(c.value("helm", n)))),
				},
			},
		},
		"core/v1/configmaps": {
			&corev1.ConfigMap{
				ObjectMeta: meta, Data: map[string]string{"a": c.value("config", n)},
				BinaryData: map[string][]byte{"b": []byte(c.value("binary", n))},
			},
			&corev1.ConfigMap{
				ObjectMeta: helm, Data: map[string]string{
					"release": base64.StdEncoding.EncodeToString([]byte(c.value("helm", n))),
				},
			},
			&corev1.ConfigMap{ObjectMeta: unnamed, Data: map[string]string{"release": c.value("helm", n)}},
		},
		"core/v1/services": {
			&corev1.Service{
				ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
			},
		},
		"apps/v1/deployments": {
			&appsv1.Deployment{
				ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template("env")},
			},
		},
		"apps/v1/statefulsets": {
			&appsv1.StatefulSet{
				ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
					ServiceName: "it", Selector: selector, Template: template("revision"),
				},
			},
		},
		"apps/v1/daemonsets": {
			&appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: daemon}},
		},
		"core/v1/podtemplates": {&corev1.PodTemplate{ObjectMeta: meta, Template: template("env")}},
		"batch/v1/jobs": {
			&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Suspend: &suspended, Template: job}},
		},
		"batch/v1/cronjobs": {&batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *",
			JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: c.innerAnnotations(t, n)}, Spec: batchv1.JobSpec{Template: cron},
			},
		}}},
	}
	for ref, resourceObjects := range objects {
		for _, object := range resourceObjects {
			text, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			if err != nil {
				t.Fatal(err)
			}
			c.put(t, o, ref, &unstructured.Unstructured{Object: text})
		}
	}
	custom := newWidget("it")
	custom.SetNamespace(ns)
	custom.SetAnnotations(meta.Annotations)
	annotations := make(map[string]any)
	for key, text := range c.innerAnnotations(t, n) {
		annotations[key] = text
	}
	embedded := map[string]any{
		"name": "inner", "annotations": annotations, "managedFields": []any{map[string]any{"manager": c.value("manager", n)}},
	}
	custom.Object["spec"] = map[string]any{
		"values":   map[string]any{"password": c.value("widget", n), "user": "me"},
		"template": map[string]any{"metadata": embedded}, "manifests": []any{map[string]any{"metadata": embedded}},
	}
	c.put(t, o, "test.example.com/v1/widgets", custom)
}

func (c canaries) put(t *testing.T, o *apiClient, ref string, u *unstructured.Unstructured) {
	t.Helper()
	part := strings.Split(ref, "/")
	gv := schema.GroupVersion{Group: strings.TrimPrefix(part[0], "core"), Version: part[1]}
	kinds := map[string]string{
		"secrets": "Secret", "configmaps": "ConfigMap", "services": "Service", "deployments": "Deployment",
		"statefulsets": "StatefulSet", "cronjobs": "CronJob", "widgets": "Widget", "daemonsets": "DaemonSet",
		"jobs": "Job", "podtemplates": "PodTemplate",
	}
	u.SetAPIVersion(gv.String())
	u.SetKind(kinds[part[2]])
	client := o.dynamic.Resource(gv.WithResource(part[2])).Namespace(u.GetNamespace())
	eventually(t, "an object of "+ref, func() error {
		if _, err := client.Get(t.Context(), u.GetName(), metav1.GetOptions{}); err != nil {
			_, err = client.Create(t.Context(), u, metav1.CreateOptions{})
			return err
		}
		patch, err := u.MarshalJSON()
		// Patch an existing object. A merge patch keeps the fields that controllers have set, such as a Job's selector.
		if err == nil {
			_, err = client.Patch(t.Context(), u.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		}
		return err
	})
}

// TestRunAsChildProcess is not a test. It runs the program when another test starts this binary as a child process.
func TestRunAsChildProcess(t *testing.T) {
	args := os.Getenv("CANARY_ARGS")
	if args == "" {
		t.Skip("only other tests start this test, as a child process")
	}
	var programArgs []string
	if err := json.Unmarshal([]byte(args), &programArgs); err != nil {
		t.Fatal(err)
	}
	// Exit when stdin is closed, so that this process never outlives its parent, whose end closes stdin.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	os.Exit(run(t.Context(), programArgs, os.Stdout, os.Stderr))
}

func startProcess(t *testing.T, address string, rules []string) (d *dashboard, metrics string, process int) {
	t.Helper()
	args := []string{"--server", "https://" + address}
	for _, rule := range rules {
		args = append(args, "--redact", rule)
	}
	return startProcessWith(t, args...)
}

// startProcessWith starts the program as a child process, so that tests can run in parallel. It returns the URL of the
// metrics server and the process ID.
func startProcessWith(t *testing.T, args ...string) (d *dashboard, metrics string, process int) {
	t.Helper()
	d = &dashboard{t: t, out: &safeBuffer{}}
	args = append([]string{
		"--kubeconfig", adminConfig(t), "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0",
		"--log-level", "debug",
	}, args...)
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext( //nolint:gosec // The command is this test binary itself.
		t.Context(), os.Args[0], "-test.run=^TestRunAsChildProcess$",
	)
	// With clobberfree, the garbage collector overwrites freed memory, so that the test finds no old values in it.
	command.Env = append(os.Environ(), "CANARY_ARGS="+string(text), "GODEBUG=clobberfree=1")
	command.Stdout, command.Stderr = d.out, d.out
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	d.stop = sync.OnceFunc(func() {
		_ = stdin.Close()
		_ = command.Wait()
		if strings.Contains(d.log(), "WARNING: DATA RACE") {
			t.Errorf("the program has a data race:\n%s", d.log())
		}
	})
	t.Cleanup(d.stop)
	eventually(t, "the program serves", func() error {
		match := regexp.MustCompile(`url=(http://\S+)/ .*metrics=(http://\S+)/metrics`).FindStringSubmatch(d.log())
		if match == nil {
			return fmt.Errorf("the program's log:\n%s", d.log())
		}
		d.url, metrics = match[1], match[2]
		return nil
	})
	eventually(t, "the API server is reachable", func() error {
		if text, code := d.request("/readyz"); code != http.StatusOK {
			return fmt.Errorf("GET /readyz: got %d %s, want 200", code, text)
		}
		return nil
	})
	return d, metrics, command.Process.Pid
}

type recorder struct {
	mu       sync.Mutex
	received map[string]*bytes.Buffer
}

func (r *recorder) record(source string, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.received[source] == nil {
		r.received[source] = &bytes.Buffer{}
	}
	r.received[source].Write(text)
}

func (r *recorder) subscribeAll(ctx context.Context, t *testing.T, d *dashboard, ns string) (ended func()) {
	t.Helper()
	var reading sync.WaitGroup
	headers := http.Header{}
	if d.cookie != "" {
		headers = http.Header{"Cookie": {d.cookie}, "Origin": {d.url}}
	}
	for _, view := range []string{"rows", "table", "window", "object", "changes", "one", "resources"} {
		tab := openTab(ctx, t, d.url, headers)
		for n, ref := range plantedResources() {
			message := fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"ns":[%q],"view":%q}`, n+1, ref, ns, view)
			switch view {
			case "window":
				message = strings.Replace(message, `"view"`, `"offset":0,"count":100,"view"`, 1)
			case "object":
				message = strings.Replace(message, `"view"`, `"name":"it","view"`, 1)
			case "one":
				message = fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":%q,"ns":[%q],"name":"it","view":"changes"}`,
					n+1, ref, ns)
			case "resources":
				message = fmt.Sprintf(`{"op":"subscribe","id":%d,"view":"resources"}`, n+1)
			}
			tab.Send(message)
		}
		reading.Go(func() {
			defer tab.Close()
			for {
				m, err := tab.Client.Read(ctx)
				if err != nil {
					return
				}
				r.record("socket, view "+view, m.Raw)
			}
		})
	}
	return reading.Wait
}

func (r *recorder) requestAll(t *testing.T, d *dashboard, ns string) {
	t.Helper()
	get := func(path string, header ...string) string {
		text, status := d.request(path, header...)
		r.record(fmt.Sprintf("%s %v: %d", strings.ReplaceAll(path, ns, "NS"), header, status), []byte(text))
		return text
	}
	names := map[string][]string{}
	for _, ref := range plantedResources() {
		for _, query := range []string{
			"", "&view=objects", "&format=csv", "&format=ndjson", "&format=yaml", "&view=objects&format=ndjson",
			"&view=objects&format=yaml", "&q=it", "&sort=-name", "&cols=wide",
		} {
			get("/api/v1/snapshot/" + ref + "?ns=" + ns + "&wait=10s" + query)
		}
		get("/r/" + ref + "?ns=" + ns)
		var rows struct{ Rows []struct{ Name string } }
		if err := json.Unmarshal([]byte(get("/api/v1/snapshot/"+ref+"?wait=10s&ns="+ns)), &rows); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
		for _, row := range rows.Rows {
			names[ref] = append(names[ref], row.Name)
		}
		if len(names[ref]) == 0 {
			t.Errorf("the namespace has no %s to check", ref)
		}
		for _, name := range names[ref] {
			object := ref + "/" + ns + "/" + name
			get("/api/v1/object/" + object)
			get("/api/v1/object/"+object, "Accept", "application/yaml")
			get("/o/" + object)
			get("/api/v1/related/" + object)
			get("/compare?a=" + object + "&b=" + ref + "/" + ns + "/" + names[ref][0])
		}
	}
	for _, pod := range names["core/v1/pods"] {
		get("/api/v1/logs/" + ns + "/" + pod + "?tail=100")
	}
	get("/api/v1/resources")
	get("/api/v1/status")
	get("/status")
	get("/api/openapi.json")
	get("/api/v1/search?q=it&limit=100")
	get("/api/v1/snapshot/core/v1/secrets?q=c4n4ry&wait=10s")
	for _, path := range []string{
		"core/v1/configmaps?fields=data.a", "test.example.com/v1/widgets?fields=spec.values.password",
		"core/v1/pods?fields=spec.nosuch",
	} {
		get("/api/v1/snapshot/" + path + "%3D" + "x")
	}
}

// leakedPlaces returns the kinds of fields whose secret test values were received. The map values are the paths and
// views that contained these values.
func (r *recorder) leakedPlaces(c canaries) map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string][]string)
	for source, text := range r.received {
		for _, place := range c.places(text.Bytes()) {
			all[place] = append(all[place], source)
		}
	}
	return all
}

func defineCanaryResource(t *testing.T, o *apiClient) {
	t.Helper()
	o.define(t,
		widgetsDefinition(`{"name":"v1","served":true,"storage":true,"schema":`+anySchema+
			`,"additionalPrinterColumns":[{"name":"Password","type":"string","description":"Of `+
			`it.","jsonPath":".spec.values.password"},{"name":"User","type":"string","jsonPath":".spec.values.user"}`+
			`,{"name":"Copy","type":"string","jsonPath":".spec.template.metadata.annotations.example\\.com/copy"}`+
			`,{"name":"Coded","type":"string","jsonPath":".spec.template.metadata.annotations.example\\.com/zlib"}`+
			`,{"name":"Applied","type":"string",`+
			`"jsonPath":".spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration"}]}`,
			""))
}

func plantInNewNamespace(t *testing.T, o *apiClient, c canaries) (ns string) {
	t.Helper()
	ns = o.namespace(t)
	c.plant(t, o, ns, 1)
	eventually(t, "the pods are created", func() error {
		list, err := o.core.Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err == nil && len(list.Items) < 2 {
			err = fmt.Errorf("got %d pods, want 2", len(list.Items))
		}
		return err
	})
	return ns
}

// In responses to viewers of a share link, environment variables, ConfigMaps, and annotations with object copies are
// masked, even without redaction rules.
// Invariant: I15.
func TestGuestsGetNoMaskedValues(t *testing.T) {
	o := newAPIClient(t, adminConfig(t))
	defineCanaryResource(t, o)
	c := newCanaries()
	c.hasEncodedCopies = true
	ns := plantInNewNamespace(t, o, c)
	d := startProgramProcess(t, adminConfig(t), "--redact", "test.example.com/v1/widgets:spec.values.password", "--redact",
		`*:metadata.annotations["example.com/token"]`)
	args := []string{"create", "--namespace", ns}
	for _, ref := range append(plantedResources(), "core/v1/pods/log") {
		args = append(args, "--resource", ref)
	}
	guest := *d
	guest.cookie = d.openLink(d.shareCommand(args...))
	ownRecorder := &recorder{received: make(map[string]*bytes.Buffer)}
	guestRecorder := &recorder{received: make(map[string]*bytes.Buffer)}
	guestRecorder.requestAll(t, &guest, ns) // Request everything now, before any watch, and again at the end.
	ctx, cancel := context.WithCancel(t.Context())
	ended := guestRecorder.subscribeAll(ctx, t, &guest, ns)
	for n := range 3 {
		c.plant(t, o, ns, n+2)
	}
	waitForLastChange(t, &guest, ns)
	guestRecorder.requestAll(t, &guest, ns)
	ownRecorder.requestAll(t, d, ns)
	cancel()
	ended()
	leaks := ownRecorder.leakedPlaces(c)
	for _, place := range []string{"?", "config", "copy", "cron", "env", "init", "revision"} {
		if len(leaks[place]) == 0 {
			t.Errorf("canary of %s: a user without masks did not receive it", place)
		}
	}
	for place, sources := range guestRecorder.leakedPlaces(c) {
		slices.Sort(sources)
		t.Errorf("canary of %s: a guest received it in %q", place, sources[:min(8, len(sources))])
	}
	if masks := bytes.Count(guestRecorder.received["socket, view object"].Bytes(), []byte("(masked")); masks < 10 {
		t.Errorf("a guest received only %d masked values, want at least 10", masks)
	}
}

// Neither output nor memory contains a masked value.
// Invariant: I15.
func TestNoMaskedValueLeavesTheProgram(t *testing.T) {
	o := newAPIClient(t, adminConfig(t))
	defineCanaryResource(t, o)
	// The run without rules proves that the search works: it must find the values in all outputs.
	for _, rules := range [][]string{canaryRules(), nil} {
		c := newCanaries()
		ns := plantInNewNamespace(t, o, c)
		address, upstream := forwardAddresses(t, adminConfig(t))
		stopForward := forward(t, address, upstream)
		d, metrics, process := startProcess(t, address, rules)
		e := &recorder{received: make(map[string]*bytes.Buffer)}
		e.requestAll(t, d, ns)
		ctx, cancel := context.WithCancel(t.Context())
		ended := e.subscribeAll(ctx, t, d, ns)
		for n := range 3 {
			c.plant(t, o, ns, n+2)
		}
		e.requestAll(t, d, ns)
		waitForLastChange(t, d, ns)
		if rules != nil {
			wantNoCanariesInMemory(t, c, func(try int) [][]byte {
				overwriteBuffers(t, o, d, ns, try)
				stopForward() // Close the HTTP/2 stream, which would keep a read buffer with old data.
				defer func() { stopForward = forward(t, address, upstream) }()
				return readProcessMemory(t, metrics, process)
			})
		}
		for _, path := range []string{
			"/metrics", "/debug/pprof/heap?debug=1", "/debug/pprof/allocs?debug=1", "/debug/pprof/goroutine?debug=2",
			"/debug/pprof/cmdline",
		} {
			e.record(path, fetchURL(t, metrics+path))
		}
		cancel()
		ended()
		e.record("log", []byte(d.log()))
		leaks := e.leakedPlaces(c)
		if rules == nil {
			for _, place := range ruleMaskedPlaces() {
				if len(leaks[place]) == 0 {
					t.Errorf("canary of %s: not received although no rules apply", place)
				}
				delete(leaks, place)
			}
			delete(leaks, "?") // "?" means an encoded value, such as binaryData in base64. Without rules, it is not masked.
		}
		if masks := bytes.Count(e.received["socket, view object"].Bytes(), []byte("(masked, change ")); masks < 10 {
			t.Errorf("rules %q: only %d changes of masked values were sent, want at least 10", rules, masks)
		}
		for place, source := range leaks {
			slices.Sort(source)
			t.Errorf("rules %q: canary of %s was received in %q", rules, place, source[:min(8, len(source))])
		}
		for source, text := range e.received {
			if bytes.Contains(text.Bytes(), []byte(`"fieldsV1"`)) {
				t.Errorf("source %s contains managedFields", source)
			}
		}
		d.stop()
		t.Logf("checked %d sources", len(e.received))
	}
}

func waitForLastChange(t *testing.T, d *dashboard, ns string) {
	t.Helper()
	eventually(t, "the last change has been received", func() error {
		if body := d.get("/api/v1/object/test.example.com/v1/widgets/" + ns + "/it"); !containsEach(body,
			`"example.com/round":"4"`) {
			return fmt.Errorf("GET object: got %s, want the last change", body)
		}
		return nil
	})
}

// overwriteBuffers makes the program read other data through the same connections, which overwrites the read buffers.
func overwriteBuffers(t *testing.T, o *apiClient, d *dashboard, ns string, try int) {
	t.Helper()
	const pod = `{"containers":[{"name":"c","image":"example.com/c"}]}`
	const template = `"selector":{"matchLabels":{"app":"washer"}},"template":{"metadata":{"labels":{"app":"washer"}},` +
		`"spec":` + pod + `}`
	restOfObject := map[string]string{
		"core/v1/secrets": `"kind":"Secret"`, "core/v1/configmaps": `"kind":"ConfigMap"`,
		"core/v1/pods":        `"kind":"Pod","spec":` + pod,
		"core/v1/services":    `"kind":"Service","spec":{"ports":[{"port":80}]}`,
		"core/v1/events":      `"kind":"Event","involvedObject":{"namespace":"` + ns + `"}`,
		"apps/v1/deployments": `"kind":"Deployment","spec":{"replicas":0,` + template + `}`,
		"apps/v1/replicasets": `"kind":"ReplicaSet","spec":{"replicas":0,` + template + `}`,
		"apps/v1/statefulsets": `"kind":"StatefulSet","spec":{"replicas":0,"serviceName":"washer",` + template +
			`}`,
		"apps/v1/controllerrevisions": `"kind":"ControllerRevision","revision":1,"data":{}`,
		"apps/v1/daemonsets": `"kind":"DaemonSet","spec":{"selector":{"matchLabels":{"app":"washer"}},` +
			`"template":{"metadata":{"labels":{"app":"washer"}},"spec":{"nodeSelector":{"example.com/none":"none"},` +
			pod[1:] + `}}`,
		"batch/v1/jobs": `"kind":"Job","spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never",` +
			pod[1:] + `}}`, "core/v1/podtemplates": `"kind":"PodTemplate","template":{"spec":` + pod + `}`,
		"batch/v1/cronjobs": `"kind":"CronJob","spec":{"schedule":"0 0 1 1 ` +
			`*","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never",` + pod[1:] + `}}}}`,
		"test.example.com/v1/widgets": `"kind":"Widget"`,
	}
	const fillers = 3
	fillerName := func(n int) string { return fmt.Sprintf("washer-%d-%d", try, n) }
	for n := range fillers {
		for _, ref := range plantedResources() {
			parts := strings.Split(ref, "/")
			gvr := schema.GroupVersionResource{
				Group: strings.TrimPrefix(parts[0], "core"), Version: parts[1], Resource: parts[2],
			}
			u := decode(t,
				fmt.Sprintf(`{"apiVersion":%q,"metadata":{"name":%q,"namespace":%q,"annotations":{"example.com/`+
					`wash":%q}},%s}`,
					gvr.GroupVersion().String(), fillerName(n), ns, strings.Repeat("wash ", 20_000), restOfObject[ref]))
			if _, err := o.dynamic.Resource(gvr).Namespace(ns).Create(t.Context(), u,
				metav1.CreateOptions{}); err != nil {
				t.Fatalf("%s: %v", ref, err)
			}
		}
		for _, ref := range []string{
			"core/v1/nodes", "core/v1/namespaces", "rbac.authorization.k8s.io/v1/clusterroles",
		} {
			d.request("/api/v1/snapshot/" + ref + "?view=objects&wait=10s")
		}
	}
	eventually(t, "the last filler object has been received", func() error {
		for _, ref := range plantedResources() {
			if _, status := d.request("/api/v1/object/" + ref + "/" + ns + "/" +
				fillerName(fillers-1)); status != http.StatusOK {
				return fmt.Errorf("GET %s: got %d, want 200", ref, status)
			}
		}
		return nil
	})
}

func fetchURL(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: got %d, error %v; want 200", url, response.StatusCode, err)
	}
	return text
}

// readProcessMemory returns the memory of a process, or nil if the memory is not readable. The process must run with
// GODEBUG=clobberfree=1, so that freed memory contains no old values.
func readProcessMemory(t *testing.T, metrics string, process int) (all [][]byte) {
	t.Helper()
	for range 3 {
		fetchURL(t, metrics+"/debug/pprof/heap?gc=1&debug=1")
	}
	dir := filepath.Join("/proc", strconv.Itoa(process))
	mappings, err := os.ReadFile(filepath.Join(dir, "maps"))
	if err != nil {
		t.Logf("the process memory is not searched: %v", err)
		return nil
	}
	mem, err := os.Open(filepath.Join(dir, "mem"))
	if err != nil {
		t.Logf("the process memory is not searched: %v", err)
		return nil
	}
	defer func() { _ = mem.Close() }()
	for line := range strings.Lines(string(mappings)) {
		var from, to int64
		var permissions string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &permissions); err != nil ||
			!strings.HasPrefix(permissions, "rw") || to-from > 1<<30 {
			continue
		}
		region := make([]byte, to-from)
		if n, err := mem.ReadAt(region, from); err == nil {
			all = append(all, region[:n])
		}
	}
	return all
}

// wantNoCanariesInMemory fails if each of 16 reads contains a secret test value. Before each read, readMemory must
// overwrite the read buffers of the process.
func wantNoCanariesInMemory(t *testing.T, c canaries, readMemory func(try int) [][]byte) {
	t.Helper()
	var found []string
	// Libraries reuse their buffers at random, so one try can leave some buffers unchanged.
	for try := range 16 {
		found = nil
		size := 0
		for _, part := range readMemory(try) {
			size += len(part)
			for _, form := range c.encodedForms() {
				if at := bytes.Index(part, form); at >= 0 {
					found = append(found, string(part[max(0, at-120):min(len(part), at+120)]))
				}
			}
		}
		t.Logf("searched %d MiB of memory; %d parts contain canaries", size>>20, len(found))
		if len(found) == 0 {
			return
		}
	}
	t.Errorf("the process memory contains %q", found)
}
