import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withDemoLedger } from "./support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "./support/running-service.ts";

const README = readFileSync(join(import.meta.dir, "../../README.md"), "utf8");
const LOCAL = "http://127.0.0.1:3000";
const LEDGER = "http://127.0.0.1:8899";

/** Every curl of the README as words, unquoted as the shell does, and the status of the problem printed below it, if one is. */
const commands = README.split("\n").flatMap((line, at, lines) =>
  /^ {4}curl /.test(line) && !line.includes("<base64>")
    ? [
        {
          words: Array.from(line.trim().matchAll(/'([^']*)'|(\S+)/g), (m) => m[1] ?? m[2] ?? ""),
          problem: /^ {4}\{"type":"\/problems\/.*?"status":(\d+)/.exec(lines[at + 1] ?? "")?.[1],
        },
      ]
    : [],
);

const argument = (words: ReadonlyArray<string>, flag: string): string | undefined => {
  const at = words.indexOf(flag);
  return at < 0 ? undefined : words[at + 1];
};

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await runService(quietEnvironment(withDemoLedger(directory.path)));
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
  // The README's answers are those of a synced index.
  await fetch(`${service.url}/v1/indexer/sync`, { method: "POST" });
});

afterAll(async () => {
  await service.stop();
  await directory.remove();
});

test("the README has a command for each operation of the contract", async () => {
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const shown = README.match(/http:\/\/127\.0\.0\.1:3000[^\s'?]*/g) ?? [];
  const missing = Object.keys(paths).filter((path) => {
    // OpenAPI needs an operation for each number of segments; for a reader the tiles are one.
    const any = path.startsWith("/log/tile/") ? "/log/tile/.+" : path;
    const pattern = new RegExp(`^${LOCAL}${any.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`);
    return !shown.some((url) => pattern.test(url));
  });
  expect(missing).toEqual([]);
});

for (const { words, problem } of commands) {
  const url = words.find((word) => word.startsWith("http")) ?? "";
  test(`README: ${words.join(" ").slice(0, 110)}`, async () => {
    const body = argument(words, "-d");
    const here = url.replace(LOCAL, service.url).replace(LEDGER, service.rpcUrl);
    const response = await fetch(here, {
      method: argument(words, "-X") ?? (body === undefined ? "GET" : "POST"),
      ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
    });
    expect(response.status).toBe(Number(problem ?? (words.includes("-X") ? 202 : 200)));
    if (url === LEDGER) expect(await response.json()).toHaveProperty("result");
  });
}

test("every command can be pasted into zsh, which expands ? and * and takes # for a word", () => {
  const lines = README.split("\n").filter((line) => /^ {4}(?:curl|npx|[a-z]+=)/.test(line));
  const bare = lines.map((line) => line.replaceAll(/'[^']*'/g, ""));
  expect(bare.length).toBeGreaterThan(40);
  expect(bare.filter((line) => /[?*#<>[\]]/.test(line))).toEqual([]);
});
