#!/usr/bin/env node
// Prints the size of the code base. With --check, it exits with 1 if a value exceeds its limit.
import { execFileSync } from "node:child_process";
import { readFileSync, existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const run = (command, ...args) => execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26 });
const tracked = run("git", "ls-files")
  .split("\n")
  .filter((file) => file && existsSync(file));
const read = (file) => readFileSync(file, "utf8");
const lines = (file) => read(file).split("\n").length - 1;
const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
function groups(files) {
  const byFolder = new Map();
  for (const file of files) byFolder.set(dirname(file), [...(byFolder.get(dirname(file)) ?? []), file]);
  return byFolder;
}

const isProgram = (file) => /^(cmd|internal|web)\/|^[^/]+\.go$/.test(file);
// Do not count the fake API server and the WebSocket client: only tests use them.
const isTestHelper = (file) => /^internal\/(livetest|watch\/apitest)\//.test(file);
const isSource = (file) =>
  file.endsWith(".go") && !/_test\.go$|_templ\.go$/.test(file) && isProgram(file) && !isTestHelper(file);
const go = tracked.filter(isSource);
const script = tracked.filter((file) => /^web\/static\/src\/.*\.tsx?$/.test(file));
const packages = [...groups(go)].map(([folder, files]) => ({ folder, lines: sum(files.map(lines)) }));
const largest = packages.toSorted((a, b) => b.lines - a.lines)[0];
const folders = [...groups([...go, ...script])].map(([folder, files]) => ({ folder, files: files.length }));
const fullest = folders.toSorted((a, b) => b.files - a.files)[0];
const longestFile = go.map((file) => ({ file, lines: lines(file) })).toSorted((a, b) => b.lines - a.lines)[0];

