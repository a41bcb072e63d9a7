// Finds accessibility problems with axe-core.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the violations of all rules in a page, each with its elements. */
export async function violations(page) {
  await page.evaluate(axe);
  return page.evaluate(async () =>
    (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(", ")}`),
  );
}
