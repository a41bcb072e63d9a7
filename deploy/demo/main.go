// Command demo runs etcd, a real control plane and simulated kubelets (kwok) on loopback addresses.
//
// Build it with deploy/demo/build.sh, which sets the Kubernetes version that the API server reports.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/cluster"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/parts"
)

const usage = `demo runs a real Kubernetes control plane on this machine, with the workload of a company.

  demo up [flags]                    start it, and run it until Ctrl-C
  demo up [flags] -- command args    start it, run the command, stop it, and exit with the code of the command

  demo churn [flags]                 change pods of a running cluster, a thousand times a second: ` +
	`in etcd, without the API server

  demo up -h, demo churn -h          list the flags
`

func main() {
	if part := parts.Lookup(filepath.Base(os.Args[0])); part != nil {
		parts.DieWithParent()
		os.Exit(part())
	}
	err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr) //nolint:forbidigo // This is the main function.
	if exit, ok := errors.AsType[cluster.ExitError](err); ok {
		os.Exit(exit.Code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		_, _ = fmt.Fprint(stderr, usage)
		return cluster.ExitError{Code: 2}
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:], stdout, stderr)
	case "churn":
		return churn(ctx, args[1:], stdout, stderr)
	case "help", "-h", "--help":
		_, err := fmt.Fprint(stdout, usage)
		return err
	default:
		_, _ = fmt.Fprint(stderr, usage)
		return fmt.Errorf("unknown command %q", args[0])
	}
}
