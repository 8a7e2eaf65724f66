import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime, LAST_UNIX_SECOND, type UnixSeconds } from "../../domain/unix-time.ts";
import {
  MAX_ATTESTATION_AGE_SECONDS,
  MAX_ATTESTATION_LEAD_SECONDS,
} from "../instructions/attestation.ts";
import type { LedgerView } from "./custody-call.ts";

/** A time as requests write it, and as a message holds it; only the seconds of a time that has no such form. */
const timeText = (time: UnixSeconds): string =>
  time < 0n || time > LAST_UNIX_SECOND ? `${time}` : `${formatUnixTime(time)} (${time})`;

/**
 * What is wrong with an attestation's timestamp: outside of the escrow's life, or too far from the
 * ledger's clock even if that clock is off by the view's margin.
 */
export const freshnessFault = (
  timestamp: UnixSeconds,
  escrow: Escrow | undefined,
  { ledgerTime, marginSeconds }: LedgerView,
): SettlementFault | undefined => {
  if (escrow !== undefined && (timestamp < escrow.createdAt || timestamp >= escrow.expiresAt))
    return {
      rule: "attestation_outside_escrow",
      detail: `the attestation's timestamp ${timeText(timestamp)} is outside of the escrow's life, from ${timeText(escrow.createdAt)} to before ${timeText(escrow.expiresAt)}`,
    };
  const age = ledgerTime - timestamp;
  if (age > MAX_ATTESTATION_AGE_SECONDS + marginSeconds)
    return {
      rule: "attestation_stale",
      detail: `the attestation is ${age} s old by the ledger's clock, ${age - MAX_ATTESTATION_AGE_SECONDS} s too old; at most ${MAX_ATTESTATION_AGE_SECONDS} s are taken`,
    };
  if (-age > MAX_ATTESTATION_LEAD_SECONDS + marginSeconds)
    return {
      rule: "attestation_in_future",
      detail: `the attestation is ${-age} s ahead of the ledger's clock; at most ${MAX_ATTESTATION_LEAD_SECONDS} s are taken`,
    };
  return undefined;
};
