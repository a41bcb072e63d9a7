package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/cluster"
)

func churn(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("demo churn", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("data-dir", ".demo", "`directory` of a running cluster")
	pods := flags.Int64("pods", 500, "number of pods in namespace big to change, one after the other")
	rate := flags.Int("rate", 1000, "changes per second in total")
	duration := flags.Duration("for", 30*time.Second, "duration of the changes")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return cluster.ExitError{Code: 2}
	}
	if flags.NArg() > 0 || *pods <= 0 || *rate <= 0 || *duration <= 0 {
		return errors.New("--pods, --rate and --for must be positive; arguments without a flag are not allowed")
	}
	ctx, stop := withSignals(ctx)
	defer stop()
	changed, err := cluster.Churn(ctx, *dir, *pods, *rate, *duration)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, changed)
	return err //nolint:wrapcheck // the error names the file
}
