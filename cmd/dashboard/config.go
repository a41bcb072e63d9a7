package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// The command line overrides the environment, which overrides the file of --config. kubectl's flags can be set only
// on the command line.

const kubectlAnnotation = "kubectl"

const configFlag = "config"

func ownFlags(flags *pflag.FlagSet) map[string]*pflag.Flag {
	all := make(map[string]*pflag.Flag)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[kubectlAnnotation] == nil && flag.Name != "help" && flag.Name != "version" {
			all[flag.Name] = flag
		}
	})
	return all
}

func environmentName(flag string) string {
	return "GLASSHOUSE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configure sets flags from the environment and the configuration file. It ignores empty variables, which Kubernetes
// manifests often contain.
func configure(flags *pflag.FlagSet, getenv func(string) string) error {
	all := ownFlags(flags)
	// Unknown variables are ignored: Kubernetes creates some, such as GLASSHOUSE_PORT for a Service.
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := getenv(environmentName(name))
		if value == "" || all[name].Changed {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return &usageError{fmt.Errorf("%s in the environment: %w", environmentName(name), err)}
		}
	}
	file := all[configFlag].Value.String()
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // The administrator configures the path.
	if err != nil {
		return fmt.Errorf("read the --config file: %w", err)
	}
	settings, err := readConfig(text)
	if err != nil {
		return &usageError{fmt.Errorf("--config %s: %w", file, err)}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		flag := all[name]
		switch {
		case flag == nil || name == configFlag:
			return &usageError{
				fmt.Errorf("--config %s: unknown setting %q; each setting must be the name of a flag without the leading --; "+
					"--config, --help, --version, and flags of kubectl such as --context cannot be set in this file; "+
					"see docs/reference.md", file, name),
			}
		case flag.Changed:
			continue
		}
		if err := setFlag(flags, flag, settings[name]); err != nil {
			return &usageError{fmt.Errorf("--config %s: %w", file, err)}
		}
	}
	return nil
}

func setFlag(flags *pflag.FlagSet, flag *pflag.Flag, value any) error {
	list, isList := value.([]string)
	if !isList {
		return flags.Set(flag.Name, fmt.Sprint(value))
	}
	slice, ok := flag.Value.(pflag.SliceValue)
	if !ok {
		return fmt.Errorf("%q takes one value, not a list", flag.Name)
	}
	flag.Changed = true
	return slice.Replace(list)
}

func readConfig(text []byte) (map[string]any, error) {
	document, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber() // keeps 1000000 unchanged; as a float64, it would become 1e+06
	var settings map[string]any
	if err := decoder.Decode(&settings); err != nil {
		return nil, errors.New(`the file must be a YAML mapping, such as "listen: 127.0.0.1:8080"`)
	}
	for name, value := range settings {
		values, isList := value.([]any)
		if !isList {
			values = []any{value}
		}
		texts := make([]string, len(values))
		for i, value := range values {
			switch value := value.(type) {
			case string, json.Number, bool:
				texts[i] = fmt.Sprint(value)
			default:
				return nil,
					fmt.Errorf("the value of %q must be a string, a number, true, false or a list of these", name)
			}
		}
		if settings[name] = texts; !isList {
			settings[name] = texts[0]
		}
	}
	return settings, nil
}
