import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { kubeconfig } from "./cluster.mjs";
import { atEnd } from "./cleanup.mjs";
import { within } from "./wait.mjs";

const binary = process.env["DASHBOARD"];
if (!binary) throw new Error("DASHBOARD must contain the path of the built dashboard");

export class Dashboard {
  binary = binary;

  /**
   * Starts the dashboard with a demo user's kubeconfig, or with the kubeconfig at the path `config`. Port 0 selects a
   * free port.
   */
  static async start(t, { user = "admin", port = 0, flags = [], config } = {}) {
    const d = new Dashboard();
    d.flags = flags;
    d.config = config;
    atEnd(t, () => d.stop());
    await d.run(user, port);
    return d;
  }

  async run(user, port) {
    this.user = user;
    this.log = [];
    const env = { ...process.env, KUBECONFIG: this.config ?? kubeconfig(user) };
    const child = spawn(this.binary, ["--listen", `127.0.0.1:${port}`, "--log-format", "json", ...this.flags], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.child = child;
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    this.ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
    const serving = new Promise((resolve, reject) => {
      child.once("error", reject);
      createInterface({ input: child.stderr }).on("line", (line) => {
        this.log.push(line);
        if (line.includes('"msg":"serving"')) resolve(JSON.parse(line).url);
      });
      void this.ended.then((code) => reject(new Error(`the dashboard ended with ${code}: ${this.log.join("\n")}`)));
    });
    serving.catch(() => {});
    this.url = await within("starting the dashboard", 20_000, serving);
    this.port = Number(new URL(this.url).port);
  }

  /** Sends SIGTERM. Fails for an exit code other than 0, or after 15 s. */
  async stop() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGTERM");
    try {
      const code = await within("ending the dashboard", 15_000, this.ended);
      if (code !== 0) throw new Error(`the dashboard ended with ${code}`);
    } finally {
      if (this.child.exitCode === null) this.child.kill("SIGKILL");
    }
  }

  /** Stops the dashboard, and starts another binary on the same port. */
  async upgrade(other) {
    await this.stop();
    this.binary = other;
    await this.run(this.user, this.port);
  }

  async restart() {
    await this.stop();
    await this.run(this.user, this.port);
  }
}
