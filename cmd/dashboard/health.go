package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"github.com/glasshouse-project/glasshouse/internal/watch/health"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/rules"
)

type healthSettings struct {
	file string
}

func (s *healthSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.file, "health-rules", "",
		"A YAML file with Lua scripts that determine the health of objects. It has one key "+
			"resource.customizations.health.GROUP_KIND for each kind, at the top level or under data, as in Argo CD's "+
			"ConfigMap argocd-cm. The scripts take precedence over all built-in rules.")
}

func (s *healthSettings) evaluator(log *slog.Logger) (*health.Evaluator, error) {
	if s.file == "" {
		return health.NewEvaluator(rules.Set{}, log), nil
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return nil, fmt.Errorf("read the --health-rules file: %w", err)
	}
	set, err := rules.Parse(text)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--health-rules %s: %w", s.file, err)}
	}
	return health.NewEvaluator(set, log), nil
}
