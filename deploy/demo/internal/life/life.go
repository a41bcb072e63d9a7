// Package life makes small changes to the demo workload, as people and controllers do. The cluster does not grow.
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

type clients struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

type action struct {
	weight int
	run    func(context.Context, clients) (string, error)
}

func actions() []action {
	return []action{
		{weight: 3, run: rollOut},
		{weight: 4, run: scale},
		{weight: 1, run: restart},
		{weight: 2, run: deletePod},
		{weight: 3, run: startBuild},
		{weight: 4, run: createEvent},
		{weight: 2, run: editConfig},
		{weight: 1, run: rotateSecret},
		{weight: 3, run: changeFeatureFlag},
		{weight: 2, run: updateBackup},
		{weight: 1, run: cordon},
	}
}

// Run makes about perMinute changes per minute until ctx ends. It logs changes and failures to the file at path.
func Run(ctx context.Context, config *rest.Config, perMinute int, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log file of the changes: %w", err)
	}
	defer file.Close() //nolint:errcheck // a lost log line does not matter
	log := slog.New(slog.NewTextHandler(file, nil))
	var w clients
	if w.typed, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	choices := actions()
	pause := time.Minute / time.Duration(perMinute)
	for {
		select {
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // this random number is not security-relevant
		case <-ctx.Done():
			return nil
		}
		description, err := pick(choices).run(ctx, w)
		if err != nil {
			log.WarnContext(ctx, "action failed", "error", err)
			continue
		}
		log.InfoContext(ctx, "action completed", "action", description)
	}
}

func pick(choices []action) action {
	total := 0
	for _, a := range choices {
		total += a.weight
	}
	remaining := rand.IntN(total) //nolint:gosec // this random number is not security-relevant
	for _, a := range choices {
		if remaining -= a.weight; remaining < 0 {
			return a
		}
	}
	return choices[0]
}

func choose[T any](choices ...T) T {
	return choices[rand.IntN(len(choices))] //nolint:gosec // this random number is not security-relevant
}
