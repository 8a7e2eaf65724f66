import { Context, Effect } from "effect";
import type { Address } from "../../../domain/address.ts";
import type { Escrow } from "../../../domain/escrow/escrow.ts";
import { RecentlyUsed } from "../../../domain/recently-used.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";

/** What never changes of an escrow: it tells which accounts are around it. */
export type Parties = Pick<Escrow, "mint" | "agentOwner" | "merchant" | "rentPayer">;

/** Whether the same accounts are around both. */
export const hasSameParties = (one: Parties, other: Parties): boolean =>
  one.mint === other.mint &&
  one.agentOwner === other.agentOwner &&
  one.merchant === other.merchant &&
  one.rentPayer === other.rentPayer;

/** At 200 bytes each, 2 MB at most. */
const KEPT_PARTIES = 5_000;

/** The parties of escrows that were read lately; an escrow is often prepared for several times before it is indexed. */
export const RecentParties = Context.Reference<RecentlyUsed<Address, Parties> | null>(
  "settlement-evidence/core/use-cases/RecentParties",
  { defaultValue: () => null },
);

/** The process's one `RecentParties`. */
export const makeRecentParties = () => new RecentlyUsed<Address, Parties>(KEPT_PARTIES);

/** The parties of an escrow as they were read or indexed, undefined when they are not known. Only the ledger's count. */
export const expectedParties = Effect.fnUntraced(function* (address: Address) {
  const recent = (yield* RecentParties)?.get(address);
  if (recent !== undefined) return recent;
  const index = yield* IndexReader;
  const none = { escrows: [] };
  const { escrows } = yield* Effect.orElseSucceed(index.escrowsAt([address]), () => none);
  return escrows[0];
});
