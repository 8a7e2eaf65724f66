import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile, rm, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ENTRIES } from "../../../app/client-package/build-package.ts";
import { browserProgram, launchBrowser } from "../../browser/chromium.ts";
import { withDemoLedger } from "../../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  untilReady,
} from "../../app/support/running-service.ts";
import { type Installed, installedByNpm, run } from "./installed.ts";
import { JOURNAL_PROGRAM, tryJournal } from "./shared-journal.ts";
import { sessionWorld } from "./session-life.ts";
import { tryEntries, tryOfflineCommands } from "./tries.ts";

const VECTORS = join(import.meta.dir, "../../vectors/evidence");

/**
 * What page.ts says of the installed package, bundled for a browser and run in one as a page of another origin than the
 * service.
 */
const foundInBrowser = async (
  { folder }: Installed,
  program: string,
  service: string,
): Promise<unknown> => {
  await copyFile(join(import.meta.dir, "page.ts"), join(folder, "page.ts"));
  const built = await Bun.build({ entrypoints: [join(folder, "page.ts")], target: "browser" });
  const [bundle] = built.outputs;
  if (bundle === undefined) throw new Error(built.logs.map(({ message }) => message).join("\n"));
  const script = await bundle.text();
  const served = await (await fetch(`${service}/.well-known/evidence-trust.json`)).text();
  const texts = {
    packet: await readFile(join(VECTORS, "fulfilled.json"), "utf8"),
    trust: await readFile(join(VECTORS, "trust.json"), "utf8"),
    "served-trust": served,
    service,
  };
  const held = Object.entries(texts).map(
    ([name, text]) =>
      `<script type="text/plain" id="${name}">${text.replaceAll("</", "<\\/")}</script>`,
  );
  const html = `<!doctype html><title>page</title>${held.join("")}<script type="module" src="/page.js"></script>`;
  let tell: (value: unknown) => void = () => undefined;
  const told = new Promise<unknown>((resolve) => {
    tell = resolve;
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/found") tell(await request.json());
      if (pathname === "/page.js")
        return new Response(script, { headers: { "content-type": "text/javascript" } });
      return new Response(html, { headers: { "content-type": "text/html" } });
    },
  });
  const browser = await launchBrowser(program);
  try {
    const ended = new Promise((resolve) => {
      browser.on("disconnected", () => resolve("the browser ended"));
    });
    await (await browser.newPage()).goto(server.url.href);
    return await Promise.race([told, ended]);
  } finally {
    await browser.close();
    await server.stop(true);
  }
};

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TOOLS = join(ROOT, "node_modules/.bin");
const folder = process.env["PACKAGE_RUNTIMES"] ?? "";

/** A runtime's program and its first arguments. */
const RUNTIMES: Readonly<Record<string, ReadonlyArray<string>>> = {
  node20: [join(folder, "node20/node_modules/node/bin/node")],
  node22: [join(folder, "node22/node_modules/node/bin/node")],
  node24: [join(folder, "node24/node_modules/node/bin/node")],
  bun: [process.execPath],
  deno: [
    join(folder, "deno/node_modules/.bin/deno"),
    "run",
    "--quiet",
    "--allow-all",
    "--node-modules-dir=manual",
  ],
};

/** Node 20 has no `node:sqlite`, by which a process holds a session's file; Deno's is not tried. */
const WITH_SESSIONS: ReadonlySet<string> = new Set(["node22", "node24", "bun"]);
/** Where the examples sell and buy: in all of these, or in one of them with PACKAGE_QUICK. */
const WITH_EXAMPLES = process.env["PACKAGE_QUICK"] === "1" ? new Set(["node22"]) : WITH_SESSIONS;

let installed: Installed;
let world: Awaited<ReturnType<typeof sessionWorld>>;

beforeAll(async () => {
  installed = await installedByNpm();
  world = await sessionWorld(installed);
}, 300_000);

afterAll(async () => {
  await world.stop();
  await rm(installed.folder, { recursive: true, force: true });
});

for (const [name, runtime] of Object.entries(RUNTIMES)) {
  const isAbsent = !existsSync(runtime[0] ?? "");
  const title = isAbsent ? `${name} is absent: run it with --install` : name;
  test.skipIf(isAbsent)(`${title}: every entry works as npm installed it`, () =>
    tryEntries(installed, runtime, name),
  );
  test.skipIf(isAbsent)(`${title}: processes share a journal`, async () => {
    await copyFile(JOURNAL_PROGRAM, join(installed.folder, "shared-journal.mjs"));
    const journal = `shared-${name}.jsonl`;
    await tryJournal(installed.folder, runtime, "shared-journal.mjs", journal, 1);
  });
  test.skipIf(isAbsent)(`${title}: verify and keygen work as npm installed them`, () =>
    tryOfflineCommands(installed, runtime, name),
  );
  if (WITH_SESSIONS.has(name))
    test.skipIf(isAbsent)(
      `${title}: a model opens a session, pays, closes it and proves a call`,
      () => world.live(runtime, name),
    );
  if (WITH_EXAMPLES.has(name))
    test.skipIf(isAbsent)(`${title}: the examples of sessions and x402 sell and buy`, () =>
      world.trade(runtime, name),
    );
}

test.skipIf(browserProgram === null)(
  browserProgram === null
    ? "a browser is absent (chromium): the bundle is not tried in a page"
    : "a browser: a page of another origin verifies a packet and reads the service",
  async () => {
    const directory = await temporaryDirectory();
    const service = await runService(quietEnvironment(withDemoLedger(directory.path)));
    try {
      await untilReady(service.url);
      expect(await foundInBrowser(installed, browserProgram ?? "", service.url)).toEqual({
        verdict: "verified",
        forged: "failed",
        name: "Settlement Evidence API",
        refused: "wrong_state",
      });
    } finally {
      await service.stop();
      await directory.remove();
    }
  },
);

test("npx --no-install finds the command", async () => {
  const ran = await run(installed.folder, "npx", "--no-install", "settlement-evidence", "--help");
  expect([ran.code, ran.out.split("\n")[0]]).toEqual([
    0,
    "Pays merchants through settlement escrows and verifies the evidence.",
  ]);
});

test("publint has nothing to say", async () => {
  const ran = await run(ROOT, join(TOOLS, "publint"), "--strict", installed.built.path);
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining("All good!")]);
});

test("attw finds each entry and its types, by import", async () => {
  const flags = ["--profile", "esm-only", "--no-emoji", "--no-color"];
  const ran = await run(ROOT, join(TOOLS, "attw"), ...flags, installed.built.path);
  const judged = ran.out.match(/^(node16 \(from ESM\)|bundler): .*$/gm) ?? [];
  expect(judged.filter((line) => !/: OK /.test(line))).toEqual([]);
  // Two resolutions of each entry, and of package.json.
  expect(judged).toHaveLength(2 * (Object.keys(ENTRIES).length + 1));
  expect(ran.code).toBe(0);
});
