import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../app/support/running-service.ts";

/** The file that operators are given; only the addresses are the test's own. */
const SHIPPED = fileURLToPath(new URL("../../ops/haproxy.cfg", import.meta.url));

/** Debian installs servers where only root looks. */
const program = (): string | null =>
  Bun.which("haproxy", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` });

/** Whether HAProxy is installed. */
export const hasBalancer = (): boolean => program() !== null;

/** Starts HAProxy with the shipped file before replicas at these addresses, as many as the file names. */
export const startBalancer = async (replicas: ReadonlyArray<string>) => {
  const folder = mkdtempSync(join(tmpdir(), "haproxy-"));
  const file = join(folder, "haproxy.cfg");
  const port = freePort();
  let at = 0;
  const text = readFileSync(SHIPPED, "utf8")
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/^( {2}server \S+) .*$/gm, (_, server: string) => {
      const replica = new URL(replicas[at++] ?? "http://127.0.0.1:1");
      return `${server} ${replica.host}`;
    });
  if (at !== replicas.length) throw new Error(`the file has ${at} replicas`);
  writeFileSync(file, text);
  const balancer = Bun.spawn([program() ?? "haproxy", "-db", "-f", file], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  const isThere = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isThere())) {
    if (balancer.exitCode !== null) {
      rmSync(folder, { recursive: true, force: true });
      throw new Error("HAProxy did not start");
    }
    await Bun.sleep(50);
  }
  return {
    url,
    stop: async (): Promise<void> => {
      balancer.kill("SIGTERM");
      await balancer.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
