package watch_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/apitest"
	"github.com/glasshouse-project/glasshouse/internal/watch/inherit/revisit"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

// verdictOf returns the verdict in the row of a Deployment.
func verdictOf(t *testing.T, cluster *watch.Cluster, name string) verdict.Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
		ctx, query.Query{Resource: deployments, Namespaces: []string{"a"}, Name: name}, 10*time.Second)
	if err != nil || len(s.Objects) != 1 {
		t.Fatalf("%s: got error %v, %+v", name, err, s)
	}
	return s.Objects[0].Verdict().Unpack()
}

// A Deployment is degraded while its pod crashes, although the API server sends no update of the Deployment.
func TestInheritedVerdictsFollowTheirCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		r := subscribe(t, cluster, query.Query{Resource: deployments}, "")
		r.settle()
		rv := r.rows["a/crashing"].RV
		want := func(name string, severity verdict.Severity, cause string) {
			t.Helper()
			advance(time.Second)
			v := verdictOf(t, cluster, name)
			root := ""
			if v.Cause != nil {
				root = v.Cause.Kind + "/" + v.Cause.Name
			}
			if v.Severity != severity || root != cause {
				t.Errorf("%s: got %+v, want %s by %s", name, v, severity, cause)
			}
		}
		want("crashing", verdict.Degraded, "Pod/CANARY-pod")
		setPod(server, "crashing", "CANARY-pod", crashingSpec, readyStatus)
		want("crashing", verdict.OK, "")
		setPod(server, "crashing", "CANARY-pod", crashingSpec, crashingStatus)
		want("crashing", verdict.Degraded, "Pod/CANARY-pod")
		server.Delete(pods, "a", "CANARY-pod")
		want("crashing", verdict.OK, "")

		want("missing", verdict.Degraded, "ConfigMap/CANARY-map")
		server.Set("core/v1/configmaps", apitest.Item{Namespace: "a", Name: "CANARY-map"})
		advance(time.Second)
		if v := verdictOf(t, cluster, "missing"); v.Cause == nil || v.Cause.Kind != "Pod" || v.Cause.Missing {
			t.Errorf("after the ConfigMap exists: got %+v, want the pod as the cause", v)
		}
		server.Delete("core/v1/configmaps", "a", "CANARY-map")
		want("missing", verdict.Degraded, "ConfigMap/CANARY-map")
		r.settle()
		if got := r.rows["a/crashing"].RV; got != rv {
			t.Errorf("the Deployment has the resource version %s, want %s", got, rv)
		}
	})
}

// The severity of a webhook becomes "failed" when the certificate in its caBundle expires, although no object changes
// at that time.
func TestWebhookFailsWhenItsCertificateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const webhooks = "admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
		server := apitest.New(t, append(causeKinds(), apitest.Kind{
			Ref: webhooks, Kind: "ValidatingWebhookConfiguration", Cluster: true,
			Columns: `[{"name":"Name","type":"string"}]`,
		}, apitest.Kind{Ref: "core/v1/services", Kind: "Service", Columns: `[{"name":"Name","type":"string"}]`})...)
		server.Set("core/v1/services", apitest.Item{Namespace: "a", Name: "hook", Rest: `"spec":{"ports":[{"port":443}]}`})
		server.Set(webhooks, apitest.Item{Name: "policy", Rest: fmt.Sprintf(`"webhooks":[{"name":"check.example.com",`+
			`"rules":[{"operations":["CREATE"],"resources":["pods"]}],"clientConfig":{"caBundle":%q,`+
			`"service":{"namespace":"a","name":"hook"}}}]`, caBundle(t, time.Now().Add(time.Hour)))})
		cluster := runClusterWith(t, server, watch.Options{
			Linger: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), InheritVerdicts: true,
		})
		r := subscribe(t, cluster, query.Query{Resource: webhooks}, "")
		r.settle()
		want := func(severity verdict.Severity) {
			t.Helper()
			o, ok, _ := cluster.Informer(webhooks).Get("/policy")
			if !ok || o.Verdict().Severity() != severity {
				t.Errorf("got %t, %+v, want %s", ok, o.Verdict().Unpack(), severity)
			}
		}
		advance(59 * time.Minute)
		want(verdict.None)
		advance(2 * time.Minute)
		want(verdict.Failed)
	})
}

