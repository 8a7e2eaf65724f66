import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { EvidenceCheck } from "../../domain/evidence/evidence-check.ts";
import { formatUnixTime } from "../../domain/unix-time.ts";
import { decodeArchivedEscrowAccount } from "../accounts/archived-escrow-account.ts";
import { decodeEscrowAccount, termsIn } from "../accounts/escrow-account.ts";
import type { ParsedPacket } from "../evidence/evidence-packet.ts";
import { CUSTODY_CONSTANTS } from "../generated/custody.ts";
import type { LoggedAccount } from "./verify-in-log.ts";
import type { LedgerWitness } from "./verify-on-ledger.ts";

/** A packet's account, and the date that the packet has while it is Pending. */
export type DatedAccount = LoggedAccount & Pick<ParsedPacket, "asOf">;

/** A check with its outcome and reason. */
export const outcome = (
  name: string,
  result: EvidenceCheck["outcome"],
  reason: string,
): EvidenceCheck => ({ name, outcome: result, reason });

/** Why what a Pending packet shows of its session never stood on the ledger that shows `now`, null when it can have. */
const captureFault = ({ escrow, asOf }: DatedAccount, now: Escrow): string | null => {
  const { released, deliveries, closesAt, attestation } = escrow;
  if (now.released < released || now.deliveries < deliveries)
    return `the node shows ${now.released} base units released for ${now.deliveries} deliveries, less than the packet`;
  // A capture pays something, so the same amount is the same capture. A release may attest it once more.
  const isSameCapture = now.released === released && now.settledBy !== "release";
  const isSameRecord =
    now.deliveries === deliveries &&
    now.attestation?.proofHash === attestation?.proofHash &&
    now.attestation?.attestedAt === attestation?.attestedAt &&
    now.attestation?.signature === attestation?.signature;
  if (isSameCapture && !isSameRecord)
    return `the node shows ${released} base units released on another attestation`;
  if (closesAt !== null)
    return now.closesAt === closesAt
      ? null
      : `the node shows no closing of the session with the end ${formatUnixTime(closesAt)}`;
  // A closing that left the end where it was does not tell when it happened.
  if (now.closesAt === null || now.closesAt >= now.expiresAt || asOf === null) return null;
  const closedAt = now.closesAt - CUSTODY_CONSTANTS.CLOSE_DELAY_SECONDS;
  return asOf.ledgerTime > closedAt
    ? `the node shows that the session was closed at ${formatUnixTime(closedAt)}, before the packet`
    : null;
};

/**
 * What the packet's Pending session captured and whether it was closed, beside what the ledger shows of it. Neither
 * causes an event, so no log holds them. Only a node shows them.
 */
export const capturedCheck = (
  account: DatedAccount,
  witness: LedgerWitness | undefined,
): EvidenceCheck => {
  const { escrow, data, network } = account;
  const name = "captured_on_ledger";
  if (escrow.state !== "Pending")
    return outcome(
      name,
      "not_applicable",
      "the escrow is settled: its last state holds what was released",
    );
  const shown = witness?.escrow ?? null;
  const now = shown && decodeEscrowAccount(shown, network);
  const isSame =
    shown !== null && now !== null && "value" in now && termsIn(shown.data) === termsIn(data);
  const fault = isSame ? captureFault(account, now.value) : null;
  if (fault !== null) return outcome(name, "failed", fault);
  if (escrow.released === 0n && escrow.closesAt === null)
    return outcome(name, "not_applicable", "the packet shows nothing captured, and no closing");
  if (witness === undefined)
    return outcome(
      name,
      "unproven",
      "captures and closings have no leaf in the log; only a node shows them",
    );
  if (shown === null)
    return outcome(name, "failed", "the node shows no account at the escrow's address");
  if ("value" in decodeArchivedEscrowAccount(shown, network))
    return outcome(
      name,
      "unproven",
      "the escrow was archived, and the ledger keeps no amounts of it",
    );
  return isSame
    ? outcome(
        name,
        "passed",
        `the ledger shows ${now.value.released} base units released, at least as much as the packet`,
      )
    : outcome(name, "failed", "the account that the node shows is not the packet's");
};

/**
 * Whether the account is on the ledger as the packet has it, still Pending. What was captured since does not matter.
 * Fails where the ledger had settled it before the time for which the packet says that it was Pending.
 */
export const stillPendingCheck = (
  { escrow, data, network, asOf }: DatedAccount,
  witness: LedgerWitness,
): EvidenceCheck => {
  const name = "still_pending";
  if (escrow.state !== "Pending")
    return outcome(name, "not_applicable", "the escrow is settled, which is its last state");
  const decoded = witness.escrow && decodeEscrowAccount(witness.escrow, network);
  const now =
    decoded !== null &&
    "value" in decoded &&
    termsIn(witness.escrow?.data ?? data) === termsIn(data)
      ? decoded.value
      : null;
  if (now?.state === "Pending")
    return outcome(name, "passed", "the escrow still is Pending on the ledger");
  const settledAt = now?.settledAt ?? null;
  return settledAt !== null && asOf !== null && asOf.ledgerTime > settledAt
    ? outcome(
        name,
        "failed",
        `the node shows that the escrow was settled at ${formatUnixTime(settledAt)}, before the packet`,
      )
    : outcome(name, "not_applicable", "account_on_ledger says what stands on the ledger instead");
};
