// Bundles and runs the unit tests, with the esbuild version of the build.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const web = import.meta.dirname;
const out = mkdtempSync(join(tmpdir(), "glasshouse-test-"));
let status = 1;
try {
  const tests = readdirSync(join(web, "test"), { recursive: true }).filter(
    (f) => /\.test\.tsx?$/.test(f) && f.includes(process.argv[2] ?? ""),
  );
  const build = [
    "tool",
    "esbuild",
    ...tests.map((f) => join("test", f)),
    "app=static/src/app.ts", // app.test.ts imports this bundle, once for each page
    "--bundle",
    "--platform=node",
    "--format=esm",
    "--sourcemap=inline",
    "--out-extension:.js=.mjs",
    "--outbase=test",
    `--outdir=${out}`,
    "--log-level=warning",
  ];
  execFileSync("go", build, { cwd: web, stdio: "inherit" });
  const built = tests.map((f) => join(out, f.replace(/tsx?$/, "mjs")));
  status =
    spawnSync(process.execPath, ["--enable-source-maps", "--test", ...built], { cwd: web, stdio: "inherit" }).status ??
    1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
process.exitCode = status;
