import { Effect } from "effect";
import type { LedgerWitness } from "../../protocol/verification/verify-on-ledger.ts";
import { witnessAccounts } from "../../protocol/verification/witness-accounts.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

/**
 * A packet's escrow and merchant accounts and the custody program's configuration, in one read at `finalized`. Undefined,
 * without a read, for a packet that names none. Fails with a `LedgerFailure`.
 */
export const witnessEvidence = Effect.fn("witnessEvidence")(function* (
  packet: string | Uint8Array,
) {
  const accounts = witnessAccounts(packet);
  if (accounts === null) return undefined;
  const ledger = yield* Ledger;
  const genesisHash = yield* ledger.genesisHash;
  const { escrow, merchant, custodyConfig } = accounts;
  const { value } = yield* ledger.readAccounts([escrow, merchant, custodyConfig], "finalized");
  const witness: LedgerWitness = {
    genesisHash,
    escrow: value[0] ?? null,
    merchant: value[1] ?? null,
    custodyConfig: value[2] ?? null,
  };
  return witness;
});
