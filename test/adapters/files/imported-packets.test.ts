import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import {
  importedPacketFiles,
  importFolder,
  importPackets,
} from "../../../adapters/files/operator-files.ts";
import { address } from "../../../core/domain/address.ts";
import { MAX_PACKET_BYTES } from "../../../core/protocol/evidence/evidence-packet.ts";
import { ImportedPackets } from "../../../ports/index/archived-rows.ts";
import { tmpdir } from "../../temporary-root.ts";

const [ONE, OTHER] = [
  address("H4QKC5LxLZY7yRzSz39qtenAWWq9npiJe6uZbxS56uoG"),
  address("EpfWbK4mHqwAxUYQ9o8Kp2Di27Pe2nD9CxxzP4rjBf7b"),
];
const dataDir = mkdtempSync(join(tmpdir(), "imports-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const imports = <A>(work: (of: typeof ImportedPackets.Service) => Effect.Effect<A>): Promise<A> =>
  Effect.runPromise(
    Effect.flatMap(ImportedPackets, work).pipe(Effect.provide(importedPacketFiles(dataDir))),
  );

test("packets wait until they are forgotten, and a later one replaces an earlier one", async () => {
  expect(await imports(({ waiting }) => waiting(10))).toEqual([]);
  await importPackets(dataDir, new Map([[ONE, Uint8Array.of(1)]]));
  await importPackets(
    dataDir,
    new Map([
      [ONE, Uint8Array.of(2)],
      [OTHER, Uint8Array.of(3)],
    ]),
  );
  const waiting = await imports((of) => of.waiting(10));
  expect(new Map(waiting.map(({ name, bytes }) => [name, [...bytes]]))).toEqual(
    new Map([
      [`${ONE}.json`, [2]],
      [`${OTHER}.json`, [3]],
    ]),
  );
  expect((await imports((of) => of.waiting(1))).length).toBe(1);
  await imports((of) => of.forget(`${ONE}.json`));
  expect((await imports((of) => of.waiting(10))).map(({ name }) => name)).toEqual([
    `${OTHER}.json`,
  ]);
  await imports((of) => of.forget(`${OTHER}.json`));
});

test("a file that is too long comes without its bytes, and other files are left alone", async () => {
  const folder = importFolder(dataDir);
  writeFileSync(join(folder, `${ONE}.json`), new Uint8Array(MAX_PACKET_BYTES + 1));
  writeFileSync(join(folder, `${OTHER}.json.new`), "a draft");
  writeFileSync(join(folder, "notes.txt"), "mine");
  expect(await imports((of) => of.waiting(10))).toEqual([
    { name: `${ONE}.json`, bytes: new Uint8Array() },
  ]);
  await imports((of) => of.forget(`${ONE}.json`));
  expect(readdirSync(folder).toSorted()).toEqual([`${OTHER}.json.new`, "notes.txt"].toSorted());
});
