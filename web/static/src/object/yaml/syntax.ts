// Colors a text that is YAML or JSON, such as a value of a ConfigMap, as highlight.ts colors the YAML of an object. The
// text is only colored, so its syntax need not be found exactly.

/** A part of a text, with the kind of its color. */
interface SyntaxSpan {
  readonly name: "key" | "string" | "number" | "word";
  readonly from: number;
  readonly to: number;
}

const minStructured = 0.8; // share of lines that must have the form of YAML

/** Colors a text that is YAML or JSON. Returns a function that removes the colors again. */
export function colorSyntax(node: Text): () => void {
  if (!("highlights" in CSS)) return () => undefined; // without this browser API, the text has no colors
  const added = syntaxOf(node.data).map(({ name, from, to }) => {
    const key = `yaml-${name}`;
    const highlight = CSS.highlights.get(key) ?? new Highlight();
    CSS.highlights.set(key, highlight);
    const range = new StaticRange({ startContainer: node, startOffset: from, endContainer: node, endOffset: to });
    highlight.add(range);
    return { highlight, range };
  });
  return () => {
    for (const { highlight, range } of added) highlight.delete(range);
  };
}

/** Returns the colored parts of a text. Empty if the text is neither YAML nor JSON. */
export const syntaxOf = (text: string): SyntaxSpan[] => (isJson(text) ? jsonSpans(text) : yamlSpans(text));

function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const jsonToken = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g;

function jsonSpans(text: string): SyntaxSpan[] {
  return [...text.matchAll(jsonToken)].map(({ index, 0: token, 1: quoted, 2: colon }) => ({
    name: colon !== undefined ? "key" : quoted !== undefined ? "string" : /^[tfn]/.test(token) ? "word" : "number",
    from: index,
    to: index + (quoted ?? token).length,
  }));
}

const yamlKey = /^( *(?:- +)*)("[^"]*"|'[^']*'|[\w.$/@<*-][^:#]*?)(: +|:$)/;
const yamlItem = /^ *(?:- +)+/;
const maxKeyLength = 500; // characters of a line in which a key is searched for
const yamlScalar = (value: string): SyntaxSpan["name"] =>
  /^[-+]?\d[\d_]*(\.\d+)?([eE][-+]?\d+)?$/.test(value)
    ? "number"
    : /^(true|false|null|yes|no|on|off|~)$/i.test(value)
      ? "word"
      : "string";

function yamlSpans(text: string): SyntaxSpan[] {
  const spans: SyntaxSpan[] = [];
  let [at, structured, others, keys] = [0, 0, 0, 0];
  let blockIndent = -1; // the indentation of the key of a block scalar, or -1 outside of one
  for (const line of text.split("\n")) {
    const start = at;
    at += line.length + 1;
    const indent = line.length - line.trimStart().length;
    if (line.trim() === "") continue;
    if (blockIndent >= 0 && indent > blockIndent) continue;
    blockIndent = -1;
    if (/^ *(#|---|\.\.\.)/.test(line)) continue;
    const found = yamlKey.exec(line.slice(0, maxKeyLength));
    const [prefix = ""] = found ?? yamlItem.exec(line) ?? [];
    if (prefix === "" && !/^ *[-\]}]/.test(line)) {
      others++;
      continue;
    }
    structured++;
    if (found !== null) {
      keys++;
      const from = start + (found[1]?.length ?? 0);
      spans.push({ name: "key", from, to: from + (found[2]?.length ?? 0) });
    }
    const value = line
      .slice(prefix.length)
      .replace(/(^| +)#.*$/, "")
      .trimEnd();
    if (/^[|>][-+\d]*$/.test(value)) blockIndent = indent;
    else if (value !== "") {
      const from = start + prefix.length;
      spans.push({ name: yamlScalar(value), from, to: from + value.length });
    }
  }
  return keys > 0 && structured >= minStructured * (structured + others) ? spans : [];
}
