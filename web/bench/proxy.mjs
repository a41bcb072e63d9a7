// A TCP proxy that counts the bytes between browser and dashboard.
import { connect, createServer } from "node:net";

/** Starts the proxy on a free loopback port, in front of the given port. */
export async function counting(t, port) {
  const count = { down: 0, up: 0 };
  const open = new Set();
  const server = createServer((client) => {
    const program = connect(port, "127.0.0.1");
    for (const s of [client, program]) {
      open.add(s);
      s.setNoDelay(true);
      s.on("error", () => {}); // ignore the error: a close event follows, which does the cleanup
      s.on("close", () => {
        open.delete(s);
        client.destroy();
        program.destroy();
      });
    }
    program.on("data", (d) => (count.down += d.length));
    client.on("data", (d) => (count.up += d.length));
    client.pipe(program);
    program.pipe(client);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const s of open) s.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${server.address().port}/`, count };
}
