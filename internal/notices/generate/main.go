// Command generate writes THIRD_PARTY_NOTICES to the working directory, which must be the root of the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/glasshouse-project/glasshouse/internal/notices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // This is a main function.
	defer stop()
	if err := run(ctx); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "generate THIRD_PARTY_NOTICES:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	document, err := notices.Document(ctx, ".")
	if err != nil {
		return err
	}
	return os.WriteFile("THIRD_PARTY_NOTICES", []byte(document), 0o644) //nolint:gosec // The file is public.
}
