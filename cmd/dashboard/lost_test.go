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

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"glasshouse/internal/watch"
)

// After a permission is revoked, its data is sent for at most 15 s, whatever happens in the meantime. LOST is the
// number of permissions to revoke (4), a few at a time.
func TestRightsThatAreLost(t *testing.T) {
	const limit, together = 15 * time.Second, 10
	count := 4
	if s := os.Getenv("LOST"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	w := newWalker(t)
	config := mustConfig(t)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var lasted []time.Duration
	var running sync.WaitGroup
	free := make(chan struct{}, together)
	for range count {
		ns := w.o.namespace(t)
		w.plant(t, ns, theName, "0")
		token := w.token(t, ns, "loses", rbacv1.PolicyRule{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
		})
		e := w.listen(t, token)
		eventually(t, "the right has come", func() error {
			if body, status := w.as(token, "/api/v1/snapshot/core/v1/configmaps?ns="+ns); status != 200 {
				return fmt.Errorf("%d %s", status, body)
			}
			return nil
		})
		for id, view := range []string{
			`"view":"rows"`, `"view":"changes"`, `"view":"window","offset":0,"count":10`,
			`"name":"` + theName + `","view":"object"`,
		} {
			e.send(fmt.Sprintf(`{"op":"subscribe","id":%d,"resource":"core/v1/configmaps","ns":[%q],%s}`, id+1, ns,
				view))
		}
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			long, err := lasts(t, client, e, ns)
			mu.Lock()
			defer mu.Unlock()
			if lasted = append(lasted, long); err != nil || long > limit {
				t.Errorf("it was told for %s after the right had gone, %v", long, err)
			}
		})
	}
	running.Wait()
	slices.Sort(lasted)
	t.Logf("%d rights were lost: told for %s at the median, %s at most", count, lasted[len(lasted)/2],
		lasted[len(lasted)-1])
}

// lasts revokes a permission while a ConfigMap changes, and returns for how long changes were still sent. It reads
// until no further change can arrive.
func lasts(t *testing.T, client kubernetes.Interface, e *ear, ns string) (long time.Duration, err error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var changing sync.WaitGroup
	changing.Go(func() {
		for range watch.Ticks(ctx, 100*time.Millisecond) {
			made := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: theName}, Data: map[string]string{"value": time.Now().String()},
			}
			if _, failed := client.CoreV1().ConfigMaps(ns).Update(ctx, made, metav1.UpdateOptions{}); failed != nil &&
				ctx.Err() == nil {
				t.Errorf("change something: %v", failed)
			}
		}
	})
	defer changing.Wait()
	defer stop()
	var began, last time.Time
	heard, refused := 0, make(map[string]bool)
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case frame := <-e.frames:
			if strings.Contains(frame, theName) || strings.Contains(frame, `"op":"`) {
				heard, last = heard+1, time.Now()
			}
			if strings.Contains(frame, `"state":"forbidden"`) {
				id, _, _ := strings.Cut(frame, ",")
				refused[id] = true
			}
		case <-tick.C:
		case <-deadline:
			return 0, fmt.Errorf("%d changes were told, and only %v are told to be forbidden", heard, refused)
		}
		switch {
		case began.IsZero() && heard > 40:
			began = time.Now()
			if err := client.RbacV1().RoleBindings(ns).Delete(ctx, "loses", metav1.DeleteOptions{}); err != nil {
				return 0, fmt.Errorf("take the right away: %w", err)
			}
		case !began.IsZero() && time.Since(began) > 25*time.Second && len(refused) == 4:
			return max(0, last.Sub(began)), nil
		}
	}
}
