import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer, Logger } from "effect";
import { settledPacketsSqlite } from "../../../adapters/sqlite/packets/settled-packets.ts";
import { SettledPackets } from "../../../ports/settled-packets.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { settledPacketsContract } from "../../contracts/settled-packets.ts";
import { walletOf } from "../../simulation/world-escrow.ts";
import { tmpdir } from "../../temporary-root.ts";

const folder = mkdtempSync(join(tmpdir(), "settled-packets-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = () => join(folder, `${files++}.sqlite`);

settledPacketsContract("settledPacketsSqlite", () => {
  const path = newPath();
  return (most) => settledPacketsSqlite(path, most);
});

test("with a file that is no store, nothing is kept, and the log says why", async () => {
  const path = newPath();
  writeFileSync(
    path,
    "not a database, and longer than a header of one would be, by a good deal of text",
  );
  const lines: Array<string> = [];
  const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]);
  const found = await Effect.runPromise(
    Effect.flatMap(SettledPackets, ({ keep, find }) =>
      Effect.andThen(
        keep(walletOf("one"), "text", hash32FromBytes(new Uint8Array(32))),
        find(walletOf("one")),
      ),
    ).pipe(Effect.provide(Layer.provide(settledPacketsSqlite(path), logger))),
  );
  expect(found).toBeNull();
  expect(lines.join("\n")).toContain("evidence packets are not kept");
  expect(lines.join("\n")).toContain(path);
});
