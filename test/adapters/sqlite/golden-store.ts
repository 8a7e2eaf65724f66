import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import type { IndexChanges } from "../../../ports/index/index-writer.ts";
import { changesOf, indexedOf, unseenOf } from "../../arbitraries/index-history.ts";
import type { Index } from "../../contracts/fresh-index.ts";
import { everything } from "../../contracts/index-content.ts";
import { walletOf, worldEscrow, worldMerchants } from "../../simulation/world-escrow.ts";
import { tmpdir } from "../../temporary-root.ts";
import { withStore } from "./test-store.ts";

/** Where the files of each released schema are kept, and what they answer. */
export const GOLDEN = join(import.meta.dir, "../../vectors/stores");

/** The files of a store, by the names they have in `GOLDEN` without the version and the ending. */
export const STORE_FILES = { index: "index.sqlite", standing: "log/standing.sqlite" } as const;

/** Runs a program with a folder that goes with it. */
export const inFolder = async <A>(program: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "golden-store-"));
  mkdirSync(join(folder, "log"));
  try {
    return await program(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** A text of values with bigints and bytes, the same for the same values. */
export const textOf = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, each: unknown) =>
      typeof each === "bigint"
        ? `${each}n`
        : each instanceof Uint8Array
          ? Buffer.from(each).toString("hex")
          : each,
    2,
  );

/** What a store answers to every question that a service asks of it. */
export const answersOf = (index: Index) =>
  Effect.all({
    everything: everything(index),
    byMerchant: index.reader.escrows({ merchant: walletOf("merchant 1") }, 50, null),
    byState: index.reader.escrows({ state: "Refunded" }, 50, null),
    refundable: index.reader.escrows({ refundableAt: 2_000_000_000n }, 50, null),
    events: index.reader.events({ merchant: walletOf("merchant 1") }, 50, { after: 0n }),
    merchants: index.writer.merchantsAt(worldMerchants().map(({ address }) => address)),
    standing: index.log.standing,
  });

/** The rows that a store holds of every escrow whose address it shows, found by their addresses, and the same rows in pages. */
export const foundIn = (index: Index) =>
  Effect.gen(function* () {
    const { escrows, unseen } = yield* everything(index);
    const found = yield* index.reader.escrowsAt(
      [...escrows, ...unseen].map(({ address }) => address),
    );
    const bySeq = <Row extends { readonly createdSeq: bigint }>(rows: ReadonlyArray<Row>) =>
      rows.toSorted((a, b) => (a.createdSeq < b.createdSeq ? -1 : 1));
    return {
      found: { escrows: bySeq(found.escrows), unseen: bySeq(found.unseen) },
      paged: { escrows: bySeq(escrows), unseen: bySeq(unseen) },
    };
  });

/** Escrows of a world in every state, numbered without a gap. */
const rows = (): ReadonlyArray<IndexedEscrow> => {
  let seq = 0n;
  return Array.from({ length: 12 }, (_, number) => {
    const escrow = worldEscrow(number);
    const createdSeq = (seq += 1n);
    const settledSeq = escrow.settledSeq === null ? null : (seq += 1n);
    return indexedOf({ ...escrow, createdSeq, settledSeq });
  });
};

/** What a store of a released schema is filled with. */
export const goldenChanges = (): IndexChanges => {
  const all = rows();
  return changesOf({
    escrows: all.slice(0, 9),
    unseen: all.slice(9).map(unseenOf),
    merchants: worldMerchants()
      .slice(0, 3)
      .map((row) => ({ row, slot: 2n ** 64n - 1n })),
    transactions: [2n, 5n].map((position) => ({
      position,
      signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(Number(position))),
      slot: 1000n + position,
    })),
    mark: {
      count: 21n,
      head: hash32FromBytes(new Uint8Array(32).fill(21)),
      slot: 2000n,
      ledgerTime: 1_700_000_100n,
      atMs: 1_700_000_100_500,
      paceFrom: { slot: 1900n, atMs: 1_700_000_060_500 },
    },
  });
};

// Run by a person, once for each schema that is released: writes a store of the schema version argv[2], and its answers.
if (import.meta.main) {
  const version = process.argv[2] ?? "";
  await inFolder(async (folder) => {
    const path = join(folder, STORE_FILES.index);
    const answers = await Effect.runPromise(
      withStore(path, (index) =>
        Effect.gen(function* () {
          yield* index.writer.apply(goldenChanges());
          yield* index.log.replaceStanding(null, '{"size":22}');
          return yield* answersOf(index);
        }),
      ),
    );
    for (const [name, file] of Object.entries(STORE_FILES))
      writeFileSync(
        join(GOLDEN, `sqlite-${name}-${version}.gz`),
        Bun.gzipSync(readFileSync(join(folder, file))),
      );
    writeFileSync(join(GOLDEN, `sqlite-answers-${version}.json`), `${textOf(answers)}\n`);
  });
}
