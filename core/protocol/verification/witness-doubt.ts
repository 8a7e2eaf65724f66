import { type Address, addressToBytes } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import {
  type ArchivedEscrow,
  decodeArchivedEscrowAccount,
} from "../accounts/archived-escrow-account.ts";
import { decodeCustodyConfigAccount } from "../accounts/settings-accounts.ts";
import { decodeEscrowAccount, termsIn } from "../accounts/escrow-account.ts";
import { shownFrom } from "../accounts/escrow-outline.ts";
import { ARCHIVE_DELAY_SECONDS } from "../accounts/escrow-rules.ts";
import {
  custodyConfigAddress,
  merchantAddress,
  programDataAddress,
} from "../addresses/addresses.ts";
import { verifyEd25519 } from "../crypto/strict-ed25519.ts";
import type { EvidenceNetwork } from "../evidence/evidence-data.ts";
import { type ParsedPacket, parseEvidencePacket } from "../evidence/evidence-packet.ts";
import { attestedMessage } from "../instructions/attestation.ts";
import { verifyEvidence } from "./verify-evidence.ts";
import type { LedgerWitness } from "./verify-on-ledger.ts";

/**
 * The ledger accounts that a packet is compared with, null when the packet is too malformed to
 * name any. No node needs to be asked then.
 */
export const witnessAccounts = (
  packet: string | Uint8Array,
): {
  readonly escrow: Address;
  readonly merchant: Address;
  readonly custodyConfig: Address;
  /** Where the programs' bytes are: custody's, then the attestor program's. */
  readonly programData: readonly [Address, Address];
} | null => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return null;
  const { network, account, escrowAddress } = parsed.value;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  if ("fault" in decoded) return null;
  return {
    escrow: escrowAddress,
    merchant: merchantAddress(network, decoded.value.merchant).address,
    custodyConfig: custodyConfigAddress(network).address,
    programData: [
      programDataAddress(network.custodyProgram),
      programDataAddress(network.attestorProgram),
    ],
  };
};

/** A node's answer about a packet, with the slot and the ledger's clock that it was read at. */
export type NodeAnswer = {
  readonly witness: LedgerWitness;
  readonly slot: bigint;
  readonly ledgerTime: UnixSeconds;
};

/**
 * What a node shows at the escrow's address: the number of its last event, and why no ledger can hold it, null when one
 * can.
 */
type Shown = { readonly lastSeq: bigint; readonly fault: string | null };

const hashOf = (data: Uint8Array): Hash32 => hash32FromBytes(sha256(data));

/**
 * Whether an escrow's attestation verifies, as the ledger required for its release. An escrow without one is not
 * judged.
 */
const isAttested = (escrow: Escrow, network: EvidenceNetwork): boolean => {
  const { attestation, attestor } = escrow;
  const message = attestedMessage(escrow, network);
  if (attestation === null || message === null) return true;
  const signature = decodeBase64(attestation.signature) ?? new Uint8Array(64);
  return verifyEd25519(signature, message, addressToBytes(attestor));
};

const wholeFault = (
  escrow: Escrow,
  network: EvidenceNetwork,
  ledgerTime: UnixSeconds,
): string | null => {
  if (!isAttested(escrow, network))
    return "it shows a payment that the escrow's attestor did not sign";
  const from = shownFrom({ ...escrow, attestedAt: escrow.attestation?.attestedAt ?? null });
  return from > ledgerTime || (escrow.settledAt ?? 0n) > ledgerTime
    ? "it shows an escrow from after its own clock"
    : null;
};

/**
 * Why a tombstone contradicts the bytes of the packet's account, null when it does not. Null too when neither of its
 * digests is of these bytes: they prove nothing of it then.
 */
const tombstoneFault = (
  packet: Escrow,
  data: Uint8Array,
  { state, createdSeq, settledSeq, pendingHash, lastHash }: ArchivedEscrow,
  ledgerTime: UnixSeconds,
): string | null => {
  const pending = termsIn(data);
  const isLast = packet.state !== "Pending" && hashOf(data) === lastHash;
  if (!isLast && pending !== pendingHash) return null;
  if (createdSeq !== packet.createdSeq || pending !== pendingHash)
    return "it shows a tombstone whose digest proves another creation than it names";
  if (isLast && (state !== packet.state || settledSeq !== packet.settledSeq))
    return "it shows a tombstone whose digest proves another settlement than it names";
  const settledFrom = (isLast ? packet.settledAt : null) ?? packet.createdAt;
  return ledgerTime < settledFrom + ARCHIVE_DELAY_SECONDS
    ? "it shows an escrow archived before seven days have passed since its settlement"
    : null;
};

