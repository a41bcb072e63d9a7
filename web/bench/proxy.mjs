// A wire that counts: everything between the browser and the program goes
// through it, so that bytes are those that a network would carry.
import { connect, createServer } from "node:net";

/** Serves on a free port of loopback and leads to the port given. */
export async function counting(t, port) {
  const count = { down: 0, up: 0 };
  const open = new Set();
  const server = createServer((client) => {
    const program = connect(port, "127.0.0.1");
    for (const s of [client, program]) {
      open.add(s);
      s.setNoDelay(true);
      s.on("error", () => {}); // Its other end is told by the close.
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
