import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Effect } from "effect";
import { prepareOwnWitnesses } from "../../../app/log/own-witnesses.ts";
import { changeWitnessFile, witnessFile } from "../../../app/log/witness-files.ts";
import { withWitness } from "../../../core/log/policy/witness-group.ts";
import { testKey } from "../../core/log/support/test-signer.ts";
import { temporaryDirectory } from "../support/running-service.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let folders = 0;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

const newFolder = async (): Promise<string> => {
  const path = join(directory.path, String(++folders));
  await mkdir(path);
  return path;
};
const settings = (witnesses: boolean, logWitnesses: string | null = null) =>
  ({
    ledger: { kind: "embedded", port: 0, demo: false, finalitySlots: 0, witnesses },
    logWitnesses,
  }) as const;
const namesOf = async (given: Parameters<typeof prepareOwnWitnesses>[0], dataDir: string) => {
  const { witnesses } = await Effect.runPromise(prepareOwnWitnesses(given, dataDir));
  return witnesses.map(({ name }) => name);
};
const fileIn = (dataDir: string) => witnessFile("LOG_WITNESSES", null, dataDir);
const joined = {
  name: "joined",
  key: testKey("joined.example", "cosignature", 5).key,
  url: "https://joined.example/witness",
};

const OWN = ["own-1", "own-2", "own-3"];

test("the first start makes three keys and a policy that wants two of them, later ones keep both", async () => {
  const dataDir = await newFolder();
  expect(await namesOf(settings(true), dataDir)).toEqual(OWN);
  const text = await readFile(fileIn(dataDir), "utf8");
  expect(text).toMatch(
    /^witness own-1 own-1\+[0-9a-f]{8}\+\S{44} http:\/\/127\.0\.0\.1:\d+\/witness$/m,
  );
  expect(text).toContain("\ngroup witnesses 2 own-1 own-2 own-3\nquorum witnesses\n");
  expect(await namesOf(settings(true), dataDir)).toEqual(OWN);
  expect(await readFile(fileIn(dataDir), "utf8")).toBe(text);
});

test("turned off they make nothing, and are struck out of a policy that they stand in", async () => {
  const dataDir = await newFolder();
  expect(await namesOf(settings(false), dataDir)).toEqual([]);
  expect(existsSync(join(dataDir, "witnesses"))).toBe(false);
  await namesOf(settings(true), dataDir);
  expect(await namesOf(settings(false), dataDir)).toEqual([]);
  expect(existsSync(fileIn(dataDir))).toBe(false);
  await namesOf(settings(true), dataDir);
  await changeWitnessFile(fileIn(dataDir), (group) => withWitness(group, joined));
  expect(await readFile(fileIn(dataDir), "utf8")).toContain(
    "\ngroup witnesses 3 own-1 own-2 own-3 joined\n",
  );
  await namesOf(settings(false), dataDir);
  const left = await readFile(fileIn(dataDir), "utf8");
  expect(left).toContain("\ngroup witnesses 1 joined\n");
  expect(left).not.toContain("own-1");
});

test("a setting that names the log's witnesses, and a remote ledger, leave them out", async () => {
  const dataDir = await newFolder();
  expect(await namesOf(settings(true, "policy.txt"), dataDir)).toEqual([]);
  const remote = { ...settings(true), ledger: { kind: "remote" } } as unknown;
  expect(await namesOf(remote as ReturnType<typeof settings>, dataDir)).toEqual([]);
  expect(existsSync(join(dataDir, "witnesses"))).toBe(false);
});

test("a policy that was written by hand stays as it is, and those that it names run", async () => {
  const dataDir = await newFolder();
  await namesOf(settings(true), dataDir);
  const text = await readFile(fileIn(dataDir), "utf8");
  const byHand = text
    .replace(/^witness own-3 .*\n/m, "")
    .replace("group witnesses 2 own-1 own-2 own-3\nquorum witnesses", "quorum own-1");
  await writeFile(fileIn(dataDir), byHand);
  expect(await namesOf(settings(true), dataDir)).toEqual(["own-1", "own-2"]);
  expect(await readFile(fileIn(dataDir), "utf8")).toBe(byHand);
});
