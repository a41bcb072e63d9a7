// Measures ten tasks of an incident on the demo cluster. A task starts on the home page. The script counts the key
// presses and clicks, and measures the time from the first one until the answer is painted. The time is shorter than
// that of a user, because the script does not pause to think.
import { patch } from "../e2e/cluster.mjs";
import { open, openHome } from "./page.mjs";
import { printTable } from "./table.mjs";

// An entry of `keys` is the name of a key (one press), a text (one press per character), or { shows }. At { shows },
// the script waits until this element is visible. A task is complete when a visible element of `where` contains text
// that matches `answer`. `first` is the effort in the first version of the page, measured by hand. `k9s` contains the
// keys for the same task in k9s and their number, according to its documentation.
const logLine = ".log-line";
const problem = "#rows > .finding";
const why = "#tbody .why";
const tasks = [
  {
    name: "find the broken Deployment, and its cause",
    where: problem,
    answer: /recommender[\s\S]*CrashLoopBackOff/,
    first: "about 45 keys or 7 clicks",
    k9s: ":deploy↵ /recom↵ ↵ d: 17",
  },
  {
    name: "read the log of the run that crashed, by keys",
    keys: ["/", "recom", "Enter", "Enter", { shows: ".replicas" }, "P"],
    where: logLine,
    answer: /\S/,
    first: "no key",
    k9s: ":deploy↵ /recom↵ ↵ p: 17",
  },
  {
    name: "the same, by mouse",
    click: `${problem}:has-text("recommender") a:has-text("Previous log")`,
    where: logLine,
    answer: /\S/,
    first: "4 to 7 clicks",
    k9s: "no mouse",
  },
  {
    name: "who has just changed the image of a Deployment",
    change: async () => {
      const image = "registry.example.com/shop/price-feed:bench";
      const containers = [{ name: "price-feed", image }];
      const options = { type: "application/strategic-merge-patch+json", manager: "kubectl-set" };
      await patch(
        "/apis/apps/v1/namespaces/shop/deployments/price-feed",
        { spec: { template: { spec: { containers } } } },
        options,
      );
    },
    where: ".rails",
    answer: /price-feed[\s\S]*kubectl-set/,
    first: "after 43 other changes",
    k9s: "not shown",
  },
  {
    name: "which Services do not answer, and why",
    keys: [":", "svc", "Enter"],
    where: why,
    answer: /no ready endpoints|has no endpoints/,
    first: "not shown",
    k9s: ":ep↵, without the reason: 4",
  },
  {
    name: "why is a pod not scheduled",
    keys: [":", "po", "Enter", { shows: "#tbody tr" }, "/", "trainer"],
    where: why,
    answer: /node|fits/i,
    first: "list: Pending; events: 3 keys",
    k9s: ":po↵ /trainer↵ d G: 15",
  },
  {
    name: "which node is not ready",
    keys: [":", "no", "Enter"],
    where: why,
    answer: /\S/,
    first: "below the fold of the sidebar",
    k9s: ":no↵: 4",
  },
  {
    name: "which autoscalers do not work, and why",
    where: problem,
    answer: /HorizontalPodAutoscaler[\s\S]*metrics/,
    first: "list: nothing; opened: the reason",
    k9s: ":hpa↵ d: 6",
  },
  {
    name: "which Ingress has no certificate",
    where: problem,
    answer: /Secret \S+ does not exist/,
    first: "not shown",
    k9s: ":ing↵ d :sec↵ /NAME↵: 16 or more",
  },
  {
    name: "all problems of one namespace",
    keys: [":", "ns shop", "Enter"],
    where: problem,
    answer: /storefront-canary[\s\S]*ImagePullBackOff/,
    first: "several lists",
    k9s: ":po shop↵, pods only: 9",
  },
];

/** Performs each task on a new page, and prints a table. */
export async function measureTasks(t, browser, url) {
  const rows = [];
  for (const task of tasks) {
    const page = await open(t, browser, 1);
    const opening = performance.now();
    await openHome(page, url);
    // If a task needs no input, the home page itself shows the answer. Then measure from the opening of the home page.
    let start = task.keys || task.click || task.change ? performance.now() : opening;
    if (task.change) {
      await task.change();
      start = performance.now();
    }
    let presses = 0;
    for (const keys of task.keys ?? []) {
      if (keys.shows) {
        await page.locator(keys.shows).first().waitFor();
        continue;
      }
      presses += /^[A-Z][a-z]+$/.test(keys) ? 1 : keys.length;
      if (/^[A-Z][a-z]+$/.test(keys)) await page.keyboard.press(keys);
      else await page.keyboard.type(keys);
    }
    if (task.click) await page.locator(task.click).first().click();
    await page.locator(task.where).filter({ hasText: task.answer, visible: true }).first().waitFor({ timeout: 30_000 });
    const seconds = (performance.now() - start) / 1000;
    rows.push([task.name, String(presses), task.click ? "1" : "0", `${seconds.toFixed(1)} s`, task.first, task.k9s]);
    await page.close();
  }
  printTable(["task", "key presses", "clicks", "time", "first version", "k9s: documented keys"], rows);
}
