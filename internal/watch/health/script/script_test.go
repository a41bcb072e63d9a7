package script_test

import (
	"strings"
	"testing"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/script"
)

func compile(tb testing.TB, source string) *script.Script {
	tb.Helper()
	s, err := script.Compile("test", source)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestScriptReturnsStatusOrError(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	object := map[string]any{"spec": map[string]any{
		"n": int64(3), "x": 1.5, "yes": true, "null": nil, "list": []any{"b", "a"}, "text": "Two Words",
	}}
	for name, test := range map[string]struct{ source, status, message, err string }{
		"a table":  {source: `return {status = "Healthy", message = "well"}`, status: "Healthy", message: "well"},
		"nothing":  {source: `local x = 1`},
		"an empty": {source: `return {}`},
		"values": {
			source: `local s = obj.spec
				return {status = "Degraded", message = s.n .. s.x .. tostring(s.yes) .. tostring(s.null) .. #s.list .. s.list[1]}`,
			status: "Degraded", message: "31.5truenil2b",
		},
		"pairs in order": {
			source: `local names = {}
				for name in pairs(obj.spec) do table.insert(names, name) end
				return {status = "Missing", message = table.concat(names, " ")}`,
			status: "Missing", message: "list n text x yes",
		},
		"libraries": {
			source: `table.sort(obj.spec.list)
				return {status = "Progressing", message = obj.spec.text:lower() .. string.sub("abc", 2) .. math.floor(2.7) ..
					obj.spec.list[1] .. os.date("!%Y-%m-%d") .. os.time()}`,
			status: "Progressing", message: "two wordsbc2a2026-05-041777863721",
		},
		"print":       {source: `print("x") return {status = "Suspended"}`, status: "Suspended"},
		"other":       {source: `return 7`, err: "the script returned a number"},
		"bad status":  {source: `return {status = "Fine"}`, err: `the status "Fine"`},
		"no status":   {source: `return {message = "x"}`, err: "without a status"},
		"bad message": {source: `return {status = "Healthy", message = {}}`, err: "a table as message"},
		"run error":   {source: "\nlocal x = obj.status.phase", err: "test:2: attempt to index"},
		"error":       {source: `error("no")`, err: "no"},
		"error table": {source: `error({})`, err: "test: "},
		"loop":        {source: `while true do end`, err: "more than 1000000 instructions"},
		"caught loop": {source: `while true do pcall(function() while true do end end) end`, err: "more than 1000000"},
		"recursion":   {source: `local function f() return 1 + f() end return f()`, err: "stack overflow"},
		"registers":   {source: `local t = {} for i = 1, 90000 do t[i] = i end return {unpack(t)}`, err: "registry overflow"},
		"index loop": {
			source: `local a = {} setmetatable(a, {__index = function(t, k) return t[k] end}) return a.x`, err: "stack overflow",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var interpreters script.Interpreters
			got, err := interpreters.Run(compile(t, test.source), object, now)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || string(got.Status) != test.status || got.Message != test.message {
				t.Errorf("got %+v, error %v; want status %q, message %q", got, err, test.status, test.message)
			}
		})
	}
}

func TestSyntaxErrorsHaveALine(t *testing.T) {
	for source, want := range map[string]string{
		"local x = 1\nlocal = 2": "test: line 2: ",
		"local x = {\n":          "test: ",
		"\n\ngoto nowhere":       "test: line 4: no visible label",
		"x = \"open":             "test: at EOF: ",
	} {
		t.Run(source, func(t *testing.T) {
			_, err := script.Compile("test", source)
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got error %v, want one line that starts with %q", err, want)
			}
		})
	}
}

// A script cannot read files, start programs or load code. It leaves nothing behind for the next script.
//
// Invariant: I12.
func TestScriptsAreIsolated(t *testing.T) {
	var interpreters script.Interpreters
	absent := compile(t, `
		local names = {"io", "debug", "package", "channel", "coroutine", "load", "loadstring", "loadfile", "dofile",
			"require", "module", "getfenv", "setfenv", "newproxy", "collectgarbage", "_printregs", "left"}
		for _, name in ipairs(names) do
			if _G[name] ~= nil then error(name .. " exists") end
		end
		if os.execute or os.exit or os.getenv or os.remove or string.rep or math.randomseed then error("unsafe") end
		if string.left or table.left or math.left or os.left or ("x").left or ("x").__index then error("left") end
		if string.upper("a") ~= "A" or ("a"):upper() ~= "A" or #table ~= 0 then error("changed") end
		if getmetatable(1) or getmetatable(true) or getmetatable(pairs) then error("a type has a metatable") end
		return {status = "Healthy"}`)
	for _, source := range []string{
		`left = obj`, `_G.left = obj`, `rawset(_G, "left", obj)`, `string.left = obj`, `table.insert(table, obj)`,
		`string.upper = nil`, `string.upper = function() return "x" end`, `math.left = 1 os.left = 1 table.left = 1`,
		`getmetatable(_G).__index.left = obj`, `getmetatable("").__index.left = obj`, `getmetatable(string).__index = {}`,
		`setmetatable(_G, {__index = function() return obj end})`, `setmetatable(string, nil)`, `("").__index.left = obj`,
		`rawset(("").__index or string, "left", obj)`, `for k in pairs(_G) do _G[k] = nil end`, `pairs = nil ipairs = nil`,
		`setmetatable(1, {__index = obj})`, `setmetatable(true, {__index = obj})`, `setmetatable(pairs, {__index = obj})`,
	} {
		t.Run(source, func(t *testing.T) {
			// With the race detector, a sync.Pool drops some interpreters, so the second Run can get a new interpreter.
			// Therefore, repeat the check.
			for range 2 {
				_, _ = interpreters.Run(compile(t, source), map[string]any{}, time.Time{})
				if got, err := interpreters.Run(absent, map[string]any{}, time.Time{}); got.Status != script.Healthy {
					t.Errorf("got %+v, error %v", got, err)
				}
			}
		})
	}
}

// This benchmark compares two cases: all runs use one pooled interpreter, or each run uses a new interpreter.
func BenchmarkHealthScriptRun(b *testing.B) {
	s := compile(b, `
		local hs = {status = "Progressing", message = "Waiting"}
		if obj.status ~= nil and obj.status.conditions ~= nil then
			for i, condition in ipairs(obj.status.conditions) do
				if condition.type == "Ready" and condition.status == "True" then
					hs.status, hs.message = "Healthy", condition.message
				end
			end
		end
		return hs`)
	object := map[string]any{
		"kind": "Certificate", "metadata": map[string]any{"name": "a", "generation": int64(1)},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Issuing", "status": "False", "message": "Done"},
			map[string]any{"type": "Ready", "status": "True", "message": "Up to date"},
		}},
	}
	for _, name := range []string{"pooled", "new"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			pooled := new(script.Interpreters)
			for b.Loop() {
				if name == "new" {
					pooled = new(script.Interpreters)
				}
				if _, err := pooled.Run(s, object, time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	loop := compile(b, `while true do end`)
	b.Run("limit", func(b *testing.B) {
		for b.Loop() {
			_, _ = new(script.Interpreters).Run(loop, object, time.Time{})
		}
	})
}