// newInheritingCluster returns a cluster with inherited verdicts, the namespace a, and some more resources. It watches
// the first one of them.
func newInheritingCluster(t *testing.T, more ...apitest.Kind) (*apitest.Server, *watch.Cluster) {
	t.Helper()
	for n := range more {
		more[n].Columns = `[{"name":"Name","type":"string"}]`
	}
	server := apitest.New(t, append(causeKinds(), more...)...)
	server.Set("core/v1/namespaces", apitest.Item{Name: "a"})
	cluster := runClusterWith(t, server, watch.Options{
		Linger: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), InheritVerdicts: true,
	})
	subscribe(t, cluster, query.Query{Resource: more[0].Ref}, "").settle()
	return server, cluster
}

// A verdict that names the only object of a kind changes when another object of this kind is created or deleted. After
// one creation, further creations can have an effect only after an interval.
func TestVerdictsFollowAllObjectsOfKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const versions, groups = "operators.coreos.com/v1/clusterserviceversions", "operators.coreos.com/v1/operatorgroups"
		server, cluster := newInheritingCluster(t,
			apitest.Kind{Ref: versions, Kind: "ClusterServiceVersion"}, apitest.Kind{Ref: groups, Kind: "OperatorGroup"})
		set := func(name string) { server.Set(groups, apitest.Item{Namespace: "a", Name: name, Rest: `"spec":{}`}) }
		want := func(when, cause string) {
			t.Helper()
			o, ok, _ := cluster.Informer(versions).Get("a/web")
			if !ok {
				t.Fatalf("%s: the object does not exist", when)
			}
			name := ""
			if c := o.Verdict().Unpack().Cause; c != nil {
				name = c.Name
			}
			if name != cause {
				t.Errorf("%s: got the cause %q, want %q", when, name, cause)
			}
		}
		set("first")
		server.Set(versions, apitest.Item{Namespace: "a", Name: "web", Rest: `"spec":{},"status":{"phase":"Failed",` +
			`"reason":"UnsupportedOperatorGroup","message":"OwnNamespace InstallModeType not supported"}`})
		advance(2 * revisit.Interval)
		want("one object", "first")
		set("second")
		advance(time.Second)
		want("another object", "")
		server.Delete(groups, "a", "second")
		advance(time.Second)
		want("after its deletion", "first")
		set("third")
		advance(time.Second)
		want("at the next creation", "first")
		advance(revisit.Interval)
		want("after the interval", "")
	})
}

