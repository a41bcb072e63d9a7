package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"glasshouse/deploy/demo/internal/cluster"
)

// up reads the flags of `demo up`, and runs the cluster until a signal or the end of the command stops it.
func up(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	opts := cluster.Options{Stdin: os.Stdin, Stdout: stdout, Stderr: stderr}
	flags := flag.NewFlagSet("demo up", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.DataDir, "data-dir", ".demo", "`directory` of everything that the cluster keeps")
	flags.IntVar(&opts.Nodes, "nodes", 0, "number of nodes (default 12, or more where --pods needs them)")
	flags.IntVar(
		&opts.Pods, "pods", 0, "number of pods at least, filled up in namespace big (default: the company's own)",
	)
	flags.IntVar(&opts.Life, "life", 20, "changes a minute that the cluster makes by itself; 0 for none")
	flags.BoolVar(
		&opts.Seed, "seed", true, "put the company's workload on it; --seed=false leaves it empty but for the nodes",
	)
	flags.BoolVar(
		&opts.Still, "still", false,
		"etcd and API server alone, with --pods that run already and no workload: for very many pods",
	)
	flags.IntVar(
		&opts.APIServerPort, "apiserver-port", 0,
		"`port` of the API server if it is free (default 6443, or the one of last time)",
	)
	flags.DurationVar(
		&opts.Compaction, "etcd-compaction", 5*time.Minute, "how long etcd keeps old revisions; 0 for ever",
	)
	flags.BoolVar(&opts.Audit, "audit", false, "write an audit log, one line for each request")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return cluster.ExitError{Code: 2} // the flag set has printed the reason
	}
	if opts.Nodes < 0 || opts.Pods < 0 || opts.Life < 0 {
		return errors.New("--nodes, --pods and --life are numbers from 0 up")
	}
	opts.Seed = opts.Seed && !opts.Still
	opts.Command = flags.Args()
	if before := len(args) - len(opts.Command); len(opts.Command) > 0 && (before == 0 || args[before-1] != "--") {
		return fmt.Errorf("unexpected argument %q: a command to run goes after --", opts.Command[0])
	}
	ctx, stop := withSignals(ctx)
	defer stop()
	return cluster.Up(ctx, opts)
}
