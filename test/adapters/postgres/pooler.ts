import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../app/support/running-service.ts";
import { answers, asServerUser, idsOfServerUser } from "./temporary-cluster.ts";

/** The file that operators are given; only addresses and what lets people in are the tests' own. */
const SHIPPED = fileURLToPath(new URL("../../../ops/pgbouncer.ini", import.meta.url));

/** PgBouncer before a server, in transaction mode. */
export type Pooler = {
  /** The server's address through the pooler. */
  readonly url: string;
  /** As `url`, of the standby. */
  readonly standbyUrl: string;
  /** Sends what is asked from now on to a primary and a standby at other ports. */
  readonly moveTo: (port: number, standbyPort: number) => void;
  readonly stop: () => Promise<void>;
};

/** Whether PgBouncer is installed. */
export const hasPooler = (): boolean => Bun.which("pgbouncer", { PATH: WIDER_PATH }) !== null;

/** Debian installs servers where only root looks. */
const WIDER_PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;

/** Starts PgBouncer with the shipped file, and more of its settings, before the server at `serverUrl`. */
export const startPooler = async (
  serverUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Pooler> => {
  const server = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), "pgbouncer-"));
  const ids = idsOfServerUser();
  if (ids !== null) chownSync(folder, ids.user, ids.group);
  const users = join(folder, "users.txt");
  writeFileSync(users, `"${server.username}" ""\n`);
  const file = join(folder, "pgbouncer.ini");
  const port = freePort();
  // The server's user may not be let into this folder, so the text is taken and not its path.
  const shipped = readFileSync(SHIPPED, "utf8");
  const write = (serverPort: number, standbyPort: number): void => {
    const own = {
      "*": `host=127.0.0.1 port=${serverPort}`,
      evidence_standby: `host=127.0.0.1 port=${standbyPort} dbname=${server.pathname.slice(1)}`,
      listen_port: String(port),
      auth_type: "trust",
      auth_file: users,
    };
    const lines = shipped.split("\n").map((line) => {
      const name = line.split(" = ")[0] ?? "";
      return Object.hasOwn(own, name) ? `${name} = ${own[name as keyof typeof own]}` : line;
    });
    const others = { auth_user: server.username, unix_socket_dir: "", ...more };
    const added = Object.entries(others).map(([name, value]) => `${name} = ${value}\n`);
    writeFileSync(file, lines.join("\n") + added.join(""));
  };
  write(Number(server.port), Number(server.port));
  const program = Bun.which("pgbouncer", { PATH: WIDER_PATH }) ?? "pgbouncer";
  const pooler = Bun.spawn(asServerUser([program, file]), {
    stdout: "ignore",
    stderr: Bun.file(join(folder, "log")),
  });
  const url = new URL(server);
  url.port = String(port);
  while (!(await answers(url.href))) {
    if (pooler.exitCode !== null) {
      const said = await Bun.file(join(folder, "log")).text();
      rmSync(folder, { recursive: true, force: true });
      throw new Error(`PgBouncer: ${said}`);
    }
    await Bun.sleep(20);
  }
  return {
    url: url.href,
    standbyUrl: Object.assign(new URL(url), { pathname: "/evidence_standby" }).href,
    moveTo: (serverPort, standbyPort) => {
      write(serverPort, standbyPort);
      pooler.kill("SIGHUP");
    },
    stop: async () => {
      pooler.kill("SIGTERM");
      await pooler.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
