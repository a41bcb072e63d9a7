//go:build integration

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/signal"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Updates end at most 15 s after the permission is revoked, even while data changes.
// Invariant: I18.
func TestRevokedPermissionsStopUpdatesIn15Seconds(t *testing.T) {
	t.Parallel()
	const limit, concurrent = 15 * time.Second, 10
	// The number of permissions to revoke, unless the environment variable LOST sets another one.
	count := 4
	if s := os.Getenv("LOST"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	d, _, _ := startProcessWith(t, "--auth", "token")
	w := newProberFor(t, d)
	config := mustConfig(t)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var durations []time.Duration
	var running sync.WaitGroup
	slots := make(chan struct{}, concurrent)
	for range count {
		ns := w.api.namespace(t)
		w.plant(t, ns, plantedName, "0")
		token := w.token(t, ns, "loses", rbacv1.PolicyRule{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
		})
		e := w.openSocket(t, bearer(token))
		eventually(t, "the permission is effective", func() error {
			if body, status := w.getAs(token, "/api/v1/snapshot/core/v1/configmaps?ns="+ns); status != 200 {
				return fmt.Errorf("GET snapshot: got %d %s, want 200", status, body)
			}
			return nil
		})
		for id, view := range []string{
			`"view":"rows"`, `"view":"changes"`, `"view":"window","offset":0,"count":10`,
			`"name":"` + plantedName + `","view":"object"`,
		} {
			e.Send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/configmaps","ns":[%q],%s}`, id+1, ns,
				view))
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			duration, err := measureRevocation(t, client, e, ns)
			mu.Lock()
			defer mu.Unlock()
			if durations = append(durations, duration); err != nil || duration > limit {
				t.Errorf("updates were sent for %s after the permission was revoked, error %v", duration, err)
			}
		})
	}
	running.Wait()
	slices.Sort(durations)
	t.Logf("%d permissions were revoked: updates were sent for %s (median), %s "+
		"(maximum)", count, durations[len(durations)/2],
		durations[len(durations)-1])
}

// measureRevocation returns the time from the revocation to the last received change.
func measureRevocation(
	t *testing.T, client kubernetes.Interface, e *backgroundSocket, ns string,
) (duration time.Duration, err error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var changing sync.WaitGroup
	changing.Go(func() {
		for range signal.Ticks(ctx, 100*time.Millisecond) {
			configMap := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: plantedName}, Data: map[string]string{"value": time.Now().String()},
			}
			if _, updateErr := client.CoreV1().ConfigMaps(ns).Update(ctx, configMap, metav1.UpdateOptions{}); updateErr != nil &&
				ctx.Err() == nil {
				t.Errorf("update the ConfigMap: %v", updateErr)
			}
		}
	})
	defer changing.Wait()
	defer stop()
	var began, last time.Time
	changes, forbidden := 0, make(map[int]bool)
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case m := <-e.messages:
			message := string(m.Raw)
			if strings.Contains(message, plantedName) || strings.Contains(message, `"op":"`) {
				changes, last = changes+1, time.Now()
			}
			if strings.Contains(message, `"state":"forbidden"`) {
				forbidden[m.ID] = true
			}
		case <-tick.C:
		case <-deadline:
			return 0, fmt.Errorf("%d changes were sent, and only %v were reported as forbidden", changes, forbidden)
		}
		switch {
		case began.IsZero() && changes > 40:
			began = time.Now()
			if err := client.RbacV1().RoleBindings(ns).Delete(ctx, "loses", metav1.DeleteOptions{}); err != nil {
				return 0, fmt.Errorf("delete the RoleBinding: %w", err)
			}
		case !began.IsZero() && time.Since(began) > 25*time.Second && len(forbidden) == 4:
			return max(0, last.Sub(began)), nil
		}
	}
}
