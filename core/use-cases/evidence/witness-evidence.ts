import { Effect } from "effect";
import type { LedgerWitness } from "../../protocol/evidence/verify-on-ledger.ts";
import { witnessAccounts } from "../../protocol/evidence/witness-accounts.ts";
import { Ledger } from "../../../ports/ledger.ts";

/**
 * What the ledger says about a packet's escrow and merchant, read at `finalized`; undefined for a packet that
 * names neither, for which nothing is asked. Fails as the ledger does.
 */
export const witnessEvidence = Effect.fn("witnessEvidence")(function* (
  packet: string | Uint8Array,
) {
  const accounts = witnessAccounts(packet);
  if (accounts === null) return undefined;
  const ledger = yield* Ledger;
  const genesisHash = yield* ledger.genesisHash;
  const { escrow, merchant } = accounts;
  const { value } = yield* ledger.readAccounts([escrow, merchant], "finalized");
  const witness: LedgerWitness = {
    genesisHash,
    escrow: value[0] ?? null,
    merchant: value[1] ?? null,
  };
  return witness;
});
