import { SQL } from "bun";
import { chownSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../../app/support/running-service.ts";

/** The unprivileged user that Debian's package makes; the server refuses to run as root. */
const SERVER_USER = "postgres";

/** A command that starts or makes a server failed; the message is what it printed. */
class ClusterFailed extends Error {}

const newestFirst = (a: string, b: string) => b.localeCompare(a, "en", { numeric: true });

/** The folder of the server's programs, undefined where none is installed. */
export const serverPrograms = (): string | undefined => {
  const onPath = Bun.which("initdb");
  if (onPath !== null) return dirname(realpathSync(onPath));
  const debian = "/usr/lib/postgresql";
  if (!existsSync(debian)) return undefined;
  const version = readdirSync(debian).toSorted(newestFirst)[0];
  return version === undefined ? undefined : join(debian, version, "bin");
};

/** Somebody else may take the port that was free a moment ago. */
const MOST_STARTS = 5;

const isRoot = process.getuid?.() === 0;
/** What makes root the server's user, in a process that ends with this one, however this one ends. */
const AS_SERVER_USER = [
  "setpriv",
  "--reuid",
  SERVER_USER,
  "--regid",
  SERVER_USER,
  "--init-groups",
  "--pdeathsig",
  "KILL",
  "--",
];
/** The command as the server's user runs it. */
export const asServerUser = (command: ReadonlyArray<string>) =>
  isRoot ? [...AS_SERVER_USER, ...command] : [...command];

const run = (command: ReadonlyArray<string>, cwd: string): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd });
  if (exitCode !== 0) throw new ClusterFailed(`${command.join(" ")}: ${stderr.toString()}`);
  return stdout.toString().trim();
};

/** Whose the server's files are; null where this process runs it under its own name. */
export const idsOfServerUser = (): { readonly user: number; readonly group: number } | null => {
  if (!isRoot) return null;
  const id = (flag: string) => Number(run(["id", flag, SERVER_USER], tmpdir()));
  return { user: id("-u"), group: id("-g") };
};

/** A database server of one's own. */
export type Cluster = {
  readonly url: string;
  /** Ends the server and removes everything it wrote. */
  readonly stop: () => Promise<void>;
};

/** Whether a server answers a query. */
export const answers = async (url: string): Promise<boolean> => {
  const sql = new SQL(url, { max: 1, connectionTimeout: 1 });
  try {
    await sql.unsafe("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await sql.close({ timeout: 0 });
  }
};

type Started = {
  readonly url: string;
  readonly server: Bun.Subprocess<"ignore", "ignore", "pipe">;
};

/**
 * A started server that answers. One that ends, as it does when its port was taken meanwhile, is started again. @throws
 * ClusterFailed
 */
const untilListening = async (start: () => Started): Promise<Started> => {
  for (let tries = MOST_STARTS; ; tries--) {
    const started = start();
    const { server, url } = started;
    while (server.exitCode === null) {
      if (await answers(url)) return started;
      await Bun.sleep(50);
    }
    if (tries <= 1) throw new ClusterFailed(await new Response(server.stderr).text());
  }
};

/**
 * Starts a server in a temporary folder, on loopback only, that trusts whoever connects. It does not wait
 * for the disk: what it holds is not meant to outlive the machine.
 */
export const startCluster = async (programs: string): Promise<Cluster> => {
  const folder = mkdtempSync(join(tmpdir(), "postgres-"));
  const ids = idsOfServerUser();
  if (ids !== null) chownSync(folder, ids.user, ids.group);
  const data = join(folder, "data");
  const user = ["--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C"];
  run(asServerUser([join(programs, "initdb"), "--no-sync", `--pgdata=${data}`, ...user]), folder);
  const listening = await untilListening(() => {
    const port = freePort();
    const settings = {
      listen_addresses: "127.0.0.1",
      port,
      unix_socket_directories: folder,
      max_connections: 200,
      fsync: "off",
      full_page_writes: "off",
      logging_collector: "on",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = Bun.spawn(asServerUser([join(programs, "postgres"), "-D", data, ...flags]), {
      cwd: folder,
      stdout: "ignore",
      stderr: "pipe",
    });
    return { server, url: `postgres://test@127.0.0.1:${port}/postgres` };
  });
  const { server, url } = listening;
  const stop = async () => {
    // A fast shutdown: connections are closed, nothing is waited for.
    server.kill("SIGINT");
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop };
};
