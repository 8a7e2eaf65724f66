import { SQL } from "bun";
import { chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answers, asServerUser, idsOfServerUser } from "../adapters/postgres/temporary-cluster.ts";
import { freePort } from "../app/support/running-service.ts";

/** A running server and what it stores. */
type Server = {
  readonly data: string;
  readonly port: number;
  readonly process: Bun.Subprocess<"ignore", "ignore", "ignore">;
};

/** The process and all that it has started: a server's backends outlive it for a moment. */
const withChildren = (pid: number): ReadonlyArray<number> => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return [pid, ...(children === "" ? [] : children.split(" ").map(Number))];
  } catch {
    return [pid];
  }
};

const killed = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
};

/**
 * A primary and a standby that streams from it, on loopback. A commit waits for the standby: what was acknowledged is in
 * both, as an operator must set it who wants to lose nothing with the primary.
 */
export class DatabasePair {
  readonly #programs: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "postgres-pair-"));
  #made = 0;
  #primary: Server | null = null;
  #standby: Server | null = null;

  constructor(programs: string) {
    this.#programs = programs;
    const ids = idsOfServerUser();
    if (ids !== null) chownSync(this.#folder, ids.user, ids.group);
  }

  get primaryPort(): number {
    return this.#primary?.port ?? 1;
  }

  get standbyPort(): number {
    return this.#standby?.port ?? 1;
  }

  get url(): string {
    return `postgres://test@127.0.0.1:${this.primaryPort}/postgres`;
  }

  async #run(program: string, ...args: ReadonlyArray<string>): Promise<void> {
    const command = asServerUser([join(this.#programs, program), ...args]);
    const child = Bun.spawn(command, { cwd: this.#folder, stdout: "ignore", stderr: "pipe" });
    if ((await child.exited) !== 0)
      throw new Error(`${program}: ${await new Response(child.stderr).text()}`);
  }

  async #serve(data: string, port: number): Promise<Server> {
    const settings = {
      listen_addresses: "127.0.0.1",
      port,
      unix_socket_directories: this.#folder,
      max_connections: 100,
      // The processes are killed, the machine is not: what was written is there.
      fsync: "off",
      full_page_writes: "off",
      hot_standby: "on",
      max_wal_size: "256MB",
      wal_receiver_timeout: "5s",
      wal_retrieve_retry_interval: "100ms",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = {
      data,
      port,
      process: Bun.spawn(asServerUser([join(this.#programs, "postgres"), "-D", data, ...flags]), {
        cwd: this.#folder,
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      }),
    };
    const url = `postgres://test@127.0.0.1:${port}/postgres`;
    while (!(await answers(url))) {
      if (server.process.exitCode !== null) throw new Error(`the server on ${data} ended`);
      await Bun.sleep(20);
    }
    return server;
  }

  async #onPrimary(...statements: ReadonlyArray<string>): Promise<ReadonlyArray<unknown>> {
    await using sql = new SQL(this.url, { max: 1, connectionTimeout: 5 });
    let rows: ReadonlyArray<unknown> = [];
    for (const statement of statements) rows = Array.from(await sql.unsafe(statement));
    return rows;
  }

  async start(): Promise<void> {
    const data = join(this.#folder, "0");
    const user = ["--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C"];
    await this.#run("initdb", "--no-sync", `--pgdata=${data}`, ...user);
    this.#primary = await this.#serve(data, freePort());
    await this.addStandby();
  }

  /** Makes a standby of the primary, and has commits wait for it from now on. */
  async addStandby(): Promise<void> {
    const data = join(this.#folder, String(++this.#made));
    const from = ["-h", "127.0.0.1", "-p", String(this.primaryPort), "-U", "test"];
    await this.#run("pg_basebackup", ...from, "-D", data, "-R", "-X", "stream", "-c", "fast", "-N");
    this.#standby = await this.#serve(data, freePort());
    await this.#onPrimary(
      "ALTER SYSTEM SET synchronous_standby_names = '*'",
      "SELECT pg_reload_conf()",
    );
    await this.untilInStep();
  }

  /** Waits until the primary says that the standby confirms what is committed. */
  async untilInStep(): Promise<void> {
    for (;;) {
      const rows = await this.#onPrimary(
        "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')",
      );
      if (rows.length > 0) return;
      await Bun.sleep(20);
    }
  }

  /** Ends the primary and its backends as a power cut does. */
  async killPrimary(): Promise<void> {
    const { process: server } = this.#primary ?? {};
    if (server === undefined) return;
    for (const pid of withChildren(server.pid)) killed(pid);
    await server.exited;
  }

  /** Starts the killed primary again where it was. */
  async restartPrimary(): Promise<void> {
    if (this.#primary === null) throw new Error("there was no primary");
    const { data, port } = this.#primary;
    this.#primary = await this.#serve(data, port);
  }

  /** Makes the standby the primary, without a standby of its own: nobody is there to wait for. */
  async promote(): Promise<void> {
    const dead = this.#primary;
    this.#primary = this.#standby;
    this.#standby = null;
    await this.#onPrimary(
      "SELECT pg_promote(true, 30)",
      "ALTER SYSTEM RESET synchronous_standby_names",
      "SELECT pg_reload_conf()",
    );
    if (dead !== null) rmSync(dead.data, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    for (const server of [this.#standby, this.#primary]) {
      if (server === null) continue;
      server.process.kill("SIGINT");
      await Promise.race([server.process.exited, Bun.sleep(5000)]);
      for (const pid of withChildren(server.process.pid)) killed(pid);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
