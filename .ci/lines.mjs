#!/usr/bin/env node
// Fails for lines over 160 characters in Markdown, or 120 in code. A tab counts as one character. Also fails for
// executable files whose first line does not name their interpreter, for refused terms of several words, because cspell
// checks only single words, and for refused words in the summaries and comments of fixtures, because cspell ignores
// testdata.
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

function scriptsWithoutInterpreter() {
  const files = execFileSync("git", ["ls-files", "--format=%(objectmode) %(path)"], { encoding: "utf8" });
  return [...files.matchAll(/^100755 (.+)$/gm)]
    .map(([, file]) => file)
    .filter((file) => !readFileSync(file, "utf8").startsWith("#!"))
    .map((file) => `${file}: the first line must name the interpreter, for example #!/usr/bin/env bash`);
}

function refusedTerms() {
  const terms = /\b(?:go(?:es)? on|let go|taken? back|keep back|(?:that|what) is no(?= (?!longer))|but for)\b/gi;
  const quotations = /<!-- cspell:disable -->[\s\S]*?<!-- cspell:enable -->/g;
  const files = execFileSync("git", ["ls-files", ...code, "*.md", ":!.ci/lines.mjs", ...generated], {
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  return files.flatMap((file) =>
    readFileSync(file, "utf8")
      .replace(quotations, (text) => text.replace(/[^\n]/g, ""))
      .split("\n")
      .flatMap((line, n) => [...line.matchAll(terms)].map(([term]) => `${file}:${n + 1}: refused term "${term}"`)),
  );
}

function refusedWordsInFixtures() {
  const { flagWords } = JSON.parse(readFileSync(".ci/spelling/cspell.json", "utf8"));
  const words = new RegExp(`\\b(?:${flagWords.join("|")})\\b`, "gi");
  const messages = /"[^"]*"|`[^`]*`/g;
  const files = execFileSync("git", ["ls-files", "*/testdata/*.yaml"], { encoding: "utf8" }).trim().split("\n");
  return files.flatMap((file) => {
    // A summary in the fixtures of health is the expected output of the program.
    const isOutput = file.startsWith("internal/watch/health/");
    return readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, n) => {
        const [, comment, , summary] = line.match(/^(?: *#(.*)|summary: (["']?)(.*)\2)$/) ?? [];
        const prose = (comment ?? (isOutput ? "" : summary) ?? "").replace(messages, "");
        return [...prose.matchAll(words)].map(([word]) => `${file}:${n + 1}: refused word "${word}"`);
      });
  });
}

const found = [
  ...longLines(code, 120),
  ...longLines(["*.md"], 160),
  ...scriptsWithoutInterpreter(),
  ...refusedTerms(),
  ...refusedWordsInFixtures(),
];
for (const line of found) console.error(line);
process.exit(found.length > 0 ? 1 : 0);
