// Package script runs the Lua scripts with which Argo CD determines the health of custom resources.
//
// A script reads the global variable obj and returns a table with the fields status and message. It cannot read files,
// start programs or load code, and it runs for a limited number of instructions. Memory is not limited, except for the
// stacks, so scripts must be from a trusted author. Nothing that a script changes is visible to the next run.
package script

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// Script is a compiled script. Any number of interpreters can run it at the same time.
type Script struct {
	name string
	code *lua.FunctionProto
}

// Compile compiles a script. An error starts with the name, and contains the line number in the script.
func Compile(name, source string) (*Script, error) {
	statements, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		if syntax := new(parse.Error); errors.As(err, &syntax) && syntax.Pos.Line > 0 {
			return nil, fmt.Errorf("%s: line %d: %s near %q", name, syntax.Pos.Line, syntax.Message, syntax.Token)
		}
		return nil, fmt.Errorf("%s: %s", name, firstLine(strings.TrimPrefix(err.Error(), name)))
	}
	code, err := lua.Compile(statements, name)
	if err != nil {
		if wrong := new(lua.CompileError); errors.As(err, &wrong) {
			return nil, fmt.Errorf("%s: line %d: %s", name, wrong.Line, wrong.Message)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Script{name: name, code: code}, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, ": \n"), "\n")
	return line
}
