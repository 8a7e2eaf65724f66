import { expect } from "bun:test";
import { Effect } from "effect";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { headOf } from "../../../../core/log/leaf/leaf-chain.ts";
import { indexedEscrowOf, projectAt } from "../../../../core/log/leaf/escrow-rows.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import type { Index } from "../../../contracts/fresh-index.ts";
import type { WeatheredChain } from "../../../world/weathered-chain.ts";

/** The escrows of a ledger after the event numbered `count`, oldest first. */
const escrowsAt = (ledger: WeatheredChain, count: bigint): ReadonlyArray<Escrow> =>
  Array.from(ledger.escrows.values(), (escrow) =>
    projectAt(indexedEscrowOf(escrow, encodeEscrowAccount(escrow)), count),
  )
    .flatMap((row) => (row === null ? [] : [row.escrow]))
    .sort((a, b) => (a.createdSeq < b.createdSeq ? -1 : 1));

/**
 * Expects that an index has no mark and shows nothing, or that it shows exactly the ledger's state after the mark's
 * count: each escrow as it was then, in full or unseen, and leaves that chain to the mark's head, which is the
 * ledger's.
 */
export const expectMarked = ({ reader, writer, log }: Index, ledger: WeatheredChain) =>
  Effect.gen(function* () {
    const { mark } = yield* reader.summary;
    const shown = (yield* reader.escrows({}, 1000, null)).toReversed();
    const unseen = yield* writer.unseen(1000, 0n);
    const leaves = yield* log.leaves(1n, 1000);
    if (mark === null) {
      expect([shown.length, unseen.length, leaves.length]).toEqual([0, 0, 0]);
      return;
    }
    const expected = escrowsAt(ledger, mark.count);
    const hidden = new Set(unseen.map(({ createdSeq }) => createdSeq));
    expect(shown).toEqual(expected.filter(({ createdSeq }) => !hidden.has(createdSeq)));
    expect(
      unseen.map(({ address, state, settledSeq }) => ({ address, state, settledSeq })),
    ).toEqual(
      expected
        .filter(({ createdSeq }) => hidden.has(createdSeq))
        .map(({ address, state, settledSeq }) => ({ address, state, settledSeq })),
    );
    expect(BigInt(leaves.length)).toBe(mark.count);
    expect(hash32FromBytes(headOf(leaves))).toBe(mark.head);
    expect(ledger.headAt(mark.count)).toBe(mark.head);
  });
