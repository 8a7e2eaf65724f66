import { afterAll, expect, test } from "bun:test";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { buildExecutable } from "../../../app/bundle/build-executable.ts";
import { quietEnvironment, temporaryDirectory, until } from "../support/running-service.ts";

const directory = await temporaryDirectory();
afterAll(() => directory.remove());
const file = join(directory.path, "settlement-evidence");
const cache = join(directory.path, "cache");
const empty = join(directory.path, "empty");

/** The executable in an empty folder, without Bun, Node or a home. */
const start = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Bun.spawn([file, ...args], {
    cwd: empty,
    env: { PATH: "/usr/bin:/bin", HOME: join(directory.path, "nobody"), ...env },
    stdout: "pipe",
    stderr: "pipe",
  });

const outcome = async (child: ReturnType<typeof start>) => {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
};

test("the executable serves in an empty folder, with its ledger, pages and package", async () => {
  const built = await buildExecutable(file);
  expect(built.bytes).toBeLessThan(250_000_000);
  await mkdir(empty);
  const child = start([], {
    ...quietEnvironment(join(empty, "data")),
    LOG_LEVEL: "info",
    LOCAL_LEDGER_WITNESSES: "true",
    CACHE_DIRECTORY: cache,
  });
  try {
    let said = "";
    const listening = Promise.withResolvers<string>();
    const read = async (): Promise<void> => {
      for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
        said += chunk;
        const url = /"message":"listening","url":"([^"]+)"/.exec(said)?.[1];
        if (url !== undefined) listening.resolve(url);
      }
      listening.reject(new Error(said));
    };
    void read();
    const url = await listening.promise;
    await until(
      "the service is ready",
      () => fetch(`${url}/ready`).then(({ status }) => status),
      (status) => status === 200,
      240,
    );
    for (const path of ["/health", "/docs", "/docs/settings.md", "/", "/verify", "/v1/status"])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    const packed = await fetch(`${url}/client/settlement-evidence.tgz`);
    expect(packed.status).toBe(200);
    const files = await new Bun.Archive(await packed.bytes()).files();
    expect([...files.keys()]).toContain("package/package.json");
    await until(
      "its own witnesses cosign",
      async () =>
        (await (await fetch(`${url}/v1/status`)).json()) as {
          data: { log: { witnesses: ReadonlyArray<{ size: number }> } | null };
        },
      ({ data }) => data.log?.witnesses.some(({ size }) => size > 0) ?? false,
      240,
    );
  } finally {
    child.kill();
    expect(await child.exited).toBe(0);
  }
}, 900_000);

test("it is unpacked once, and other commands come first on its command line", async () => {
  const folders = await readdir(cache);
  expect(folders.length).toBe(1);
  const { out, code } = await outcome(start(["cli", "--help"], { CACHE_DIRECTORY: cache }));
  expect([code, out.includes("rebuild-index")]).toEqual([0, true]);
  const wrong = await outcome(start(["nonsense"], { CACHE_DIRECTORY: cache }));
  expect([wrong.code, wrong.err.includes("nonsense")]).toEqual([64, true]);
  expect(await readdir(cache)).toEqual(folders);
}, 120_000);

test("it runs nothing from a folder that others can write", async () => {
  const shared = join(directory.path, "shared");
  await mkdir(shared);
  await chmod(shared, 0o777);
  const { err, code } = await outcome(start([], { CACHE_DIRECTORY: shared }));
  expect(code).toBe(1);
  expect(err).toContain("can be written by others. Set CACHE_DIRECTORY");
}, 120_000);
