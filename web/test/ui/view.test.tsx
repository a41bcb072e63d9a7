import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { rendering } from "../fake-page.ts";
import { Age, memo, mount, unmount, useHighlight, ViewState } from "../../static/src/ui/view.tsx";

const rendered = (): Promise<void> => new Promise((done) => setTimeout(done));

void test("ages are updated at every tick, and only while they are shown", async () => {
  let now = Date.parse("2026-01-01T00:00:10Z");
  let formatted = 0;
  const state = new ViewState(() => now);
  const { part, element } = rendering();
  const format = (wire: string, at: number): string => {
    formatted++;
    return String((at - Date.parse(wire)) / 1000);
  };
  mount(
    element,
    <p>
      <Age wire="2026-01-01T00:00:00Z" format={format} />
    </p>,
    state,
  );
  assert.equal(part.html, "<main><p>10</p></main>");
  now += 1000;
  state.tick();
  await rendered();
  assert.equal(part.html, "<main><p>11</p></main>");
  mount(
    element,
    <p>
      <Age wire="2026-01-01T00:00:05Z" format={format} />
    </p>,
    state,
  );
  assert.equal(part.html, "<main><p>6</p></main>");
  now += 5000;
  state.tick();
  await rendered();
  assert.equal(part.html, "<main><p>11</p></main>", "the age is computed from the newest timestamp");
  unmount(element);
  assert.equal(part.html, "<main></main>");
  formatted = 0;
  state.tick();
  assert.equal(formatted, 0);
});

void test("only changes after the first rendering are highlighted", () => {
  const state = new ViewState(() => 0);
  const { part, element } = rendering();
  const Value = ({ text }: { text: string | null }) => <b ref={useHighlight<HTMLElement>(text)}>{text}</b>;
  const isHighlighted = (): boolean => part.firstElementChild?.hasAttribute("data-changed") === true;
  mount(element, <Value text="a" />, state);
  assert.equal(isHighlighted(), false);
  state.highlightsChanges = true;
  mount(element, <Value text="a" />, state);
  mount(element, <Value text={null} />, state);
  assert.equal(isHighlighted(), false);
  mount(element, <Value text="b" />, state);
  assert.equal(isHighlighted(), true);
  unmount(element);
});

void test("a memo component is rendered again only if a prop changes", () => {
  let renders = 0;
  const Row = memo(({ name }: { name: string }) => {
    renders++;
    return <li>{name}</li>;
  });
  const { part, element } = rendering();
  const show = (...names: string[]): void =>
    mount(
      element,
      names.map((name) => <Row key={name} name={name} />),
    );
  show("a", "b");
  show("b", "a");
  assert.equal(part.html, "<main><li>b</li><li>a</li></main>");
  assert.equal(renders, 2);
});

void test("invisible characters are shown in texts, tooltips and labels", () => {
  const { part, element } = rendering();
  const Bare = ({ text }: { text: string }) => <>{text}</>;
  const hostile = "a\u202eb";
  const marked = 'a<span class="invisible-char" data-codepoints="U+202E">\u202e</span>b';
  const show = (text: string): void =>
    mount(
      element,
      <section title={text} aria-label={text} class={text}>
        {text}
        {[text]}
        <Bare text={text} />
      </section>,
    );
  show(hostile);
  const attributes = `title="a[U+202E]b" aria-label="a[U+202E]b" class="${hostile}"`;
  assert.equal(part.html, `<main><section ${attributes}>${marked.repeat(3)}</section></main>`);
  show("ab");
  assert.equal(part.html, `<main><section title="ab" aria-label="ab" class="ab">${"ab".repeat(3)}</section></main>`);
  show(hostile);
  assert.equal(part.html, `<main><section ${attributes}>${marked.repeat(3)}</section></main>`);
});

const folder = "static/src/";
const files = readdirSync(folder, { recursive: true }).filter((f) => /\.tsx?$/.test(f));

void test("no file sets HTML from a string", () => {
  assert.ok(files.length > 100);
  for (const file of files)
    assert.doesNotMatch(
      readFileSync(folder + file, "utf8"),
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacent/,
    );
});

void test("the first page does not load Preact", () => {
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    // Find the imports that load with the first page, which are not imports of types or imports on demand.
    for (const [, name = ""] of readFileSync(folder + file, "utf8").matchAll(
      /^(?:import|export)(?! type)\b[^;"]*?"([^"]+)";/gm,
    )) {
      assert.ok(!name.startsWith("preact"), `${file} imports ${name}`);
      if (!name.startsWith(".")) continue;
      const path = new URL(name, `file:///${file}`).pathname.slice(1);
      assert.ok(!path.endsWith("x"), `${file} imports ${name}, which is a view that must load on demand`);
      load(path);
    }
  };
  load("app.ts");
  load("list/pages.ts");
  load("share/share-landing.ts");
  assert.ok(loaded.size > 50, `only ${loaded.size} files were found`);
  assert.ok(loaded.has("list/row.ts") && !loaded.has("palette/palette.ts"));
});
