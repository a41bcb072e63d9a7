import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Browser } from "../fake-browser.ts";
import { page, rendering, type Part } from "../fake-page.ts";
import { CreatedLink } from "../../static/src/share/share-created.tsx";
import { ShareDialog } from "../../static/src/share/share.tsx";
import type { NewLink } from "../../static/src/share/share-text.ts";
import { defaultView } from "../../static/src/model/view.ts";
import type { ListedKind } from "../../static/src/net/kinds.ts";
import { Live } from "../../static/src/net/live.ts";
import { mount } from "../../static/src/ui/view.tsx";

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

void test("a link for kiosk mode explains the rotation through several views", () => {
  const { part, element } = rendering();
  const link = {
    id: "a",
    to: "/",
    expires: "",
    created: "",
    lastUsed: "",
    note: "",
    creator: "",
    viewers: 0,
    parts: [],
  };
  const created: NewLink = { url: "https://x.example/share#token", persistent: true, link };
  Object.assign(globalThis, { location: { href: "https://x.example/" } });
  const none = (): void => undefined;
  const draw = (): void =>
    mount(element, <CreatedLink created={created} kinds={[]} now={0} another={none} done={none} />);
  draw();
  const rotation = (): string | undefined => part.querySelector(".share-rotation")?.textContent.replace(/\s+/g, " ");
  assert.equal(rotation(), undefined);
  part.querySelector("input[name=kiosk]")?.fire("change", { currentTarget: { checked: true } });
  draw();
  assert.match(rotation() ?? "", /Add #rotate=30&view=\/PATH&view=\/PATH to the URL, and reload the page\./);
});
