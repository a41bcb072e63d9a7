package script

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// allowed returns the names of the library functions that scripts may call, or nil for all functions. The permitted
// ones give no access to files, code, the environment of another function, or state that outlives the run.
func allowed(library string) []string {
	switch library {
	case lua.BaseLibName:
		return []string{
			"_VERSION", "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget", "rawset",
			"select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall",
		}
	case lua.StringLibName:
		return []string{
			"byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "reverse", "sub", "upper",
		}
	case lua.MathLibName:
		return []string{"abs", "ceil", "floor", "fmod", "huge", "max", "min", "mod", "modf", "pow", "sqrt"}
	case lua.OsLibName:
		return []string{"date", "difftime", "time"}
	}
	return nil
}

func (i *interpreter) openLibraries() {
	base := i.open(lua.BaseLibName, lua.OpenBase)
	base.RawSetString("print", i.state.NewFunction(func(*lua.LState) int { return 0 }))
	i.guardMetatables(base)
	operatingSystem := i.open(lua.OsLibName, lua.OpenOs)
	i.setClock(operatingSystem)
	strings := i.open(lua.StringLibName, lua.OpenString)
	i.base = i.metatable(base)
	i.libraries = map[string]*lua.LTable{
		lua.TabLibName:    i.metatable(i.open(lua.TabLibName, lua.OpenTable)),
		lua.StringLibName: i.metatable(strings),
		lua.MathLibName:   i.metatable(i.open(lua.MathLibName, lua.OpenMath)),
		lua.OsLibName:     i.metatable(operatingSystem),
	}
	i.state.SetMetatable(lua.LString(""), i.metatable(strings)) // For methods of strings, such as ("x"):lower().
}

func (i *interpreter) open(name string, library lua.LGFunction) *lua.LTable {
	l := i.state
	l.Push(l.NewFunction(library))
	l.Push(lua.LString(name))
	l.Call(1, 1)
	all, _ := l.Get(-1).(*lua.LTable)
	l.SetTop(0)
	table, names := l.NewTable(), allowed(name)
	all.ForEach(func(key, value lua.LValue) {
		if names == nil || slices.Contains(names, key.String()) {
			table.RawSet(key, value)
		}
	})
	return table
}

// metatable returns a metatable that gives access to the entries of a table. Scripts cannot reach the metatable or
// the table itself.
func (i *interpreter) metatable(entries *lua.LTable) *lua.LTable {
	metatable := i.state.NewTable()
	metatable.RawSetString("__index", entries)
	metatable.RawSetString("__metatable", lua.LFalse)
	return metatable
}

// guardMetatables permits setmetatable only for tables, because all values of any other type (such as string) share one
// metatable.
func (i *interpreter) guardMetatables(library *lua.LTable) {
	unguarded, _ := library.RawGetString("setmetatable").(*lua.LFunction)
	library.RawSetString("setmetatable", i.state.NewFunction(func(l *lua.LState) int {
		l.CheckTable(1)
		return unguarded.GFunction(l)
	}))
}

// setClock sets the time of the run as the default of os.time and os.date.
func (i *interpreter) setClock(library *lua.LTable) {
	l := i.state
	timeOf, _ := library.RawGetString("time").(*lua.LFunction)
	dateOf, _ := library.RawGetString("date").(*lua.LFunction)
	library.RawSetString("time", l.NewFunction(func(l *lua.LState) int {
		if l.GetTop() == 0 {
			l.Push(lua.LNumber(i.now.Unix()))
			return 1
		}
		return timeOf.GFunction(l)
	}))
	library.RawSetString("date", l.NewFunction(func(l *lua.LState) int {
		format, at := l.OptString(1, "%c"), l.OptInt64(2, i.now.Unix())
		l.SetTop(0)
		l.Push(lua.LString(format))
		l.Push(lua.LNumber(at))
		return dateOf.GFunction(l)
	}))
}
