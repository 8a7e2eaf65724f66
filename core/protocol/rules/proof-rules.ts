import { endOf, type Escrow } from "../../domain/escrow/escrow.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime, isUnixTime, type UnixSeconds } from "../../domain/unix-time.ts";
import {
  type AttestationClaim,
  MAX_ATTESTATION_AGE_SECONDS,
  MAX_ATTESTATION_LEAD_SECONDS,
  readAttestationMessage,
} from "../instructions/attestation.ts";
import { readVoucherMessage, type VoucherClaim } from "../instructions/voucher.ts";
import type { Proof } from "./attestation-rules.ts";
import type { LedgerView } from "./custody-call.ts";

/** A time as requests write it, and as a message holds it; only the seconds of a time that has no such form. */
const timeText = (time: UnixSeconds): string =>
  isUnixTime(time) ? `${formatUnixTime(time)} (${time})` : `${time}`;

/** The clock that a timestamp is compared with, and how far that may be off. */
type Clock = Pick<LedgerView, "ledgerTime" | "marginSeconds">;

const futureFault = (
  timestamp: UnixSeconds,
  { ledgerTime, marginSeconds }: Clock,
): SettlementFault | undefined =>
  timestamp - ledgerTime > MAX_ATTESTATION_LEAD_SECONDS + marginSeconds
    ? {
        rule: "attestation_in_future",
        detail: `the attestation is ${timestamp - ledgerTime} s ahead of the ledger's clock; at most ${MAX_ATTESTATION_LEAD_SECONDS} s are taken`,
      }
    : undefined;

/**
 * What is wrong with the timestamp of a final attestation: outside of the escrow's life, or too far from the
 * ledger's clock even if that clock is off by the view's margin.
 */
export const freshnessFault = (
  timestamp: UnixSeconds,
  escrow: Pick<Escrow, "createdAt" | "expiresAt" | "closesAt">,
  clock: Clock,
): SettlementFault | undefined => {
  const { ledgerTime, marginSeconds } = clock;
  const end = endOf(escrow);
  if (timestamp < escrow.createdAt || timestamp >= end)
    return {
      rule: "attestation_outside_escrow",
      detail: `the attestation's timestamp ${timeText(timestamp)} is outside of the escrow's life, from ${timeText(escrow.createdAt)} to before ${timeText(end)}`,
    };
  const age = ledgerTime - timestamp;
  if (age > MAX_ATTESTATION_AGE_SECONDS + marginSeconds)
    return {
      rule: "attestation_stale",
      detail: `the attestation is ${age} s old by the ledger's clock, ${age - MAX_ATTESTATION_AGE_SECONDS} s too old; at most ${MAX_ATTESTATION_AGE_SECONDS} s are taken`,
    };
  return futureFault(timestamp, clock);
};

/** The same for an attestation that is not final: it may be old, since later ones only raise its total. */
const captureTimeFault = (
  timestamp: UnixSeconds,
  { createdAt }: Escrow,
  clock: Clock,
): SettlementFault | undefined =>
  timestamp < createdAt
    ? {
        rule: "attestation_outside_escrow",
        detail: `the attestation's timestamp ${timeText(timestamp)} is from before the escrow's creation at ${timeText(createdAt)}`,
      }
    : futureFault(timestamp, clock);

/** What is wrong with a message's last word: whether it is final, and how many deliveries it counts. */
const messageFault = (
  claim: AttestationClaim | undefined,
  { sessionKey }: Escrow,
  { index }: Proof,
  isFinal: boolean,
): SettlementFault | undefined => {
  const wrong = (what: string): SettlementFault => ({
    rule: "message_differs",
    detail: `the message signed in instruction ${index} ${what}`,
  });
  if (claim === undefined) return wrong("has a final or last bytes that no message has");
  if (claim.isFinal !== isFinal)
    return wrong(
      isFinal
        ? "is not final, and a release takes only a final attestation"
        : "is final, and a capture takes none: release the escrow with it",
    );
  return sessionKey !== null || claim.deliveries === 1
    ? undefined
    : wrong(`counts ${claim.deliveries} deliveries, and a single payment has one`);
};

const wrongVoucher = (detail: string): SettlementFault => ({ rule: "wrong_voucher", detail });

/** What is wrong with the voucher of a session for an attestation. */
export const voucherFault = (
  voucher: VoucherClaim | undefined,
  { total, deliveries }: Pick<AttestationClaim, "total" | "deliveries">,
  isFinal: boolean,
): SettlementFault | undefined => {
  if (voucher === undefined)
    return wrongVoucher("the voucher has a closing or last bytes that none has");
  const attested = `${total} base units for ${deliveries} are attested`;
  const allowed = `the voucher allows ${voucher.total} base units for ${voucher.count} deliveries`;
  if (isFinal && !voucher.isClosing)
    return wrongVoucher("the voucher is not the closing one, which a release needs");
  if (isFinal && (voucher.total !== total || voucher.count !== deliveries))
    return wrongVoucher(`${allowed}, and ${attested}; at a release both must be the same`);
  return voucher.total < total || voucher.count < deliveries
    ? wrongVoucher(`${allowed}, and ${attested}`)
    : undefined;
};

/** What is wrong with what is attested, beside what was paid before. */
export const totalFault = (
  { total, deliveries }: Pick<AttestationClaim, "total" | "deliveries">,
  escrow: Pick<Escrow, "amount" | "released" | "deliveries">,
  isFinal: boolean,
): SettlementFault | undefined => {
  const { amount, released } = escrow;
  const least = isFinal && released > 0n ? released : released + 1n;
  if (least > amount)
    return {
      rule: "amount_out_of_range",
      detail: `all of the escrow's amount ${amount} was captured before, and only a release, a cancellation or a refund is left`,
    };
  if (total < least || total > amount)
    return {
      rule: "amount_out_of_range",
      detail: `the attested total of ${total} must be ${least} to the escrow's amount ${amount}${released === 0n ? "" : `: ${released} were captured before`}`,
    };
  return deliveries < escrow.deliveries
    ? {
        rule: "deliveries_fall",
        detail: `${deliveries} deliveries are attested, and ${escrow.deliveries} were before`,
      }
    : undefined;
};

/**
 * Why the ledger does not pay an escrow's merchant by a proof, in the program's order: the message, its time, the
 * voucher, the total, the deliveries.
 * Keys and signatures are those of `proofOf`.
 */
export const provenFault = (
  escrow: Escrow,
  proof: Proof,
  isFinal: boolean,
  clock: Clock,
): SettlementFault | undefined => {
  const claim = readAttestationMessage(proof.attestation.message);
  const malformed = messageFault(claim, escrow, proof, isFinal);
  if (malformed !== undefined || claim === undefined) return malformed;
  const { voucher } = proof;
  return (
    (isFinal
      ? freshnessFault(claim.timestamp, escrow, clock)
      : captureTimeFault(claim.timestamp, escrow, clock)) ??
    (voucher === null
      ? undefined
      : voucherFault(readVoucherMessage(voucher.message), claim, isFinal)) ??
    totalFault(claim, escrow, isFinal)
  );
};
