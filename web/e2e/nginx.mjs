import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd } from "./cleanup.mjs";
import { until } from "./wait.mjs";

/** Starts nginx in front of the dashboard. With a host name, nginx serves TLS like an Ingress controller. */
export async function proxy(t, upstream, { base = "", timeout = 60, host, bind } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "glasshouse-nginx-"));
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address();
  taken.close();
  await once(taken, "close");
  const log = join(folder, "error.log");
  if (host)
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        `/CN=${host}`,
        "-addext",
        `subjectAltName=DNS:${host}`,
        "-keyout",
        join(folder, "key"),
        "-out",
        join(folder, "cert"),
      ],
      { stdio: "ignore", timeout: 20_000 },
    );
  writeFileSync(
    join(folder, "nginx.conf"),
    `
    worker_processes 1;
    pid ${folder}/pid;
    error_log ${log};
    events { worker_connections 256; }
    http {
      access_log off;
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
      server {
        listen 127.0.0.1:${port}${host ? " ssl" : ""};
        ${host ? `server_name ${host}; ssl_certificate ${folder}/cert; ssl_certificate_key ${folder}/key;` : ""}
        location ${base}/ {
          proxy_pass http://${upstream};
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $connection_upgrade;
          ${host ? "proxy_set_header X-Forwarded-For $remote_addr;" : ""}
          ${bind ? `proxy_bind ${bind};` : ""}
          proxy_read_timeout ${timeout}s;
          proxy_send_timeout ${timeout}s;
        }
      }
    }`,
  );
  const child = spawn(
    "nginx",
    ["-p", folder, "-e", log, "-c", join(folder, "nginx.conf"), "-g", "daemon off; user root;"],
    { stdio: "ignore" },
  );
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  atEnd(t, async () => {
    process.off("exit", kill);
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true });
  });
  await until("nginx", async () => {
    const s = connect(port, "127.0.0.1");
    await once(s, "connect");
    s.destroy();
    return true;
  });
  return {
    url: host ? `https://${host}/` : `http://127.0.0.1:${port}${base}/`,
    port,
    log: () => readFileSync(log, "utf8"),
  };
}
