import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileJournal } from "../../client/node/file-journal.ts";
import { tmpdir } from "../temporary-root.ts";

const entry = (escrow: string) => ({ escrow, mint: "M", amount: "5", at: "2026-11-22T00:00:00Z" });
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "journal-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("what is added is read by another journal of the same file, which is its owner's alone", async () => {
  const path = join(folder, "new/payments.jsonl");
  expect(await fileJournal(path).entries()).toEqual([]);
  await fileJournal(path).add(entry("A"));
  await fileJournal(path).add(entry("B"));
  expect(await fileJournal(path).entries()).toEqual([entry("A"), entry("B")]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a last line that a crash cut off counts for nothing, and the next entry stands behind it", async () => {
  const path = join(folder, "cut.jsonl");
  await fileJournal(path).add(entry("A"));
  await appendFile(path, '{"escrow":"é');
  expect(await fileJournal(path).entries()).toEqual([entry("A")]);
  await fileJournal(path).add(entry("B"));
  expect(await fileJournal(path).entries()).toEqual([entry("A"), entry("B")]);
  // Two processes can both see it, and both end it.
  await appendFile(path, "\u0018\n");
  expect(await fileJournal(path).entries()).toEqual([entry("A"), entry("B")]);
  expect((await readFile(path, "utf8")).split("\n")).toHaveLength(5);
});

test("another line that cannot be read stops every payment", async () => {
  for (const line of ["[]", "x", "{}", JSON.stringify({ ...entry("A"), amount: "-5" }), "null"]) {
    const path = join(folder, "wrong.jsonl");
    await writeFile(path, `${JSON.stringify(entry("A"))}\n${line}\n`);
    const failure = await fileJournal(path)
      .entries()
      .then(
        () => null,
        (cause: unknown) => cause,
      );
    expect(failure).toMatchObject({
      code: "journal_unusable",
      message: `Line 2 of ${path} is no payment.`,
    });
  }
});
