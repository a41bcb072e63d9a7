#!/usr/bin/env node
// Prints random comments for readers who do not know the code: .ci/sample.mjs [COUNT] [SEED].
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const count = Number(process.argv[2] ?? 60);
// The same seed selects the same comments.
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 32));

// The state of mulberry32, a generator of pseudorandom numbers.
let state = seed >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

const files = execFileSync("git", ["ls-files", "*.go", "*.ts", "*.mjs"], { encoding: "utf8" })
  .split("\n")
  .filter((file) => file && !file.endsWith("_templ.go"));
const comments = [];
for (const file of files) {
  const lines = readFileSync(file, "utf8").split("\n");
  for (let from = 0; from < lines.length; from++) {
    if (!/^\s*\/\/ /.test(lines[from])) {
      const [, code, trailing] = /^(.*\S.*?)\s\/\/ (?!nolint)(.+)$/.exec(lines[from]) ?? [];
      if (trailing && !/["'`:]$/.test(code)) comments.push({ file, line: from + 1, text: lines[from].trim() });
      continue;
    }
    let to = from;
    while (/^\s*\/\//.test(lines[to] ?? "")) to++;
    const text = [...lines.slice(from, to), lines[to] ?? ""].map((line) => line.trim()).join("\n");
    comments.push({ file, line: from + 1, text });
    from = to;
  }
}
console.log(`seed ${seed}: ${count} of ${comments.length} comments\n`);
for (let n = 0; n < count; n++) {
  const [one] = comments.splice(Math.floor(random() * comments.length), 1);
  console.log(`${n + 1}. ${one.file}:${one.line}\n${one.text}\n`);
}
