import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { NO_PINS } from "../../domain/ledger/deployment.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import type { LedgerWitness } from "../../protocol/verification/verify-on-ledger.ts";
import { witnessAccounts } from "../../protocol/verification/witness-accounts.ts";
import { witnessDoubt } from "../../protocol/verification/witness-doubt.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { orAskOthers } from "../or-ask-another.ts";
import { untrustworthy } from "../refuse-answer.ts";

/** The programs' data, whole, where the policy pins them. */
const readPrograms = Effect.fnUntraced(function* (
  addresses: readonly [Address, Address],
  trust: TrustPolicy | null,
) {
  const { custody: custodyPins, attestor: attestorPins } = trust?.programPins ?? NO_PINS;
  if (custodyPins.length + attestorPins.length === 0) return {};
  const ledger = yield* Ledger;
  const whole = Number.POSITIVE_INFINITY;
  const { value } = yield* ledger.readAccounts(addresses, "finalized", whole);
  const [custody = null, attestor = null] = value;
  return { programs: { custody, attestor } };
});

const witnessOnce = Effect.fn("witnessEvidence")(function* (
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
  const programs = yield* readPrograms(accounts.programData, trust);
  const witness: LedgerWitness = { genesisHash, escrow, merchant, custodyConfig, ...programs };
  const ledgerTime = yield* ledgerTimeOf(clock);
  const doubt = witnessDoubt(packet, trust, { witness, slot, ledgerTime });
  if (doubt !== null) return yield* untrustworthy(doubt);
  return witness;
});

/**
 * A packet's escrow and merchant accounts and the custody program's configuration, in one read at `finalized`, and the programs' data
 * where the policy pins them. Undefined,
 * without a read, for a packet that names none. While an answer decides nothing (`witnessDoubt`), another node is asked, up to
 * `others` times. Fails with a `LedgerFailure`, whose cause says why, when the last answer decides nothing either.
 */
export const witnessEvidence = (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
  others: number,
) => orAskOthers(witnessOnce(packet, trust), others);
