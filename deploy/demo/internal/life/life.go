// Package life makes small changes to the company's workload, one now and then, as people and robots do in a cluster
// that is used. It is bounded: scales stay within limits, jobs and events go away by themselves, versions go round.
package life

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// world is what an action acts on.
type world struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

// action does one thing and says what it did.
type action struct {
	weight int
	do     func(context.Context, world) (string, error)
}

func actions() []action {
	return []action{
		{weight: 3, do: rollOut},
		{weight: 4, do: scale},
		{weight: 1, do: restart},
		{weight: 2, do: evict},
		{weight: 3, do: build},
		{weight: 4, do: report},
		{weight: 2, do: editConfig},
		{weight: 1, do: rotateSecret},
		{weight: 3, do: flipFlag},
		{weight: 2, do: backUp},
		{weight: 1, do: cordon},
	}
}

// Run makes perMinute changes a minute, at times that vary, until ctx ends. What it does, and what it could not do
// since somebody took the thing away, is in the log file.
func Run(ctx context.Context, config *rest.Config, perMinute int, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log of life: %w", err)
	}
	defer file.Close() //nolint:errcheck // a log
	log := slog.New(slog.NewTextHandler(file, nil))
	var w world
	if w.typed, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	all := actions()
	pause := time.Minute / time.Duration(perMinute)
	for {
		select {
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // no secret
		case <-ctx.Done():
			return nil
		}
		did, err := pick(all).do(ctx, w)
		if err != nil {
			log.WarnContext(ctx, "not done", "err", err)
			continue
		}
		log.InfoContext(ctx, "done", "what", did)
	}
}

func pick(all []action) action {
	total := 0
	for _, a := range all {
		total += a.weight
	}
	at := rand.IntN(total) //nolint:gosec // no secret
	for _, a := range all {
		if at -= a.weight; at < 0 {
			return a
		}
	}
	return all[0]
}

// one gives one of the choices.
func one[T any](choices ...T) T {
	return choices[rand.IntN(len(choices))] //nolint:gosec // no secret
}
