import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runScript } from "../support/run-script.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const APP = fileURLToPath(new URL("../../../app", import.meta.url));
const LEDGER = "adapters/local-ledger/main.ts";
const WORKER = "app/sync-worker/worker.ts";
const WITNESS = "app/commands/witness.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());

const write = (path: string, text: string): void => {
  const file = join(directory.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** A project whose service is `main`, with the launcher of this one. */
const projectOf = (main: string): void => {
  write("package.json", `{"type": "module"}`);
  write("bun.lock", "");
  cpSync(join(APP, "start.ts"), join(directory.path, "app/start.ts"));
  cpSync(join(APP, "bundle"), join(directory.path, "app/bundle"), { recursive: true });
  for (const command of ["demo", "doctor", "sync", "verify", "witness"])
    write(`app/commands/${command}.ts`, "");
  for (const script of [LEDGER, WORKER, WITNESS]) write(script, "console.log(import.meta.path);");
  write("app/main.ts", main);
};

const start = () => runScript(join(directory.path, "app/start.ts"), []);
const CACHE = "node_modules/.cache/service-bundles";
const bundles = () => readdirSync(join(directory.path, CACHE));

test("a start makes a bundle once, and a changed source is what the next start runs", async () => {
  projectOf(`console.log("one");`);
  expect(await start()).toMatchObject({ code: 0, stdout: "one\n", stderr: "" });
  const [bundle = ""] = bundles();
  expect(await start()).toMatchObject({ stdout: "one\n" });
  expect(bundles()).toEqual([bundle]);
  write("core/text.ts", `export const text = "two";`);
  write("app/main.ts", `import { text } from "../core/text.ts"; console.log(text);`);
  expect(await start()).toMatchObject({ stdout: "two\n" });
  write("core/text.ts", `export const text = "six";`);
  expect(await start()).toMatchObject({ stdout: "six\n" });
  expect(bundles()).toHaveLength(3);
});

test("the bundles of three sources stay, the others go, and so do drafts of an hour ago", async () => {
  projectOf(`console.log(0);`);
  write(`${CACHE}/0123456789abcdef.1/left.js`, "");
  write(`${CACHE}/0123456789abcdef.2/making.js`, "");
  const hourAgo = new Date(Date.now() - 3_601_000);
  utimesSync(join(directory.path, CACHE, "0123456789abcdef.1"), hourAgo, hourAgo);
  for (const number of [1, 2, 3, 4, 5]) {
    write("app/main.ts", `console.log(${number});`);
    expect(await start()).toMatchObject({ stdout: `${number}\n` });
  }
  expect(bundles().filter((name) => name.includes("."))).toEqual(["0123456789abcdef.2"]);
  expect(bundles()).toHaveLength(4);
});

test("without a place for bundles the sources are run", async () => {
  projectOf(`console.log(import.meta.path.endsWith("/app/main.ts"));`);
  write("node_modules/.cache", "no folder");
  expect(await start()).toMatchObject({ code: 0, stdout: "true\n", stderr: "" });
});

test("a source that cannot be bundled is reported as when it is run", async () => {
  projectOf(`import "./absent.ts";`);
  const { code, stderr } = await start();
  expect(code).toBe(1);
  expect(stderr).toContain("./absent.ts");
  expect(existsSync(join(directory.path, CACHE, bundles()[0] ?? "absent", "app"))).toBe(false);
});

test("a bundle finds the files beside its sources, and begins the bundles of ledger, witness and worker", async () => {
  projectOf(`
    import { readFileSync } from "node:fs";
    import { fileURLToPath } from "node:url";
    import { Worker } from "node:worker_threads";
    import { main } from "../adapters/local-ledger/process.ts";
    import { witness } from "./log/own.ts";
    import { begin } from "./sync-worker/thread.ts";
    console.log(readFileSync(new URL("./beside.txt", import.meta.url), "utf8"));
    for (const script of [main, witness])
      console.log(Bun.spawnSync([process.execPath, fileURLToPath(script)]).stdout.toString().trim());
    new Worker(begin);
  `);
  write("app/beside.txt", "beside");
  write(
    "adapters/local-ledger/process.ts",
    `export const main = new URL("./main.ts", import.meta.url);`,
  );
  write(
    "app/log/own.ts",
    `export const witness = new URL("../commands/witness.ts", import.meta.url);`,
  );
  write(
    "app/sync-worker/thread.ts",
    `export const begin = new URL("./worker.ts", import.meta.url);`,
  );
  const { stdout } = await start();
  const folder = join(directory.path, CACHE, bundles()[0] ?? "absent");
  expect(stdout.trim().split("\n")).toEqual([
    "beside",
    join(folder, "adapters/local-ledger/main.js"),
    join(folder, "app/commands/witness.js"),
    join(folder, "app/sync-worker/worker.js"),
  ]);
});

test("a stack trace names the line of the source", async () => {
  projectOf(`
    const fail = (): never => {
      throw new Error("the cause");
    };
    fail();
  `);
  const { code, stderr } = await start();
  expect(code).toBe(1);
  expect(stderr).toContain(`${join(realpathSync(directory.path), "app/main.ts")}:3`);
});

test("a damaged place for bundles costs nothing but time", async () => {
  projectOf(`console.log("served");`);
  await start();
  rmSync(join(directory.path, CACHE), { recursive: true });
  write(CACHE, "no folder");
  expect(await start()).toMatchObject({ code: 0, stdout: "served\n" });
});

for (const [damage, harm] of [
  ["emptied", (file: string) => truncateSync(file)],
  ["cut off", (file: string) => truncateSync(file, 5)],
  ["removed", (file: string) => rmSync(file)],
] as const)
  test(`a bundle with a file that was ${damage} is made anew`, async () => {
    projectOf(`console.log("served");`);
    await start();
    const made = bundles();
    const file = join(directory.path, CACHE, made[0] ?? "absent", "app/main.js");
    harm(file);
    expect(await start()).toMatchObject({ code: 0, stdout: "served\n", stderr: "" });
    expect(bundles()).toEqual(made);
    expect(readFileSync(file, "utf8")).toContain("served");
  });

test("the bundle of a running service stays, however many sources are started after it", async () => {
  projectOf(`
    process.stdin.once("data", () => import("./late.ts").then(({ late }) => console.log(late)));
    console.log("ready");
  `);
  write("app/late.ts", `export const late = "loaded late";`);
  const first = Bun.spawn([process.execPath, join(directory.path, "app/start.ts")], {
    stdin: "pipe",
    stderr: "pipe",
  });
  const reader = first.stdout.getReader();
  const text = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await text()).toBe("ready\n");
  const [running = ""] = bundles();
  for (const number of [1, 2, 3, 4]) {
    write("app/main.ts", `console.log(${number});`);
    expect(await start()).toMatchObject({ stdout: `${number}\n` });
  }
  await first.stdin.write("now");
  await first.stdin.end();
  expect(await text()).toBe("loaded late\n");
  expect(await first.exited).toBe(0);
  write("app/main.ts", `console.log(5);`);
  await start();
  expect(bundles()).not.toContain(running);
});

test("a bundle for another folder has the same bytes wherever it is made, and no name of where that was", async () => {
  const made = await Promise.all(
    ["here", "somewhere/else"].map(async (name) => {
      const root = join(realpathSync(directory.path), name);
      const put = (path: string, text: string): void => {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      };
      for (const path of ["demo", "doctor", "sync", "verify", "witness"])
        put(`app/commands/${path}.ts`, "");
      for (const script of [LEDGER, WORKER]) put(script, "console.log(import.meta.url);");
      put(
        "app/main.ts",
        `import packaged from "packaged"; console.log(packaged, import.meta.url);`,
      );
      put("package.json", `{"type": "module"}`);
      put("bun.lock", "");
      put("node_modules/packaged/package.json", `{"name": "packaged", "main": "index.js"}`);
      put("node_modules/packaged/index.js", "module.exports = `${__dirname}/beside`;");
      cpSync(join(APP, "bundle"), join(root, "app/bundle"), { recursive: true });
      put(
        "make.ts",
        `import { serviceBundle } from "./app/bundle/service-bundle.ts";
         console.log(await serviceBundle(import.meta.dir, "/opt/placed"));`,
      );
      const { stdout } = await runScript("make.ts", [], { cwd: root });
      const folder = stdout.trim();
      const paths = Object.keys(
        JSON.parse(readFileSync(join(folder, "files.json"), "utf8")) as object,
      );
      return paths.map((path) => [path, readFileSync(join(folder, path), "utf8")] as const);
    }),
  );
  const [one = [], other] = made;
  expect(one.map(([path]) => path)).toContain("app/main.js");
  expect(other).toEqual(one);
  const text = one.map(([, content]) => content).join("");
  expect(text).toContain("/opt/placed/node_modules/packaged");
  expect(text).toContain("file:///opt/placed/app/main.ts");
  expect(text).not.toContain(realpathSync(directory.path));
});
