//go:build integration

package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
)

func syncOurs(t *testing.T, config *rest.Config) (int, any) {
	t.Helper()
	cluster, err := watch.New(config, watch.Options{Linger: time.Hour, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- cluster.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for {
		snapshot, err := cluster.For(watch.Viewer{Program: true}).Snapshot(
			t.Context(), query.Query{Resource: podsRef}, time.Minute,
		)
		if err == nil && snapshot.Synced {
			return len(snapshot.Objects), cluster
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func syncDynamic(t *testing.T, config *rest.Config) (int, any) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(
		client, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", 0, cache.Indexers{}, nil,
	).Informer()
	if err := informer.SetTransform(func(obj any) (any, error) {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			u.SetManagedFields(nil)
		}
		return obj, nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer cache did not sync")
	}
	return len(informer.GetStore().List()), informer
}

// readStream counts all pods in a streaming list, the kind of list that this program uses. It stores no pods.
func readStream(t *testing.T, config *rest.Config) (int, any) {
	t.Helper()
	body := get(t.Context(), t, config, "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderT"+
		"han&allowWatchBookmarks=true&includeObject=Object",
		"application/json;as=Table;v=v1;g=meta.k8s.io")
	defer func() { _ = body.Close() }()
	lines := bufio.NewReaderSize(body, 1<<20)
	for pods := 0; ; {
		line, err := lines.ReadSlice('\n')
		isComplete := !errors.Is(err, bufio.ErrBufferFull)
		if err != nil && isComplete && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if bytes.HasPrefix(line, []byte(`{"type":"BOOKMARK"`)) {
			return pods, nil
		}
		if isComplete {
			pods++
		}
	}
}
