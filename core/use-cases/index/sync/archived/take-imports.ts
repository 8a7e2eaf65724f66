import { Effect } from "effect";
import type { IndexedEscrow } from "../../../../domain/index/indexed-escrow.ts";
import { IndexWriter } from "../../../../../ports/index/index-writer.ts";
import {
  type ImportedPacket,
  ImportedPackets,
} from "../../../../../ports/index/imported-packets.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { claimInPacket, rowOfClaim } from "./packet-row.ts";

/** Packets read per sync. */
const IMPORTS_A_SYNC = 64;

/** What became of an imported packet: a row, nothing to do, a wait for its event, or a refusal. */
type Taken =
  | { readonly kind: "row"; readonly row: IndexedEscrow }
  | { readonly kind: "known" | "later" }
  | { readonly kind: "refused"; readonly reason: string };

const take = Effect.fnUntraced(function* ({ bytes }: ImportedPacket, count: bigint) {
  const writer = yield* IndexWriter;
  const { deployment } = yield* Instance;
  const claim = claimInPacket(bytes, deployment);
  if ("fault" in claim) return { kind: "refused", reason: claim.fault } satisfies Taken;
  const { address, createdSeq } = claim.value;
  if (createdSeq > count) return { kind: "later" } satisfies Taken;
  const [row] = yield* writer.unseen(1, createdSeq - 1n);
  if (row?.createdSeq !== createdSeq || row.address !== address)
    return { kind: "known" } satisfies Taken;
  const seen = rowOfClaim(row, claim.value, deployment);
  const taken: Taken =
    "fault" in seen ? { kind: "refused", reason: seen.fault } : { kind: "row", row: seen.value };
  return taken;
});

/**
 * The rows of unseen escrows of an index at `count` that the operator's packets show, and the names of the packets that are done with once those
 * rows are written. A packet that is not believed is logged with the reason. Fails like the store.
 */
export const takeImports = Effect.fn("takeImports")(function* (count: bigint) {
  const imports = yield* ImportedPackets;
  const rows = new Map<bigint, IndexedEscrow>();
  const done: Array<string> = [];
  for (const packet of yield* imports.waiting(IMPORTS_A_SYNC)) {
    const taken: Taken = yield* take(packet, count);
    if (taken.kind === "later") continue;
    done.push(packet.name);
    if (taken.kind === "row") rows.set(taken.row.createdSeq, taken.row);
    else if (taken.kind === "refused")
      yield* Effect.logWarning("an imported packet is refused", {
        packet: packet.name,
        reason: taken.reason,
      });
  }
  return { rows: [...rows.values()], done };
});
