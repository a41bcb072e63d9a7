// A TCP proxy between the browser and the dashboard. It counts the bytes in both directions.
import { connect, createServer } from "node:net";

/** Starts the proxy on a free loopback port. It forwards connections to the given port. */
export async function counting(t, port) {
  const count = { down: 0, up: 0 };
  const open = new Set();
  const server = createServer((client) => {
    const program = connect(port, "127.0.0.1");
    for (const s of [client, program]) {
      open.add(s);
      s.setNoDelay(true);
      s.on("error", () => {}); // An error is followed by a close event, which does the cleanup.
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
