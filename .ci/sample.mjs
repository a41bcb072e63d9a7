#!/usr/bin/env node
// Prints random comments or commit subjects for readers who do not know the code:
// .ci/sample.mjs comments|subjects [COUNT] [SEED].
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const kind = process.argv[2] ?? "comments";
const count = Number(process.argv[3] ?? 60);
// The same seed selects the same texts.
const seed = Number(process.argv[4] ?? Math.floor(Math.random() * 2 ** 32));

// The state of mulberry32, a generator of pseudorandom numbers.
let state = seed >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

const patterns = [
  ...["*.go", "*.ts", "*.tsx", "*.mjs", "*.templ", "*.css", ".ci", "deploy"],
  ...[":!*_templ.go", ":!web/static/dist", ":!*.json", ":!*.md", ":!deploy/demo/internal/seed/workload"],
];
// strings matches complete string literals. They can contain //, as in "queue // /a".
const strings = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`/g;
// withoutProse matches lines that contain no prose: references to invariants, and directives for a linter.
const withoutProse = /^(?:\/\/|#|\/\*) ?(?:Invariant: [I\d, ]+\.|nolint:\S+|biome-ignore\b.*)$/;

function readComments() {
  const files = execFileSync("git", ["ls-files", ...patterns], { encoding: "utf8" })
    .trim()
    .split("\n");
  const comments = [];
  for (const file of files) {
    const isSlash = /\.(go|tsx?|mjs|templ|css)$/.test(file);
    const [start, next, trailing] = isSlash
      ? [/^\s*\/\/ /, /^\s*\/\//, /^(.*\S.*?)\s\/[/*] (?!nolint)./]
      : [/^\s*# /, /^\s*#/, /^(.*\S.*?)\s# ./];
    const lines = readFileSync(file, "utf8").split("\n");
    for (let from = 0; from < lines.length; from++) {
      let to = from;
      if (/^\s*\{*\/\*/.test(lines[from])) {
        while (to < lines.length && !lines[to].includes("*/")) to++;
        to++;
      } else if (start.test(lines[from])) {
        while (next.test(lines[to] ?? "")) to++;
      } else {
        const code = trailing.exec(lines[from].replace(strings, ""))?.[1];
        if (code === undefined || /["'`]/.test(code)) continue;
        comments.push({ file, line: from + 1, text: lines[from].trim() });
        continue;
      }
      const isProse = lines.slice(from, to).some((line) => !withoutProse.test(line.trim()));
      const text = [...lines.slice(from, to), lines[to] ?? ""].map((line) => line.trim()).join("\n");
      if (isProse) comments.push({ file, line: from + 1, text });
      from = to;
    }
  }
  return comments;
}

function readSubjects() {
  const log = execFileSync("git", ["log", "--no-merges", "--format=%h %s"], { encoding: "utf8" });
  return log
    .trim()
    .split("\n")
    .map((text) => ({ text }));
}

const texts = kind === "subjects" ? readSubjects() : readComments();
console.log(`seed ${seed}: ${count} of ${texts.length} ${kind}\n`);
for (let n = 0; n < count && texts.length > 0; n++) {
  const [{ file, line, text }] = texts.splice(Math.floor(random() * texts.length), 1);
  console.log(`${n + 1}. ${file === undefined ? "" : `${file}:${line}\n`}${text}\n`);
}
