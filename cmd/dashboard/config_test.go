package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func parseSettings(t *testing.T, args []string, env map[string]string, file string) (map[string]string, error) {
	t.Helper()
	command := newCommand(&console{})
	if file != "" {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := command.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	err := configure(command.Flags(), func(name string) string { return env[name] })
	got := map[string]string{}
	command.Flags().VisitAll(func(flag *pflag.Flag) { got[flag.Name] = flag.Value.String() })
	return got, err
}

// A flag wins over the environment, which wins over the file. Flags of kubectl work only on the command line.
// Invariant: I26.
func TestSettingsTakeFlagThenEnvironmentThenFile(t *testing.T) {
	flags := ownFlags(newCommand(&console{}).Flags())
	if len(flags) < 12 || flags["listen"] == nil || flags["kubeconfig"] != nil || flags["namespace"] != nil ||
		flags["help"] != nil {
		t.Fatalf("got flags %q, want only the dashboard's own flags with environment "+
			"variables", slices.Sorted(maps.Keys(flags)))
	}
	for name, flag := range flags {
		if name == configFlag {
			continue
		}
		values := map[string][]string{
			"string": {"a", "b", "c"}, "int": {"11", "12", "1300000"}, "duration": {"11s", "12s", "13s"},
			"stringSlice": {"a,b", "c", "d,e"}, "bool": {"true", "true", "true"},
			"stringArray": {"a", "b", "c"}, "uint16": {"11", "12", "13"}, "int64": {"11", "12", "13"},
		}[flag.Value.Type()]
		if values == nil {
			t.Fatalf("--%s has the type %s: add its values to this test", name, flag.Value.Type())
		}
		formatted := func(value string) string {
			f := pflag.NewFlagSet("", pflag.ContinueOnError)
			f.AddFlag(&pflag.Flag{Name: name, Value: newCommand(&console{}).Flags().Lookup(name).Value})
			if err := f.Set(name, value); err != nil {
				t.Fatal(err)
			}
			return f.Lookup(name).Value.String()
		}
		args, env, file := []string{"--" + name + "=" + values[0]}, map[string]string{environmentName(name): values[1]},
			name+": "+values[2]
		for _, test := range []struct {
			source string
			args   []string
			env    map[string]string
			file   string
			want   string
		}{
			{"all", args, env, file, formatted(values[0])},
			{"no flag", nil, env, file, formatted(values[1])},
			{"only the file", nil, nil, file, formatted(values[2])},
			{"empty variable", nil, map[string]string{environmentName(name): ""}, file, formatted(values[2])},
			{"nothing", nil, nil, "", flag.DefValue},
		} {
			t.Run(test.source, func(t *testing.T) {
				got, err := parseSettings(t, test.args, test.env, test.file)
				if err != nil || got[name] != test.want {
					t.Errorf("--%s from %s: got %q, %v; want %q", name, test.source, got[name], err, test.want)
				}
			})
		}
	}
}

// Large numbers keep all their digits.
// Invariant: I26.
func TestConfigFileSupportsListsAndNumbers(t *testing.T) {
	got, err := parseSettings(t, nil,
		map[string]string{"GLASSHOUSE_PORT": "tcp://10.0.0.1:80", "GLASSHOUSE_SERVICE_HOST": "10.0.0.1"}, `
# Where it is reached.
allowed-host: [glasshouse.example.org, "10.0.0.5:8080"]
watch:
- core/v1/pods
- apps/v1/deployments
page-rows: 1000000
linger: 10m
`)
	want := map[string]string{
		"allowed-host": "[glasshouse.example.org,10.0.0.5:8080]", "watch": "[core/v1/pods,apps/v1/deployments]",
		"page-rows": "1000000", "linger": "10m0s",
	}
	for name, value := range want {
		if err != nil || got[name] != value {
			t.Errorf("setting %s: got %q, %v; want %q", name, got[name], err, value)
		}
	}
}

// The error names the file, variable or flag that contains the invalid value.
// Invariant: I26.
func TestInvalidSettingsAreRefused(t *testing.T) {
	clearEnvironment(t)
	dir := t.TempDir()
	for i, test := range []struct {
		file, variable, value string
		want                  []string
	}{
		{file: "lissen: 127.0.0.1:1", want: []string{`unknown setting "lissen"`, "docs/reference.md"}},
		{file: "kubeconfig: /x", want: []string{`unknown setting "kubeconfig"`}},
		{file: "config: /x", want: []string{`unknown setting "config"`}},
		{file: "listen: [", want: []string{"not valid YAML"}},
		{file: "linger: 1m\nlinger: 2m", want: []string{"not valid YAML", "linger"}},
		{file: "- listen", want: []string{"must be a YAML mapping"}},
		{file: "listen: {host: x}", want: []string{`the value of "listen" must be`}},
		{file: "listen: null", want: []string{`the value of "listen" must be`}},
		{file: "listen: [a, b]", want: []string{`"listen" takes one value`}},
		{file: "page-rows: many", want: []string{"page-rows", `"many"`}},
		{file: "listen: 0.0.0.0:0", want: []string{"--listen", "without a login"}},
		{
			variable: "GLASSHOUSE_LINGER", value: "soon", want: []string{
				"GLASSHOUSE_LINGER in the environment", "linger",
			},
		},
		{
			variable: "GLASSHOUSE_CONFIG", value: filepath.Join(dir, "none"),
			want: []string{"read the --config file", "none"},
		},
	} {
		t.Run(fmt.Sprint(i, " ", test.file, test.variable), func(t *testing.T) {
			args := []string{"--kubeconfig", unreachableKubeconfig(t)}
			if test.variable != "" {
				t.Setenv(test.variable, test.value)
			} else {
				path := filepath.Join(dir, strconv.Itoa(i))
				if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--config", path)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var stdout, stderr console
			if code := run(ctx, args, &stdout, &stderr); code == 0 {
				t.Error("run: exit code 0, want an error")
			}
			for _, want := range test.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr is %q, want it to contain %q", stderr.String(), want)
				}
			}
		})
	}
}