const shownIn = (
  { network, account }: ParsedPacket,
  packet: Escrow,
  { witness: { escrow: shown }, ledgerTime }: NodeAnswer,
): Shown | null => {
  if (shown === null) return null;
  const archived = decodeArchivedEscrowAccount(shown, network);
  if ("value" in archived)
    return {
      lastSeq: archived.value.settledSeq,
      fault: tombstoneFault(packet, account.data, archived.value, ledgerTime),
    };
  const now = decodeEscrowAccount(shown, network);
  if ("fault" in now) return null;
  const { settledSeq, createdSeq } = now.value;
  return { lastSeq: settledSeq ?? createdSeq, fault: wholeFault(now.value, network, ledgerTime) };
};

/** Why the answer contradicts itself, null when it does not. */
const ownContradiction = (
  { network }: ParsedPacket,
  shown: Shown | null,
  { custodyConfig }: LedgerWitness,
): string | null => {
  if (shown === null) return null;
  const config = custodyConfig && decodeCustodyConfigAccount(custodyConfig, network);
  if (config === null || "fault" in config)
    return "it shows an escrow, and no configuration of the program that made it";
  const { count } = config.value;
  return shown.lastSeq > count
    ? `it shows event ${shown.lastSeq} of an escrow, and counts ${count} events only`
    : shown.fault;
};

/** The escrow that the node shows while it still is the packet's and Pending; null otherwise. */
const stillPending = (
  { network, account }: ParsedPacket,
  { escrow: shown }: LedgerWitness,
): Escrow | null => {
  const now = shown && decodeEscrowAccount(shown, network);
  if (now === null || "fault" in now || now.value.state !== "Pending") return null;
  return termsIn(shown?.data ?? account.data) === termsIn(account.data) ? now.value : null;
};

/** Why the answer is from before the packet, null when that cannot be told. */
const lagBehind = (
  packet: ParsedPacket,
  { released, closesAt, settledAt }: Escrow,
  { witness, slot, ledgerTime }: NodeAnswer,
): string | null => {
  const { asOf } = packet;
  const now = stillPending(packet, witness);
  if (asOf !== null) {
    const lacks =
      witness.escrow === null ||
      (now !== null && (now.released < released || (closesAt !== null && now.closesAt === null)));
    return lacks && slot < asOf.slot && ledgerTime <= asOf.ledgerTime
      ? `it stands at slot ${slot}, and the packet is of slot ${asOf.slot}`
      : null;
  }
  return now !== null && settledAt !== null && ledgerTime < settledAt
    ? "its clock is from before the packet's settlement"
    : null;
};

/** The checks that no honest node fails where the quorum of witnesses states the account. */
const STATED: ReadonlySet<string> = new Set([
  "account_on_ledger",
  "attestor_is_the_merchants",
  "event_number",
]);

const quorumContradiction = (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
  witness: LedgerWitness,
): string | null => {
  const outcomeIn = (asked?: LedgerWitness) =>
    verifyEvidence(packet, trust, asked).checks.filter(({ name }) => STATED.has(name));
  if (outcomeIn().every(({ outcome }) => outcome !== "witnessed")) return null;
  const denied = outcomeIn(witness).find(({ outcome }) => outcome === "failed");
  return denied === undefined
    ? null
    : `the log's witnesses state that the ledger has this account, and ${denied.reason}`;
};

/**
 * Why a node's answer decides nothing about a packet, null when it may be judged: it shows what no ledger can hold, or
 * what contradicts itself; it is from before the packet; or it denies what the quorum of the policy's witnesses has
 * stated. One of the two lies then. See docs/verify-evidence.md, "With a node".
 */
export const witnessDoubt = (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
  answer: NodeAnswer,
): string | null => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return null;
  const { network, account, escrowAddress } = parsed.value;
  const { witness } = answer;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  if ("fault" in decoded || witness.genesisHash !== network.genesisHash) return null;
  return (
    ownContradiction(parsed.value, shownIn(parsed.value, decoded.value, answer), witness) ??
    lagBehind(parsed.value, decoded.value, answer) ??
    quorumContradiction(packet, trust, witness)
  );
};
