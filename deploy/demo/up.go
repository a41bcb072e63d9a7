package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/cluster"
)

func up(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	opts := cluster.Options{Stdin: os.Stdin, Stdout: stdout, Stderr: stderr}
	flags := flag.NewFlagSet("demo up", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.DataDir, "data-dir", ".demo", "`directory` for all data of the cluster")
	flags.IntVar(&opts.Nodes, "nodes", 0, "number of nodes (default 12, or more if --pods needs them)")
	flags.IntVar(
		&opts.Pods, "pods", 0, "minimum number of pods, filled up in namespace big (default: those of the company)",
	)
	flags.IntVar(&opts.ChangesPerMinute, "life", 20, "changes per minute that the cluster makes itself; 0 for none")
	flags.BoolVar(
		&opts.Seed, "seed", true, "create the workload of the company; --seed=false creates only nodes",
	)
	flags.BoolVar(
		&opts.ControlPlaneOnly, "still", false,
		"start only etcd and the API server, with --pods running pods and no workload: for very many pods",
	)
	flags.IntVar(
		&opts.APIServerPort, "apiserver-port", 0,
		"`port` of the API server if it is free (default 6443, or the last one)",
	)
	flags.DurationVar(
		&opts.Compaction, "etcd-compaction", 5*time.Minute,
		"interval at which the API server deletes old revisions from etcd; watches that resume from a deleted "+
			"revision fail; 0 keeps all revisions",
	)
	flags.BoolVar(&opts.Audit, "audit", false, "write an audit log, one line for each request")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return cluster.ExitError{Code: 2}
	}
	if opts.Nodes < 0 || opts.Pods < 0 || opts.ChangesPerMinute < 0 {
		return errors.New("--nodes, --pods and --life must be 0 or more")
	}
	opts.Seed = opts.Seed && !opts.ControlPlaneOnly
	opts.Command = flags.Args()
	if commandStart := len(args) - len(opts.Command); len(opts.Command) > 0 &&
		(commandStart == 0 || args[commandStart-1] != "--") {
		return fmt.Errorf("unexpected argument %q: a command to run goes after --", opts.Command[0])
	}
	ctx, stop := withSignals(ctx)
	defer stop()
	return cluster.Up(ctx, opts)
}
