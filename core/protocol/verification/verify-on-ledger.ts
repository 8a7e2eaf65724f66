import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { EvidenceCheck, TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { NO_PINS } from "../../domain/ledger/deployment.ts";
import { sha256 } from "../../domain/sha256.ts";
import { rootOf } from "../../log/tree/frontier.ts";
import {
  type ArchivedEscrow,
  decodeArchivedEscrowAccount,
} from "../accounts/archived-escrow-account.ts";
import { decodeEscrowAccount, termsIn } from "../accounts/escrow-account.ts";
import { decodeCustodyConfigAccount } from "../accounts/settings-accounts.ts";
import { deployedHash } from "../accounts/loader-v3.ts";
import { decodeMerchantAccount } from "../accounts/merchant-account.ts";
import type { EvidenceNetwork } from "../evidence/evidence-data.ts";
import type { LogReference } from "../evidence/evidence-references.ts";
import { type FreshLog, isInLedgersLog } from "./verify-fresh-log.ts";
import type { LoggedAccount } from "./verify-in-log.ts";
import { capturedCheck, type DatedAccount, outcome, stillPendingCheck } from "./verify-pending.ts";

/** What a node of the verifier's own choice says about a packet's escrow. */
export type LedgerWitness = {
  readonly genesisHash: string;
  /** The finalized account at the escrow's address. */
  readonly escrow: LedgerAccount | null;
  /** The finalized account at the merchant's address. */
  readonly merchant: LedgerAccount | null;
  /** The finalized account at the address of the custody program's configuration. */
  readonly custodyConfig: LedgerAccount | null;
  /** The finalized accounts at the addresses of the programs' data, whole; absent where nobody asked for them. */
  readonly programs?: {
    readonly custody: LedgerAccount | null;
    readonly attestor: LedgerAccount | null;
  };
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** The `ledger` check of an archived escrow, by the digests that the ledger keeps in place of its bytes. */
const tombstoneCheck = (
  name: string,
  escrow: Escrow,
  data: Uint8Array,
  { state, pendingHash, lastHash }: ArchivedEscrow,
): EvidenceCheck => {
  if (escrow.state === "Pending")
    return termsIn(data) === pendingHash
      ? outcome(
          name,
          "passed",
          `the escrow was archived as ${state}, and the ledger keeps the digest of the bytes that the packet's account had when it was created`,
        )
      : outcome(name, "failed", "the escrow was archived, and was created with other bytes");
  return hash32FromBytes(sha256(data)) === lastHash
    ? outcome(
        name,
        "passed",
        "the escrow was archived, and the ledger keeps the digest of the packet's account bytes",
      )
    : outcome(
        name,
        "failed",
        "the escrow was archived, and the digest on the ledger is not that of the packet's account bytes",
      );
};

/** What a packet and its log show of a path to the ledger's own log. */
export type LogPath = {
  readonly reference: LogReference | null;
  /** None where the log was not asked. */
  readonly tiles: FreshLog["tiles"];
};

/** How many events the node counts whose log is shown to hold the account's last one; null where that is not shown. */
const countOfLog = (
  account: LoggedAccount,
  { reference, tiles }: LogPath,
  { custodyConfig }: LedgerWitness,
): bigint | null => {
  const decoded = custodyConfig && decodeCustodyConfigAccount(custodyConfig, account.network);
  if (decoded === null || "fault" in decoded) return null;
  return isInLedgersLog(account, reference, decoded.value, tiles) ? decoded.value.count : null;
};

const accountCheck = (
  { escrow, data, network }: LoggedAccount,
  witness: LedgerWitness,
  logged: bigint | null,
): EvidenceCheck => {
  const name = "account_on_ledger";
  // The log proves a Pending account's creation only: what became of it since, the account says.
  if (logged !== null && escrow.state !== "Pending")
    return outcome(
      name,
      "passed",
      `the ledger's own log of ${logged} events holds the account's last one, by the root that the node shows`,
    );
  if (witness.escrow === null)
    return outcome(name, "failed", "the node shows no account at the escrow's address");
  if (witness.escrow.owner === network.custodyProgram && sameBytes(witness.escrow.data, data))
    return outcome(name, "passed", "the same account stands on the ledger");
  const archived = decodeArchivedEscrowAccount(witness.escrow, network);
  if ("value" in archived) return tombstoneCheck(name, escrow, data, archived.value);
  const now = decodeEscrowAccount(witness.escrow, network);
  if ("fault" in now || termsIn(witness.escrow.data) !== termsIn(data))
    return outcome(name, "failed", "the account that the node shows is not the packet's");
  if (escrow.state === "Pending")
    return outcome(
      name,
      "passed",
      `the escrow stands on the ledger and is ${now.value.state} by now`,
    );
  return now.value.state === "Pending"
    ? outcome(name, "failed", "the node shows the escrow still Pending, or is behind")
    : outcome(name, "failed", "the node shows the escrow settled in another way");
};

/**
 * The custody program recorded the merchant's key in the second the escrow was made; later rotations do not concern it.
 */
const attestorCheck = (
  { attestation, attestor: recorded, createdAt, merchant }: Escrow,
  network: EvidenceNetwork,
  witness: LedgerWitness,
  logged: bigint | null,
): EvidenceCheck => {
  const name = "attestor_is_the_merchants";
  if (attestation === null)
    return outcome(name, "not_applicable", "nothing was attested for this escrow");
  const decoded = witness.merchant && decodeMerchantAccount(witness.merchant, network);
  if (decoded === null || "fault" in decoded || decoded.value.wallet !== merchant)
    return outcome(name, "failed", "the node shows no such merchant");
  const { attestor, previousAttestor, attestorSince } = decoded.value;
  if (recorded === attestor && createdAt >= attestorSince)
    return outcome(name, "passed", "the attestor is the merchant's current key");
  if (recorded === previousAttestor && createdAt <= attestorSince)
    return outcome(name, "passed", "the attestor was the merchant's key before its last rotation");
  return logged === null
    ? outcome(
        name,
        "unproven",
        "the merchant's record goes back one rotation and does not reach this key",
      )
    : outcome(name, "passed", "the custody program wrote the merchant's key into this account");
};

/** Whether the ledger has numbered as many events as the packet's last one needs. */
const eventNumberCheck = (
  { escrow, network }: LoggedAccount,
  { custodyConfig }: LedgerWitness,
): EvidenceCheck => {
  const name = "event_number";
  const decoded = custodyConfig && decodeCustodyConfigAccount(custodyConfig, network);
  if (decoded === null || "fault" in decoded)
    return outcome(name, "failed", "the node shows no configuration of the custody program");
  const number = escrow.settledSeq ?? escrow.createdSeq;
  const { count } = decoded.value;
  return number <= count
    ? outcome(
        name,
        "passed",
        `the packet's event has the number ${number}, and the ledger counts ${count} events with the root ${rootOf(decoded.value)}`,
      )
    : outcome(
        name,
        "failed",
        `the packet's event has the number ${number}, and the node counts ${count} events only`,
      );
};

/** Whether the programs on the ledger have hashes that the policy pins. Only a node shows it. */
export const programsCheck = (
  trust: TrustPolicy | null,
  programs: LedgerWitness["programs"],
): EvidenceCheck => {
  const name = "program_bytes";
  const { custody, attestor } = trust?.programPins ?? NO_PINS;
  const pinned = [
    { program: "custody", pins: custody, account: programs?.custody },
    { program: "attestor", pins: attestor, account: programs?.attestor },
  ].filter(({ pins }) => pins.length > 0);
  if (pinned.length === 0)
    return outcome(name, "not_applicable", "no trust policy pins the programs' bytes");
  if (programs === undefined)
    return outcome(name, "unproven", "only a node shows which bytes the pinned programs have");
  const hashes = pinned.map(({ program, pins, account }) => {
    const hash = deployedHash(account ?? null);
    return { isPinned: hash !== null && pins.includes(hash), text: `${program} ${hash}` };
  });
  const unpinned = hashes.filter(({ isPinned }) => !isPinned);
  const named = (some: typeof hashes): string => some.map(({ text }) => text).join(", ");
  return unpinned.length === 0
    ? outcome(
        name,
        "passed",
        `the programs on the ledger are those of the policy: ${named(hashes)}`,
      )
    : outcome(
        name,
        "failed",
        `the node shows another program than the policy pins: ${named(unpinned)}`,
      );
};

/**
 * The checks that need the ledger, by what a node of the verifier's choice answered, and whether that
 * node is on the packet's ledger. See docs/verify-evidence.md, "With a node".
 */
export const ledgerChecks = (
  account: DatedAccount,
  trust: TrustPolicy | null,
  witness: LedgerWitness,
  path: LogPath,
): ReadonlyArray<EvidenceCheck> => {
  const { escrow, network } = account;
  if (witness.genesisHash !== network.genesisHash)
    return [outcome("ledger", "failed", "the node is on another ledger than the packet")];
  const logged = countOfLog(account, path, witness);
  return [
    outcome("ledger", "passed", "the node is on the packet's ledger"),
    accountCheck(account, witness, logged),
    stillPendingCheck(account, witness),
    capturedCheck(account, witness),
    attestorCheck(escrow, network, witness, logged),
    eventNumberCheck(account, witness),
    programsCheck(trust, witness.programs),
  ];
};
