import type { Static } from "@sinclair/typebox";
import type { ActionGround } from "../../../core/protocol/instructions/next-actions.ts";
import type { LiveEscrow as Live } from "../../../core/use-cases/escrow/read-escrow.ts";
import type { Instance } from "../../../ports/instance.ts";
import { nullable, record } from "../openapi/values.ts";
import { Escrow, escrowExample, escrowRecord } from "./escrow-contract.ts";
import { Tombstone, tombstoneRecord } from "./tombstone-contract.ts";

/** One escrow as the ledger shows it, archived or not. */
export const LiveEscrow = record("LiveEscrow", "One escrow, as the ledger shows it.", {
  ...Escrow.properties,
  archived: nullable(Tombstone, {
    description:
      "What the ledger keeps since the escrow was archived; all other members come from bytes with this digest. Null while the escrow is not archived.",
  }),
});

/** An escrow read from the ledger as JSON; `ground` as `nextActions` takes it. */
export const liveEscrowRecord = (
  { escrow, ledgerTime, archived }: Live,
  instance: Pick<Instance["Service"], "deployment" | "supportedMints">,
  ground?: ActionGround,
): Static<typeof LiveEscrow> => {
  const record = escrowRecord(escrow, ledgerTime, instance, ground);
  return archived === null
    ? { ...record, archived: null }
    : { ...record, next_actions: [], archived: tombstoneRecord(archived) };
};

/** The example of a live read. */
export const liveEscrowExample = (): Static<typeof LiveEscrow> => ({
  ...escrowExample(),
  archived: null,
});
