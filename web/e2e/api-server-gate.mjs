// A TCP proxy by which tests slow down, freeze or interrupt the connections to the API server.
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { apiServer } from "./cluster.mjs";
import { atEnd } from "./cleanup.mjs";

/** Starts the proxy on a free loopback port. Its field `rate` is the maximum of bytes per second to the client. */
export async function gate(t, to = apiServer) {
  const g = { rate: Infinity, down: false, flags: [], url: "" };
  const open = new Set();
  let thaw = () => {};
  let flowing = Promise.resolve(); // Pending while the connections are frozen.
  async function* unlessFrozen(source) {
    for await (const chunk of source) {
      await flowing;
      yield chunk;
    }
  }
  async function* slowly(source) {
    for await (const chunk of unlessFrozen(source)) {
      for (let i = 0; i < chunk.length; i += 4096) {
        const part = chunk.subarray(i, i + 4096);
        if (g.rate < Infinity) await pause((1000 * part.length) / g.rate);
        yield part;
      }
    }
  }
  const { hostname, port } = new URL(to);
  const server = createServer((client) => {
    if (g.down) return client.destroy();
    const far = connect(Number(port), hostname);
    for (const s of [client, far]) {
      open.add(s);
      s.on("error", () => {}); // ignore the error: a close event follows, which does the cleanup
      s.on("close", () => open.delete(s));
    }
    pipeline(client, unlessFrozen, far, () => client.destroy());
    pipeline(far, slowly, client, () => far.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  g.flags = ["--server", `https://127.0.0.1:${server.address().port}`];
  g.url = `http://127.0.0.1:${server.address().port}/`;
  g.cut = () => {
    g.down = true;
    for (const s of open) s.destroy();
  };
  /** Forwards no data any more, but keeps the connections open, and accepts further ones. */
  g.freeze = () => {
    flowing = new Promise((resolve) => {
      thaw = resolve;
    });
  };
  /** Forwards the data that has arrived meanwhile, and all further data. */
  g.thaw = () => thaw();
  atEnd(t, () => {
    g.thaw();
    g.cut();
    return new Promise((resolve) => server.close(resolve));
  });
  return g;
}
