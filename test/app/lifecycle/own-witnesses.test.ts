import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as logMain } from "../../../app/commands/log.ts";
import { main as verifyMain } from "../../../app/commands/verify.ts";
import { runDemo } from "../../../app/demo/run-demo.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";
import { runHere } from "../support/run-here.ts";
import { temporaryDirectory, until } from "../support/running-service.ts";
import { startedServices } from "../support/started-services.ts";

const CLI = join(import.meta.dir, "../../../app/commands/cli.ts");
const OWN = ["own-1", "own-2", "own-3"];
const LONG_MS = 180_000;

const { alone, start } = startedServices();
const directory = await temporaryDirectory();
const joined: Array<Bun.Subprocess<"ignore", "pipe", "inherit">> = [];
afterAll(async () => {
  for (const witness of joined) witness.kill("SIGKILL");
  await Promise.all(joined.map(({ exited }) => exited));
  await directory.remove();
});

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** The processes of this machine in whose arguments or environment a folder stands. */
const processesOf = (folder: string): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    const said = read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`);
    return said.includes(folder) ? [pid] : [];
  });

type LogShown = {
  readonly vkey: string | null;
  /** The keys, in one text. */
  readonly vkeys: string;
  readonly published_size: number | null;
  readonly quorum: string | null;
  readonly witnesses: ReadonlyArray<{
    readonly name: string;
    readonly last_problem: string | null;
  }>;
};
const logOf = async (url: string): Promise<LogShown | null> => {
  const answer = await fetch(`${url}/v1/status`);
  type Log = Omit<LogShown, "vkeys"> & Record<"next_vkey", string | null>;
  const { log } = ((await answer.json()) as { data: { log: Log | null } }).data;
  return log && { ...log, vkeys: `${log.vkey} ${log.next_vkey}` };
};
const textAt = async (url: string): Promise<string> => (await fetch(url)).text();

/** Waits until all three own witnesses cosign. */
const allCosign = (url: string) =>
  until(
    "all three cosign",
    () => logOf(url),
    (log) =>
      log?.quorum?.endsWith("signed: own-1, own-2, own-3") === true &&
      log.witnesses.every((each) => each.last_problem === null),
  );

/** Starts a witness as a new operator does, and gives the line that it prints for the log's operator. */
const join4th = async (service: string, rpc: string, dataDir: string): Promise<string> => {
  const witness = Bun.spawn([process.execPath, CLI, "witness", "--join", service, "--rpc", rpc], {
    env: { PATH: process.env["PATH"] ?? "", DATA_DIR: dataDir, PORT: "0", LOG_FORMAT: "json" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  joined.push(witness);
  const printed = Promise.withResolvers<string>();
  // It is read to its end: a process whose output nobody reads any more stops.
  const readAll = async (): Promise<void> => {
    let said = "";
    for await (const part of witness.stdout.pipeThrough(new TextDecoderStream())) {
      said += part;
      const line = /add-witness '([^']*)'/.exec(said)?.[1];
      if (line !== undefined) printed.resolve(line);
    }
    printed.reject(new Error(`the witness ended: ${said}`));
  };
  readAll().catch(printed.reject);
  return printed.promise;
};

test.if(process.platform === "linux")(
  "a service on its own ledger has three witnesses, a fourth one joins, and none of its own outlives it",
  async () => {
    const env = { ...(await alone()), LOCAL_LEDGER_WITNESSES: "true" };
    const folder = env.DATA_DIR;
    const first = start(env);
    const url = await first.url;

    const { released, unproven } = await runDemo(url, silentNarrator);
    expect(unproven).toEqual([]);
    const trust = join(directory.path, "trust.json");
    const packet = join(directory.path, "packet.json");
    await Bun.write(trust, await textAt(`${url}/.well-known/evidence-trust.json`));
    await Bun.write(packet, await textAt(`${url}/v1/evidence/${released}`));
    const offline = await runHere((io) =>
      runCommand(verifyMain, [packet, "--trust", trust, "--json"], io),
    );
    expect(offline.code).toBe(0);
    expect(JSON.parse(offline.stdout)).toMatchObject({ verdict: "verified", unproven: [] });
    expect(offline.stdout).toContain("quorum witnesses wants 2 of [own-1, own-2, own-3]");

    for (const action of ["rotate-key", "retire-key"]) {
      // Under load the status can lack the log or its keys for a moment: then nothing would be compared.
      const before = (
        await until(
          "the log's keys",
          () => logOf(url),
          (log) => log !== null && log.vkey !== null,
        )
      )?.vkeys;
      const changed = await runHere((io) =>
        runCommand(logMain, [action, "--data-dir", folder], io),
      );
      expect(changed).toMatchObject({ code: 0, stderr: "" });
      await until(
        `the keys after ${action}`,
        () => logOf(url),
        (log) => log !== null && log.vkey !== null && log.vkeys !== before,
      );
      await allCosign(url);
    }

    const { data } = JSON.parse(await textAt(`${url}/v1/status`)) as {
      readonly data: { readonly network: { readonly rpc_address: string } };
    };
    const line = await join4th(url, data.network.rpc_address, join(directory.path, "joined"));
    const added = await runHere((io) =>
      runCommand(logMain, ["add-witness", line, "--data-dir", folder, "--service", url], io),
    );
    const name = line.split(" ")[1] ?? "";
    expect(added).toMatchObject({ code: 0, stderr: "" });
    expect(added.stdout).toBe(
      `${url} asks ${name}; 3 of own-1, own-2, own-3, ${name} must cosign\n${name} has cosigned size 12\n`,
    );
    expect(await textAt(`${url}/.well-known/evidence-trust.json`)).toContain(line);
    for (const [wrong, code] of [
      ["witness a b", 65],
      [`${line} more`, 65],
      ["", 64],
    ] as const)
      expect(
        await runHere((io) =>
          runCommand(logMain, ["add-witness", wrong, "--data-dir", folder, "--service", url], io),
        ),
      ).toMatchObject({ code, stdout: "" });

    expect(processesOf(folder).length).toBeGreaterThanOrEqual(OWN.length);
    first.kill("SIGKILL");
    await first.ended;
    await until(
      "nothing of the service runs",
      () => Promise.resolve(processesOf(folder)),
      (pids) => pids.length === 0,
    );
  },
  LONG_MS,
);

test.if(process.platform === "linux")(
  "its witnesses keep keys and ports, one whose port is taken gets another, and all end with it at SIGTERM",
  async () => {
    const env = { ...(await alone()), LOCAL_LEDGER_WITNESSES: "true" };
    const folder = env.DATA_DIR;
    const policy = () => readFileSync(join(folder, "log-witnesses"), "utf8");
    const first = start(env);
    await allCosign(await first.url);
    const before = policy();
    first.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
    expect(processesOf(folder)).toEqual([]);

    const port = Number(/own-1 \S+ http:\/\/127\.0\.0\.1:(\d+)/.exec(before)?.[1]);
    using _taken = Bun.serve({ hostname: "127.0.0.1", port, fetch: () => new Response("no") });
    const second = start(env);
    await until(
      "own-1 has another port",
      () => Promise.resolve(policy()),
      (text) => text !== before,
    );
    await allCosign(await second.url);
    expect(policy().replaceAll(/:\d+\/witness/g, "")).toBe(before.replaceAll(/:\d+\/witness/g, ""));
    second.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
    expect(processesOf(folder)).toEqual([]);
  },
  LONG_MS,
);

test.if(process.platform === "linux")(
  "a start that fails leaves none behind",
  async () => {
    using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("no") });
    const env = {
      ...(await alone()),
      LOCAL_LEDGER_WITNESSES: "true",
      PORT: String(taken.port),
    };
    const { code, stderr } = await start(env).ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining("is taken")]);
    expect(processesOf(env.DATA_DIR)).toEqual([]);
  },
  LONG_MS,
);
