import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { demoService } from "./support/demo-ledger.ts";
import { synced } from "./support/running-service.ts";

const ROOT = join(import.meta.dir, "../..");
const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");
/**
 * The pages whose commands work unchanged on the demo data. Those of docs/http.md are recorded exchanges, which
 * test/conformance holds.
 */
const PAGES = ["README.md", "docs/try-it.md", "docs/local-ledger.md"];
const LOCAL = "http://127.0.0.1:3000";
const LEDGER = "http://127.0.0.1:8899";

/**
 * Every curl of a page as words, unquoted as the shell does, and the status of the problem printed below it, if one is.
 */
const commandsOf = (page: string) =>
  textOf(page)
    .split("\n")
    .flatMap((line, at, lines) =>
      /^ {4}curl /.test(line)
        ? [
            {
              page,
              words: Array.from(
                line.trim().matchAll(/'([^']*)'|(\S+)/g),
                (m) => m[1] ?? m[2] ?? "",
              ),
              problem: /^ {4}\{"type":"\/problems\/.*?"status":(\d+)/.exec(
                lines[at + 1] ?? "",
              )?.[1],
            },
          ]
        : [],
    );

const argument = (words: ReadonlyArray<string>, flag: string): string | undefined => {
  const at = words.indexOf(flag);
  return at < 0 ? undefined : words[at + 1];
};

const { service, end } = await demoService();

beforeAll(async () => {
  // The README's answers are those of a synced index.
  await synced(service.url);
});

afterAll(end);

for (const { page, words, problem } of PAGES.flatMap(commandsOf)) {
  const url = words.find((word) => word.startsWith("http")) ?? "";
  test(`${page}: ${words.join(" ").slice(0, 110)}`, async () => {
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
  const pages = [...PAGES, "docs/http.md"].map(textOf).join("\n");
  // A command goes on over lines within quotes.
  const lines = pages.match(/^ {4}(?:curl|npx|[A-Za-z]+=)(?:'[^']*'|[^'\n])*/gm) ?? [];
  const bare = lines.map((line) => line.replaceAll(/'[^']*'/g, ""));
  expect(bare.length).toBeGreaterThan(100);
  expect(bare.filter((line) => /[?*#<>[\]\n]/.test(line))).toEqual([]);
});
