import { Effect } from "effect";
import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import type { LedgerWitness } from "../../protocol/verification/verify-on-ledger.ts";
import { witnessAccounts } from "../../protocol/verification/witness-accounts.ts";
import { witnessDoubt } from "../../protocol/verification/witness-doubt.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { orAskAnother } from "../or-ask-another.ts";
import { untrustworthy } from "../refuse-answer.ts";

/**
 * A packet's escrow and merchant accounts and the custody program's configuration, in one read at `finalized`. Undefined,
 * without a read, for a packet that names none. An answer that decides nothing (`witnessDoubt`) is asked of another node, if there is one. Fails with
 * a `LedgerFailure`, whose cause says why, when that one decides nothing either.
 */
export const witnessEvidence = Effect.fn("witnessEvidence")(function* (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
) {
  const accounts = witnessAccounts(packet);
  if (accounts === null) return undefined;
  const ledger = yield* Ledger;
  const genesisHash = yield* ledger.genesisHash;
  const addresses = [accounts.escrow, accounts.merchant, accounts.custodyConfig, CLOCK_SYSVAR];
  const { slot, value } = yield* ledger.readAccounts(addresses, "finalized");
  const [escrow = null, merchant = null, custodyConfig = null, clock = null] = value;
  const witness: LedgerWitness = { genesisHash, escrow, merchant, custodyConfig };
  const ledgerTime = yield* ledgerTimeOf(clock);
  const doubt = witnessDoubt(packet, trust, { witness, slot, ledgerTime });
  if (doubt !== null) return yield* untrustworthy(doubt);
  return witness;
}, orAskAnother);
