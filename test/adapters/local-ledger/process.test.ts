import { afterAll, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { projectCommand } from "../../../core/domain/project-command.ts";
import { LOCAL_LEDGER_HELP, readOptions } from "../../../adapters/local-ledger/options.ts";
import { runScript } from "../../app/support/run-script.ts";
import { call, temporaryFolder } from "./ledger-fixture.ts";
import { spawnLedger } from "./ledger-process.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

describe("the ledger as a process", () => {
  test("ends with its standard input when supervised, and releases its folder", async () => {
    for (let round = 0; round < 2; round++) {
      const { child, ready } = await spawnLedger(folder.path, "--supervised");
      expect((await call(ready.rpc_url, "getHealth")).result).toBe("ok");
      await child.stdin.end();
      expect(await child.exited).toBe(0);
    }
  });

  test("continues without standard input when not supervised, until SIGTERM", async () => {
    const { child, ready } = await spawnLedger(folder.path);
    await child.stdin.end();
    expect((await call(ready.rpc_url, "getHealth")).result).toBe("ok");
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });
});

describe("a ledger that cannot start", () => {
  const MAIN = fileURLToPath(new URL("../../../adapters/local-ledger/main.ts", import.meta.url));
  const ended = (...args: ReadonlyArray<string>) =>
    runScript(MAIN, ["--data-dir", folder.path, ...args]);

  test("ends with 64 and one line that points to the help when an option is wrong", async () => {
    const [unknown, value] = await Promise.all([ended("--prot"), ended("--port", "70000")]);
    expect(unknown.code).toBe(64);
    expect(unknown.stderr).toMatch(
      /^local-ledger: .*--prot.*; see npx bun@\S+ run cli local-ledger --help\n$/,
    );
    expect(value).toEqual({
      code: 64,
      stdout: "",
      stderr: `local-ledger: --port must be a port number from 0 to 65535; see ${projectCommand("cli local-ledger --help")}\n`,
    });
  });

  test("names the port that is taken, its variable and the cure", async () => {
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    const port = String(other.port);
    const http = await ended("--port", port);
    const webSocket = await ended("--port", "0", "--ws-port", port);
    await other.stop(true);
    const cure = "is taken; stop what uses it or set another";
    expect([http.code, webSocket.code]).toEqual([1, 1]);
    expect(http.stderr).toBe(`local-ledger: Port ${port} (LOCAL_LEDGER_PORT) ${cure}\n`);
    expect(webSocket.stderr).toBe(
      `local-ledger: Port ${port} (the WebSocket's, after LOCAL_LEDGER_PORT) ${cure}\n`,
    );
  });
});

describe("options", () => {
  test("arguments override the environment, which overrides the defaults", () => {
    expect(readOptions([], {})).toEqual({
      dataDirectory: "./data",
      port: 8899,
      webSocketPort: undefined,
      demo: true,
      empty: false,
      skipDays: 0,
      finalitySlots: 0,
      supervised: false,
    });
    const env = { DATA_DIR: "/d", LOCAL_LEDGER_PORT: "1", LOCAL_LEDGER_DEMO: "false" };
    expect(readOptions([], env)).toMatchObject({ dataDirectory: "/d", port: 1, demo: false });
    expect(readOptions(["--port", "0", "--data-dir", "e"], env)).toMatchObject({
      dataDirectory: "e",
      port: 0,
    });
    expect(readOptions(["--no-demo"], { LOCAL_LEDGER_DEMO: "true" })?.demo).toBe(false);
  });

  test("a bad option is named, and help names them all", () => {
    expect(() => readOptions(["--port", "70000"], {})).toThrow("--port");
    expect(() => readOptions([], { LOCAL_LEDGER_DEMO: "perhaps" })).toThrow("LOCAL_LEDGER_DEMO");
    expect(readOptions([], { LOCAL_LEDGER_FINALITY_SLOTS: "32" })?.finalitySlots).toBe(32);
    expect(readOptions(["--finality-slots", "7"], {})?.finalitySlots).toBe(7);
    for (const slots of ["151", "-1", "1.5", ""])
      expect(() => readOptions([`--finality-slots=${slots}`], {})).toThrow("--finality-slots");
    for (const days of ["366", "-1", "1.5", ""])
      expect(() => readOptions([`--skip-days=${days}`], {})).toThrow("--skip-days");
    expect(() => readOptions(["--prot", "1"], {})).toThrow("--prot");
    expect(readOptions(["--help"], {})).toBeUndefined();
    for (const name of [
      "--data-dir",
      "--port",
      "--ws-port",
      "--no-demo",
      "--skip-days",
      "--supervised",
    ])
      expect(LOCAL_LEDGER_HELP).toContain(name);
  });
});
