import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import { leavesOfEscrow, type NumberedLeaf } from "../../log/leaf/escrow-leaves.ts";
import { leavesOfUnseen } from "../../log/leaf/indexed-leaves.ts";
import { encodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";

/** The leaves of the events of at most 1000 escrows, in any order, that the index chains to the ledger's head. Fails like the store. */
export const provedLeaves = Effect.fnUntraced(function* (addresses: ReadonlyArray<Address>) {
  const index = yield* IndexReader;
  const held = yield* index.escrowsAt(addresses);
  const leaves: ReadonlyArray<NumberedLeaf> = [
    ...held.escrows.flatMap((row) => leavesOfEscrow(row, encodeEscrowAccount(row))),
    ...held.unseen.flatMap(leavesOfUnseen),
  ];
  return leaves;
});
