import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Browser } from "../fake-browser.ts";
import { page, type Part } from "../fake-page.ts";
import { ShareDialog } from "../../static/src/share/share.tsx";
import { defaultView } from "../../static/src/model/view.ts";
import type { ListedKind } from "../../static/src/net/kinds.ts";
import { Live } from "../../static/src/net/live.ts";

void test("kinds that arrive while the dialog is open appear in it", () => {
  mock.timers.enable({ apis: ["setInterval"] });
  const pods = { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true };
  let kinds: ListedKind[] = [];
  const share = new ShareDialog({
    live: new Live("ws://x", new Browser(), () => undefined),
    now: () => 0,
    pageContent: () => ({
      kind: pods,
      view: { ...defaultView(pods.ref), ns: ["shop"] },
      object: null,
      tab: "",
    }),
    kinds: () => kinds,
  });
  share.open();
  const dialog = share.dialog as unknown as Part;
  const visible = (): string => dialog.querySelector(".share-visible")?.textContent ?? "";
  assert.match(visible(), /pods in shop/);
  kinds = [{ ...pods, group: "core" } as ListedKind];
  mock.timers.tick(1000);
  assert.match(visible(), /Pods in shop/);
  share.dialog.close();
  assert.equal(page.activeElement, null);
});
