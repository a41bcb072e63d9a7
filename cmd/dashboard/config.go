package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// The value of a setting is that of its flag, then of the environment, then of the file of --config, then its default.
// kubectl's flags can be set only on the command line, because kubectl's own environment and kubeconfig provide the
// same settings.

// kubectlAnnotation marks the flags that kubectl has too, such as --context and --kubeconfig.
const kubectlAnnotation = "kubectl"

// configFlag is the flag that names the configuration file. The file itself cannot set it.
const configFlag = "config"

// ownFlags returns the flags that the environment and the configuration file may set, by name.
func ownFlags(flags *pflag.FlagSet) map[string]*pflag.Flag {
	all := make(map[string]*pflag.Flag)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[kubectlAnnotation] == nil && flag.Name != "help" && flag.Name != "version" {
			all[flag.Name] = flag
		}
	})
	return all
}

// environmentName returns the environment variable for a flag.
func environmentName(flag string) string {
	return "GLASSHOUSE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configure sets the flags that are not on the command line, from the environment and the configuration file. An empty
// variable counts as unset, because a manifest can leave a setting out only in this form. Unknown variables are
// ignored, because Kubernetes creates some from the names of Services.
func configure(flags *pflag.FlagSet, getenv func(string) string) error {
	all := ownFlags(flags)
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
				fmt.Errorf("--config %s: %q is not a setting: settings have the names of dashboard's own flags, "+
					"without the dashes; see docs/reference.md", file, name),
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

// setFlag sets a flag to a value from the configuration file: a string, or []string.
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

// readConfig parses the configuration file, in YAML. It returns strings in the form that flags accept, and []string for
// lists.
func readConfig(text []byte) (map[string]any, error) {
	document, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber() // A number such as 100000 stays in its original form.
	var settings map[string]any
	if err := decoder.Decode(&settings); err != nil {
		return nil, fmt.Errorf("settings must be a mapping, such as listen: 127.0.0.1:8080: %w", err)
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
