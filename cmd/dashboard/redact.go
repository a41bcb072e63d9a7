package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/glasshouse-project/glasshouse/internal/watch/redact"
)

type redactSettings struct {
	texts []string
}

func (s *redactSettings) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.texts, "redact", nil,
		`What to mask in addition to the values of Secrets, such as core/v1/configmaps:data.*, `+
			`'*:metadata.annotations["example.com/token"]', or env for the environment variables of containers. `+
			`May be repeated.`)
}

func (s *redactSettings) rules() (rules redact.Rules, err error) {
	for _, text := range s.texts {
		parsed, err := redact.Parse(text)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--redact %q is invalid: %w", text, err)}
		}
		rules = append(rules, parsed...)
	}
	return rules, nil
}
