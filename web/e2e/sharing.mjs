import jsQR from "jsqr";
import { become } from "./wait.mjs";

/** Creates a share link in the dialog, and returns its URL. The function `choose` fills in the form. */
export async function share(page, choose = async () => {}) {
  await page.locator("button.share-button:visible").click();
  await page.locator(".share-form").waitFor();
  await choose(page.locator(".share-form"));
  await page.getByRole("button", { name: "Create link" }).click();
  return made(page);
}

/** Waits for the new link in the dialog, and returns its URL. */
export async function made(page) {
  await page.locator(".share-url").waitFor();
  return page.locator(".share-url").inputValue();
}

/** Opens a share link and waits for live data. */
export async function openLink(page, url) {
  await page.goto(url);
  await page.locator('#status[data-state="live"]').waitFor();
}

/** Returns the text of the QR code in the dialog. */
export async function readCode(page) {
  const { d, size } = await page
    .locator(".share-code svg")
    .evaluate((e) => ({ d: e.querySelector("path").getAttribute("d"), size: e.viewBox.baseVal.width }));
  const scale = 4;
  const side = size * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x, y, width] of d.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g)) {
    for (let row = y * scale; row < (Number(y) + 1) * scale; row++) {
      for (let column = x * scale; column < (Number(x) + Number(width)) * scale; column++)
        pixels.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3);
    }
  }
  return jsQR(pixels, side, side)?.data;
}

/** Revokes the only share link in the dialog. */
export async function revoke(page) {
  if (!(await page.locator("#sharing[open]").count())) await page.locator("button.share-button:visible").click();
  await page.getByRole("tab", { name: "Links" }).click();
  // An open dialog can still list a link that has ended, until the dialog updates its list.
  await become("the number of links", () => page.locator(".share-links > li").count(), 1);
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.locator(".share-links button.danger").click();
  await become("the number of links", () => page.locator(".share-links > li").count(), 0);
}
