import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { logSignerFromFile } from "../../../adapters/signer/log-signer.ts";
import { type LogKey, LogSigner } from "../../../ports/log/log-signer.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "log-signer-"));
  path = join(folder, "log.key");
  await writeFile(path, `${Buffer.alloc(32, 7).toString("base64")}\n`, { mode: 0o600 });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const withKey = <A>(work: (key: LogKey) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(
    Effect.flatMap(LogSigner, (signer) => {
      if (signer === null) throw new Error("there is a key");
      return work(signer.key);
    }).pipe(Effect.provide(logSignerFromFile("log.example", path))),
  );

const start = (script: string, ...args: ReadonlyArray<string>) =>
  Bun.spawn([process.execPath, join(import.meta.dir, script), ...args], { stdout: "pipe" });

test("what was signed is replaced only by one who knows it", () =>
  withKey((key) =>
    Effect.gen(function* () {
      expect(yield* key.remembered).toBeNull();
      expect(yield* key.remember("another", "1 a")).toBe(false);
      expect(yield* key.remember(null, "1 a")).toBe(true);
      expect(yield* key.remember(null, "1 b")).toBe(false);
      expect(yield* key.remember("1 a", "2 a")).toBe(true);
      expect(yield* key.remembered).toBe("2 a");
    }),
  ));

test("of processes with one key file, one remembers each size", async () => {
  const sizes = 40;
  const processes = [1, 2, 3].map(() => start("remember-in-turn.ts", path, String(sizes)));
  const won = await Promise.all(
    processes.map(async ({ stdout }) => JSON.parse(await new Response(stdout).text()) as number[]),
  );
  expect(won.flat().toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: sizes }, (_, at) => at + 1),
  );
  expect(await readFile(`${path}.signed.json`, "utf8")).toStartWith(`${sizes} `);
}, 60_000);

test("a process that is killed while it holds the lock keeps nobody out", async () => {
  const holder = start("hold-lock.ts", `${path}.signed.json.lock`);
  const reader = holder.stdout.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("held\n");
  const remembering = withKey((key) => key.remember(null, "1 a"));
  holder.kill("SIGKILL");
  expect(await remembering).toBe(true);
}, 60_000);

test.if(existsSync("/dev/full"))(
  "a full disk is told as one, and nothing is to be moved away",
  async () => {
    await symlink("/dev/full", `${path}.signed.json.new`);
    const refused = await withKey((key) => Effect.flip(key.remember(null, "1 a")));
    expect(String(refused)).toContain("(ENOSPC). Make room on its disk.");
  },
);