// A configuration of webhooks has a problem as long as the message of another object reports this.
func TestWebhookFailsWhileOthersReportIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const webhooks = "admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
		const kustomizations = "kustomize.toolkit.fluxcd.io/v1/kustomizations"
		server, cluster := newInheritingCluster(t,
			apitest.Kind{Ref: webhooks, Kind: "ValidatingWebhookConfiguration", Cluster: true},
			apitest.Kind{Ref: kustomizations, Kind: "Kustomization"})
		server.Set(webhooks, apitest.Item{Name: "policy", Rest: `"webhooks":[{"name":"check.example.com",` +
			`"rules":[{"operations":["CREATE"],"resources":["pods"]}],"clientConfig":{"url":"https://hook.example.org"}}]`})
		const message = `failed calling webhook \"check.example.com\": failed to call webhook: ` +
			`Post \"https://hook.example.org/?timeout=10s\": x509: certificate signed by unknown authority`
		setTenant := func(status, message string) {
			server.Set(kustomizations, apitest.Item{Namespace: "a", Name: "tenant", Rest: fmt.Sprintf(`"spec":{},"status":{`+
				`"conditions":[{"type":"Ready","status":%q,"reason":"Reconciled","message":"%s",`+
				`"lastTransitionTime":"2000-01-01T00:00:00Z"}]}`, status, message)})
		}
		setEvent := func() {
			server.Set("core/v1/events", apitest.Item{Namespace: "a", Name: "tenant.1", Rest: fmt.Sprintf(
				`"type":"Warning","reason":"ReconciliationFailed","message":"%s","count":3,"lastTimestamp":%q,`+
					`"involvedObject":{"kind":"Kustomization","apiVersion":"kustomize.toolkit.fluxcd.io/v1","namespace":"a",`+
					`"name":"tenant"}`, message, time.Now().UTC().Format(time.RFC3339))})
		}
		want := func(when string, severity verdict.Severity) {
			t.Helper()
			advance(time.Second)
			o, ok, _ := cluster.Informer(webhooks).Get("/policy")
			if !ok || o.Verdict().Severity() != severity {
				t.Errorf("%s: got %t, %+v, want %s", when, ok, o.Verdict().Unpack(), severity)
			}
		}
		want("without a report", verdict.None)
		setEvent()
		setTenant("False", message)
		want("with a report", verdict.Failed)
		setTenant("True", "Applied revision: main")
		want("after the reporter recovered", verdict.None)
		setTenant("False", message)
		want("with a new report", verdict.Failed)
		advance(30 * time.Minute)
		want("without recent events", verdict.None)
		setEvent()
		advance(10 * time.Minute)
		want("with a new event", verdict.Failed)
	})
}

// caBundle returns a self-signed certificate as base64 of PEM.
func caBundle(t *testing.T, expiry time.Time) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: expiry}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// Without --inherit-verdicts, an object has only its own verdict, and the resources of related objects are not watched.
func TestVerdictsAreNotInheritedIfOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, false)
		r := subscribe(t, cluster, query.Query{Resource: deployments}, "")
		r.settle()
		advance(time.Minute)
		if v := verdictOf(t, cluster, "crashing"); v.Severity != verdict.OK || v.Cause != nil {
			t.Errorf("got %+v, want ok", v)
		}
		if got := server.Requests("/nodes"); len(got) > 0 {
			t.Errorf("got requests %s, want none", got)
		}
	})
}

// When there have been no readers for the linger time, the engine of inherited verdicts stops, and removes the verdicts
// from objects. It can start again.
func TestEngineStopsAfterLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, cluster := newCauseCluster(t, true)
		access := cluster.For(watch.Viewer{Program: true})
		// This reader keeps the informer of ConfigMaps running. It does not keep the engine running, because ConfigMaps
		// inherit no verdicts.
		stay := subscribe(t, cluster, query.Query{Resource: "core/v1/configmaps"}, "")
		for range 3 {
			doc, err := access.Overview(t.Context(), watch.OverviewQuery{Wait: time.Minute})
			if err != nil || len(doc.Problems) == 0 {
				t.Fatalf("got %+v, error %v", doc, err)
			}
			advance(4 * time.Minute) // This is less than the linger time.
			if got := verdictOf(t, cluster, "crashing"); got.Cause == nil {
				t.Errorf("before the linger time: got %+v", got)
			}
			advance(6 * time.Minute)
			before := len(server.Requests("/nodes"))
			stay.settle()
			advance(time.Minute)
			if after := len(server.Requests("/nodes")); after != before {
				t.Errorf("the engine still requests nodes: %s", strings.Join(server.Requests("/nodes"), "\n"))
			}
		}
		// With a new reader, the engine starts again, and Deployments inherit verdicts.
		release := access.KeepOverview()
		advance(time.Second)
		i := cluster.Informer(deployments)
		if o, _, _ := i.Get("a/crashing"); !o.Verdict().IsInherited() {
			t.Error("the engine has not started again")
		}
		release()
	})
}
