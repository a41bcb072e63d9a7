package script

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const (
	// maxInstructions limits a run to about 50 ms. Argo CD's own test objects take up to 461 instructions.
	maxInstructions = 1_000_000
	maxCalls        = 128
	// minRegisters and maxRegisters are the initial and the maximum size of the data stack. A register takes 16 bytes.
	minRegisters = 1 << 10
	maxRegisters = 1 << 16
)

// Interpreters is a pool of interpreters. The zero value is ready for use, by any number of goroutines.
type Interpreters struct{ pool sync.Pool }

// Result is what a script returned.
type Result struct {
	Status  Status // Empty if the script returned nil or an empty table.
	Message string
}

// Status is a health status of Argo CD.
type Status string

// The statuses of Argo CD.
const (
	Healthy     Status = "Healthy"
	Progressing Status = "Progressing"
	Degraded    Status = "Degraded"
	Suspended   Status = "Suspended"
	Missing     Status = "Missing"
	Unknown     Status = "Unknown"
)

// Run runs a script for one object, a JSON value that Run does not change. The script's clock shows the time now.
func (p *Interpreters) Run(s *Script, object map[string]any, now time.Time) (Result, error) {
	i, ok := p.pool.Get().(*interpreter)
	if !ok {
		i = newInterpreter()
	}
	result, err := i.run(s, object, now)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", s.name, err) // An interpreter is not used again after an error.
	}
	p.pool.Put(i)
	return result, nil
}

type interpreter struct {
	state     *lua.LState
	budget    *budget
	now       time.Time
	base      *lua.LTable            // The metatable of the global variables.
	libraries map[string]*lua.LTable // The metatables of the libraries.
}

func newInterpreter() *interpreter {
	i := &interpreter{
		state: lua.NewState(lua.Options{
			CallStackSize: maxCalls, RegistrySize: minRegisters, RegistryMaxSize: maxRegisters,
			RegistryGrowStep: minRegisters, SkipOpenLibs: true,
		}),
		budget: &budget{spent: make(chan struct{})},
	}
	close(i.budget.spent)
	i.openLibraries()
	i.state.SetContext(i.budget)
	return i
}

func (i *interpreter) run(s *Script, object map[string]any, now time.Time) (result Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	i.now, i.budget.instructions = now, 0
	l := i.state
	function := l.NewFunctionFromProto(s.code)
	function.Env = i.environment(toTable(l, object))
	l.Push(function)
	if err := l.PCall(0, 1, nil); err != nil {
		if i.budget.instructions >= maxInstructions {
			return result, errTooLong
		}
		if wrong := new(lua.ApiError); errors.As(err, &wrong) {
			return result, errors.New(lua.LVAsString(wrong.Object)) // Without the stack trace of Lua.
		}
		return result, err
	}
	value := l.Get(-1)
	l.SetTop(0)
	return toResult(value)
}

var errTooLong = fmt.Errorf("the script ran more than %d instructions", maxInstructions)

// environment returns new global variables, so that a script cannot change what the next script sees.
func (i *interpreter) environment(object *lua.LTable) *lua.LTable {
	env := i.overlay(i.base, len(i.libraries)+2)
	for name, library := range i.libraries {
		env.RawSetString(name, i.overlay(library, 0))
	}
	env.RawSetString("_G", env)
	env.RawSetString("obj", object)
	return env
}

// overlay returns an empty table. A script that reads it gets the entries to which the metatable gives access. A script
// that writes to it changes only the new table.
func (i *interpreter) overlay(metatable *lua.LTable, size int) *lua.LTable {
	table := i.state.CreateTable(0, size)
	table.Metatable = metatable
	return table
}

func toResult(value lua.LValue) (Result, error) {
	if value == lua.LNil {
		return Result{}, nil
	}
	table, ok := value.(*lua.LTable)
	if !ok {
		return Result{}, fmt.Errorf("the script returned a %s, not a table", value.Type())
	}
	if key, _ := table.Next(lua.LNil); key == lua.LNil {
		return Result{}, nil
	}
	result := Result{Status: Status(lua.LVAsString(table.RawGetString("status")))}
	switch result.Status {
	case Healthy, Progressing, Degraded, Suspended, Missing, Unknown:
	case "":
		return Result{}, errors.New("the script returned a table without a status")
	default:
		return Result{}, fmt.Errorf("the script returned the status %.40q, which Argo CD does not define", result.Status)
	}
	switch message := table.RawGetString("message").(type) {
	case lua.LString:
		result.Message = string(message)
	case *lua.LNilType:
	default:
		return Result{}, fmt.Errorf("the script returned a %s as message, not a string", message.Type())
	}
	return result, nil
}

// toTable converts a JSON object as Argo CD does. A member with the value null is nil in Lua, so the table does not
// contain it.
func toTable(l *lua.LState, object map[string]any) *lua.LTable {
	table := l.CreateTable(0, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) { // In Lua, pairs(table) returns the members in this order.
		table.RawSetString(name, toValue(l, object[name]))
	}
	return table
}

func toValue(l *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case string:
		return lua.LString(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	case map[string]any:
		return toTable(l, value)
	case []any:
		table := l.CreateTable(len(value), 0)
		for _, item := range value {
			table.Append(toValue(l, item))
		}
		return table
	}
	return lua.LNil
}

// budget is a context that ends after maxInstructions instructions. The interpreter calls Done before each one. In
// contrast to a time limit, this limit does not depend on the load of the machine.
type budget struct {
	instructions int
	spent        chan struct{} // A closed channel, which Done returns after maxInstructions.
}

func (b *budget) Done() <-chan struct{} {
	if b.instructions++; b.instructions <= maxInstructions {
		return nil
	}
	return b.spent
}

func (b *budget) Err() error {
	if b.instructions <= maxInstructions {
		return nil
	}
	return context.DeadlineExceeded
}

func (*budget) Deadline() (time.Time, bool) { return time.Time{}, false }

func (*budget) Value(any) any { return nil }
