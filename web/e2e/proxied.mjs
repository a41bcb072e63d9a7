// A reverse proxy with another address than the dashboard, like an Ingress.
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { atEnd } from "./cleanup.mjs";

/** Starts the proxy on a free loopback port. The field `requests` contains the paths of requests. */
export async function proxied(t) {
  const p = { requests: [], to: null };
  const open = new Set();
  const keep = (s) => {
    open.add(s);
    s.on("error", () => s.destroy()); // destroy emits a close event, which does the cleanup
    s.on("close", () => open.delete(s));
  };
  const server = createServer((from, answer) => {
    p.requests.push(from.url);
    const { hostname, port, host } = p.to;
    const r = request(
      {
        hostname,
        port,
        method: from.method,
        path: from.url,
        headers: { ...from.headers, host, "x-forwarded-for": "192.0.2.1" },
      },
      (a) => {
        answer.writeHead(a.statusCode, a.headers);
        a.pipe(answer);
      },
    );
    r.on("error", () => answer.destroy());
    from.pipe(r);
  });
  server.on("connection", keep);
  server.on("upgrade", (from, client, head) => {
    p.requests.push(from.url);
    const far = connect(Number(p.to.port), p.to.hostname, () => {
      const headers = Object.entries({ ...from.headers, host: p.to.host }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      far.write(`GET ${from.url} HTTP/1.1\r\n${headers.join("")}\r\n`);
      far.write(head);
      far.pipe(client).pipe(far);
    });
    keep(far);
    far.on("close", () => client.destroy());
    client.on("close", () => far.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  p.origin = `http://localhost:${server.address().port}`;
  atEnd(t, () => {
    for (const s of open) s.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return p;
}
