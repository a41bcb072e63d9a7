import assert from "node:assert/strict";
import { test } from "node:test";
import "../../fake-page.ts";
import { cardWidth, columnsOf, type GraphLayout } from "../../../static/src/object/related/graph-layout.ts";
import { PanZoom } from "../../../static/src/object/related/pan-zoom.ts";

const gap = 36; // between two columns, as in layout-worker.ts
const margin = 12;

/** A layout with two cards in each column. */
function layoutOf(columns: number): GraphLayout {
  const x = (column: number): number => margin + column * (cardWidth + gap) + cardWidth / 2;
  const nodes = Array.from(
    { length: columns * 2 },
    (_, i) => [`${i}`, { x: x(i >> 1), y: 40 + 52 * (i % 2) }] as const,
  );
  return { width: 2 * margin + columns * (cardWidth + gap) - gap, height: 140, nodes: new Map(nodes), links: [] };
}

/** Fits a graph around a column. Returns its scale, and the visible columns with how much of each is visible. */
function fit(columns: number, center: number, width: number, showsAll = false) {
  const layout = layoutOf(columns);
  const all = columnsOf(layout);
  const panZoom = new PanZoom();
  Object.assign(panZoom.element, { clientWidth: width, clientHeight: 600 });
  panZoom.show(layout.width, layout.height);
  panZoom.fit(layout.nodes.get(String(center * 2)) ?? { x: 0, y: 0 }, showsAll ? [] : all);
  const { transform } = (panZoom.element.firstElementChild as HTMLElement).style;
  const [, x = "", , scale = ""] = /translate\((-?\d+)px, (-?\d+)px\) scale\(([\d.]+)\)/.exec(transform) ?? [];
  const shown = all.map(({ left, right }) => {
    const [from, to] = [left * Number(scale) + Number(x), right * Number(scale) + Number(x)];
    return Math.max(0, Math.min(to, width) - Math.max(from, 0)) / (to - from);
  });
  return { scale: Number(scale), shown };
}

void test("the first drawing shows complete columns around the object, in a legible size", () => {
  for (let width = 400; width <= 1400; width += 3)
    for (const columns of [1, 2, 5, 9])
      for (let center = 0; center < columns; center++) {
        const { scale, shown } = fit(columns, center, width);
        const state = `${columns} columns at ${center} in ${width} pixels, scale ${scale}: ${shown.join()}`;
        assert.ok(scale >= 0.65 && scale <= 1, state);
        assert.ok((shown[center] ?? 0) > 0.99, state);
        for (const part of shown) assert.ok(part < 0.05 || part > 0.99, state);
      }
});

void test("next to a list of 1024 pixels, a Deployment is shown with its pods", () => {
  // Service, Deployment, ReplicaSet, pods, and what the pods use
  const { shown } = fit(5, 1, 532);
  assert.deepEqual(
    shown.map((part) => part > 0.99),
    [true, true, true, true, false],
  );
});

void test("a graph that fits is shown completely, and so is each graph on request", () => {
  assert.equal(fit(5, 1, 1000).scale, 1);
  assert.ok(fit(5, 1, 800).shown.every((part) => part > 0.99));
  assert.ok(fit(9, 1, 532, true).shown.every((part) => part > 0.99));
});
