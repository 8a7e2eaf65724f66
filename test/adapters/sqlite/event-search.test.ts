import { expect, test } from "bun:test";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import type { EventReference } from "../../../core/domain/index/settlement-event.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../ports/index/index-writer.ts";
import { changesOf, indexedOf } from "../../arbitraries/index-history.ts";
import { pendingOf, worldEscrow } from "../../simulation/world-escrow.ts";
import { inOwnFolder } from "./store-folder.ts";
import { storeAt } from "./test-store.ts";

/** Events without a transaction are looked for in windows of 5,000 numbers. These are at the edges of some. */
const AT_EDGES = [1n, 4999n, 5000n, 5001n, 5002n, 9999n, 10_000n, 10_001n, 10_002n];
const COUNT = 10_002n;

const transactionAt = (position: bigint): EventReference => {
  const bytes = new Uint8Array(64).fill(1);
  new DataView(bytes.buffer).setBigUint64(0, position);
  return { position, signature: ledgerSignatureFromBytes(bytes), slot: position };
};

/** Runs on an index whose escrows have these numbers. All other numbers up to the count have a transaction. */
const withEscrowsAt = <A, E>(
  numbers: ReadonlyArray<bigint>,
  program: (index: IndexReader["Service"]) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    const escrows = numbers.map((createdSeq, at) =>
      indexedOf({ ...pendingOf(worldEscrow(at)), createdSeq }),
    );
    const transactions = Array.from({ length: Number(COUNT) }, (_, at) => BigInt(at + 1))
      .filter((position) => !numbers.includes(position))
      .map(transactionAt);
    const mark = {
      count: COUNT,
      frontier: new Uint8Array(1280).fill(1),
      slot: 5n,
      ledgerTime: 1_700_000_000n,
      atMs: 1_700_000_000_000,
    };
    const { apply } = yield* IndexWriter;
    yield* apply(changesOf({ escrows, transactions, mark }));
    return yield* program(yield* IndexReader);
  }).pipe(
    Effect.provide(inOwnFolder((folder) => Layer.fresh(storeAt(join(folder, "index.sqlite"))))),
    Effect.runPromise,
  );

const WITHOUT = { withoutTransaction: true } as const;

test("each event without a transaction is found once, wherever the windows of the search end", () =>
  withEscrowsAt(AT_EDGES, (index) =>
    Effect.gen(function* () {
      for (const edge of [0n, ...AT_EDGES, COUNT + 1n]) {
        const above = yield* index.events(WITHOUT, 100, { after: edge });
        expect(above.map(({ position }) => position)).toEqual(AT_EDGES.filter((is) => is > edge));
        const below = yield* index.events(WITHOUT, 100, { before: edge });
        expect(below.map(({ position }) => position)).toEqual(
          AT_EDGES.filter((is) => is < edge).toReversed(),
        );
      }
      const newest = yield* index.events(WITHOUT, 100, { before: null });
      expect(newest.map(({ position }) => position)).toEqual(AT_EDGES.toReversed());
    }),
  ));

test.each([1, 5000, 5001, 10_000])(
  "the one event without a transaction is found at number %d, the edge of a window whose other events have theirs",
  (edge) => {
    const number = BigInt(edge);
    return withEscrowsAt([number, COUNT], (index) =>
      Effect.gen(function* () {
        const [first] = yield* index.events(WITHOUT, 1, { after: 0n });
        expect(first?.position).toBe(number);
        const last = yield* index.events(WITHOUT, 1, { before: COUNT });
        expect(last.map(({ position }) => position)).toEqual([number]);
      }),
    );
  },
);
