#!/usr/bin/env node
// Fails for lines over 160 characters in Markdown, or 120 in code. A tab counts as one character.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const code = ["*.go", "*.ts", "*.tsx", "*.mjs"];
const generated = [":!*_templ.go", ":!web/static/dist", ":!*/testdata/*"];

function longLines(patterns, limit) {
  const files = execFileSync("git", ["ls-files", ...patterns, ...generated], { encoding: "utf8" })
    .trim()
    .split("\n");
  return files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, n) => {
        const { length } = [...line];
        if (length <= limit || line.startsWith("//go:")) return [];
        return [`${file}:${n + 1}: ${length} characters; the limit is ${limit}`];
      }),
  );
}

const found = [...longLines(code, 120), ...longLines(["*.md"], 160)];
for (const line of found) console.error(line);
process.exit(found.length > 0 ? 1 : 0);