function mostMethods() {
  const counts = new Map();
  for (const file of go) {
    for (const [, type] of read(file).matchAll(/^func \(\w+ \*?(\w+)(?:\[[^\]]*\])?\) /gm)) {
      const name = `${dirname(file)}.${type}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].map(([name, count]) => ({ name, count })).toSorted((a, b) => b.count - a.count)[0];
}

// imports has the imported files of each TypeScript file.
const imports = new Map(
  script.map((file) => {
    const targets = [...read(file).matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g)].map(([, path]) => {
      const stem = normalize(join(dirname(file), path)).replace(/\.[jt]sx?$/, "");
      return [`${stem}.ts`, `${stem}.tsx`].find((name) => script.includes(name));
    });
    return [file, targets.filter(Boolean)];
  }),
);

// wrongImports counts the imports of shared folders from folders that ARCHITECTURE.md names later, or from views.
function wrongImports() {
  const order = ["text", "net", "model", "ui", "chart"];
  const folderOf = (file) => file.split("/")[3];
  const isFolder = (file) => !folderOf(file).includes(".");
  const rank = (file) => (order.includes(folderOf(file)) ? order.indexOf(folderOf(file)) : order.length);
  const shared = [...imports].filter(([file]) => order.includes(folderOf(file)));
  const isWrong = (file, target) => isFolder(target) && rank(target) > rank(file);
  return sum(shared.map(([file, targets]) => targets.filter((target) => isWrong(file, target)).length));
}

function cycles() {
  const found = [],
    stack = [],
    numbers = new Map(),
    lowest = new Map();
  const visit = (file) => {
    numbers.set(file, numbers.size);
    lowest.set(file, numbers.get(file));
    stack.push(file);
    for (const target of imports.get(file)) {
      if (!numbers.has(target)) visit(target);
      if (stack.includes(target)) lowest.set(file, Math.min(lowest.get(file), lowest.get(target)));
    }
    if (lowest.get(file) !== numbers.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) found.push(group);
  };
  for (const file of script) if (!numbers.has(file)) visit(file);
  return found;
}

// longLines counts the lines over 120 characters, without directives such as go:generate.
function longLines(files) {
  const all = files.flatMap((file) => read(file).split("\n"));
  return all.filter((line) => [...line].length > 120 && !line.startsWith("//go:")).length;
}

// refusedWords counts the words that the spelling check refuses, with the exceptions of that check.
function refusedWords(files) {
  const { flagWords, patterns } = JSON.parse(read(".ci/spelling/cspell.json"));
  const refused = new Set(flagWords.map((word) => word.toLowerCase()));
  const exceptions = patterns.map(({ pattern }) => new RegExp(...pattern.match(/^\/(.*)\/(\w*)$/).slice(1)));
  const quotations = /<!-- cspell:disable -->[\s\S]*?<!-- cspell:enable -->/g;
  const texts = files.map((file) => exceptions.reduce((text, e) => text.replace(e, ""), read(file)));
  const words = texts.flatMap((text) => text.replace(quotations, "").match(/[A-Z]?[a-z]+/g) ?? []);
  return words.filter((word) => refused.has(word.toLowerCase())).length;
}

// pathTypes counts the types that ARCHITECTURE.md names on the path of a change. Each must exist in its file.
function pathTypes() {
  const listed = [...read("ARCHITECTURE.md").matchAll(/^\| \d+ \| `(?:\w+\.)?(\w+)` \| `([^`]+)`/gm)];
  for (const [, type, path] of listed) {
    const folder = path.endsWith(".ts") ? "web/static/src/" : path.startsWith("internal/") ? "" : "internal/watch/";
    const file = folder + path;
    const isDeclared = existsSync(file) && new RegExp(`^(?:type|export class) ${type}\\b`, "m").test(read(file));
    if (!isDeclared) throw new Error(`ARCHITECTURE.md: ${file} does not declare the type ${type}`);
  }
  return listed.length;
}

const written = tracked.filter(
  (file) => /\.(?:go|tsx?|css|md)$/.test(file) && !/_templ\.go$|\/testdata\/|^web\/static\/dist\//.test(file),
);
const methods = mostMethods();
const exports = tracked.filter((file) => file.endsWith("export_test.go"));
const longestExports = exports.map((file) => ({ file, lines: lines(file) })).toSorted((a, b) => b.lines - a.lines)[0];
// The files faults.go put informers and readers into rare states, for tests of other packages.
const hooks = tracked.filter((file) => /(?:export_test|\/faults)\.go$/.test(file));
const isClient = (file) => file.endsWith(".go") && /websocket\.Dial\(|"Sec-WebSocket-Key: /.test(read(file));
const clients = new Set(tracked.filter(isClient).map(dirname));
const rows = [
  { row: "lines of the largest Go package", value: largest.lines, limit: 1600, goal: 1600, where: largest.folder },
  { row: "lines of the median Go package", value: median(packages.map((one) => one.lines)), limit: 600, goal: 600 },
  { row: "files in one folder, without tests", value: fullest.files, limit: 25, goal: 25, where: fullest.folder },
  { row: "import cycles in TypeScript (Go refuses them)", value: cycles().length, limit: 0, goal: 0 },
  { row: "imports against the order of shared folders", value: wrongImports(), limit: 0, goal: 0 },
  { row: "lines of the median Go file", value: median(go.map(lines)), limit: 110, goal: 110 },
  { row: "lines of the largest Go file", value: longestFile.lines, limit: 350, goal: 350, where: longestFile.file },
  {
    row: "lines over 120 columns in Go and TypeScript",
    value: longLines(written.filter((file) => /\.(?:go|tsx?)$/.test(file))),
    limit: 0,
    goal: 0,
  },
  { row: "methods of one Go type", value: methods.count, limit: 25, goal: 25, where: methods.name },
  {
    row: "exported declarations of internal/watch",
    limit: 30,
    goal: 30,
    value: run("go", "doc", "-short", "./internal/watch").trim().split("\n").length,
  },
  { row: "types on the path of a change", value: pathTypes(), limit: 14, goal: 14 },
  { row: "words that the spelling check refuses", value: refusedWords(written), limit: 0, goal: 0 },
  {
    row: "lines of the largest export_test.go",
    value: longestExports.lines,
    limit: 80,
    goal: 80,
    where: longestExports.file,
  },
  { row: "lines of all test hooks in Go", value: sum(hooks.map(lines)), limit: 325, goal: 80 },
  { row: "packages that open a WebSocket in Go tests", value: clients.size, limit: 1, goal: 1 },
  { row: "bytes of ARCHITECTURE.md", value: Buffer.byteLength(read("ARCHITECTURE.md")), limit: 12288, goal: 12288 },
  { row: "lines of Go of the program, without tests", value: sum(go.map(lines)), limit: 66500, goal: 25000 },
  { row: "lines of TypeScript, without tests", value: sum(script.map(lines)), limit: 30300, goal: 13500 },
];
const width = Math.max(...rows.map(({ row }) => row.length));
console.log(`${"".padEnd(width)}  value  limit   goal`);
for (const { row, value, limit, goal, where } of rows) {
  const cells = [value, limit ?? "-", goal].map((cell) => String(cell).padStart(6)).join(" ");
  console.log(`${row.padEnd(width)} ${cells}  ${where ?? ""}`.trimEnd());
}
const exceeded = rows.filter(({ value, limit }) => limit !== undefined && value > limit);
for (const { row, value, limit } of exceeded) console.error(`${row}: ${value} exceeds ${limit}`);
if (process.argv.includes("--check") && exceeded.length > 0) process.exit(1);
