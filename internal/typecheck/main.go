// Command typecheck reports compile errors of a program on other platforms:
//
//	typecheck ./cmd/dashboard darwin/arm64 windows/amd64
//
// It reads only the declarations of other modules, and generates no code. So it needs a small part of the time of a
// build.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // This is a main function.
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: typecheck PACKAGE OS/ARCH [OS/ARCH]")
	}
	for _, platform := range args[1:] {
		if err := check(ctx, args[0], platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return nil
}

// listed is a package in the output of go list.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // Paths of packages that are vendored in the standard library, by import path.
	Module     *struct {
		Main      bool
		GoVersion string
	}
}

// check checks the types of a package and its dependencies for one platform.
func check(ctx context.Context, root, platform string) error {
	system, arch, _ := strings.Cut(platform, "/")
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", root)
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	output, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	decoder := json.NewDecoder(output)
	for err == nil { // go list prints dependencies before the packages that import them.
		var one listed
		if err = decoder.Decode(&one); err == nil && one.ImportPath != "unsafe" {
			checked[one.ImportPath], err = one.check(arch, checked)
		}
	}
	if !errors.Is(err, io.EOF) {
		_ = list.Process.Kill()
		// Ignore the error of Wait, which would only report that the process was killed.
		_ = list.Wait()
		return err
	}
	return list.Wait()
}

// importer returns the checked package for an import path.
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func (l *listed) check(arch string, checked map[string]*types.Package) (*types.Package, error) {
	positions := token.NewFileSet()
	var files []*ast.File
	for _, name := range l.GoFiles {
		file, err := parser.ParseFile(positions, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{
		Sizes:            types.SizesFor("gc", arch),
		IgnoreFuncBodies: l.Module == nil || !l.Module.Main,
		Importer: importer(func(path string) (*types.Package, error) {
			if vendored, ok := l.ImportMap[path]; ok {
				path = vendored
			}
			if one := checked[path]; one != nil {
				return one, nil
			}
			return nil, fmt.Errorf("package %s was not listed", path)
		}),
	}
	if l.Module != nil && l.Module.GoVersion != "" {
		config.GoVersion = "go" + l.Module.GoVersion
	}
	return config.Check(l.ImportPath, positions, files, nil)
}
