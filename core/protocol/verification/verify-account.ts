import { addressToBytes } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import { canonicalJsonBytes, type Json } from "../../domain/encoding/canonical-json.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import {
  type EvidenceCheck,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import type { Decoded } from "../../domain/ledger/account.ts";
import { shownFrom } from "../accounts/escrow-outline.ts";
import { verifyEd25519 } from "../crypto/strict-ed25519.ts";
import { evidenceData, type EvidenceNetwork } from "../evidence/evidence-data.ts";
import type { ParsedPacket } from "../evidence/evidence-packet.ts";
import { attestedMessage } from "../instructions/attestation.ts";
import type { LogVerdict } from "./verify-in-log.ts";
import {
  ledgerChecks,
  type LedgerWitness,
  type LogPath,
  programsCheck,
} from "./verify-on-ledger.ts";
import { capturedCheck, type DatedAccount, outcome as point } from "./verify-pending.ts";

const ATTESTOR_WITNESSED =
  "the custody program records the merchant's key when it makes an escrow, and the account that holds it is witnessed";

/** Whether a Pending packet's escrow still is Pending, as far as the log's witnesses go. */
const stillPending = (
  account: DatedAccount | null,
  witnessedBy: string | null,
): ReadonlyArray<EvidenceCheck> => {
  const name = "still_pending";
  if (account === null) return [];
  if (account.escrow.state !== "Pending")
    return [point(name, "not_applicable", "the escrow is settled, which is its last state")];
  return [
    witnessedBy === null
      ? point(name, "not_applicable", "not judged, since account_on_ledger is unproven")
      : point(
          name,
          "unproven",
          "the escrow was created with these terms; only a node shows whether it still is Pending",
        ),
  ];
};

/** Why no witness states that the ledger has the account. */
const unwitnessedText = (trust: TrustPolicy | null): string => {
  if (trust === null || (trust.logOnLedger === null && trust.logAppendOnly === null))
    return "an offline check cannot show that the ledger has this account";
  return trust.logOnLedger === null
    ? "the trust policy names no witness that compares the log with the ledger; ask a node"
    : "no quorum of witnesses shows that the ledger has this account; ask a node";
};

const withoutNode = (
  account: DatedAccount | null,
  trust: TrustPolicy | null,
  witnessedBy: string | null,
): ReadonlyArray<EvidenceCheck> => {
  const unasked = "no node of the ledger was asked";
  const shared = [
    point("ledger", "not_applicable", unasked),
    point("event_number", "not_applicable", unasked),
    programsCheck(trust, undefined),
    ...stillPending(account, witnessedBy),
    ...(account === null ? [] : [capturedCheck(account, undefined)]),
  ];
  if (witnessedBy === null)
    return [
      ...shared,
      point("account_on_ledger", "unproven", unwitnessedText(trust)),
      point(
        "attestor_is_the_merchants",
        "unproven",
        "an offline check cannot show that the attestor key was the merchant's",
      ),
    ];
  const what =
    account?.escrow.state === "Pending"
      ? "witnesses state that the ledger created this account"
      : "witnesses state that the ledger left this account as it is here";
  return [
    ...shared,
    point("account_on_ledger", "witnessed", `${what}: ${witnessedBy}`),
    point("attestor_is_the_merchants", "witnessed", ATTESTOR_WITNESSED),
  ];
};

/**
 * The checks that concern the ledger itself, by a node of the verifier's choice or, without one, by the log's
 * witnesses. A node outweighs witnesses; where the node's record of the merchant does not go back far enough, the
 * witnesses do. `account` is null for a packet whose account is no escrow.
 */
export const ledgerPoints = (
  account: DatedAccount | null,
  trust: TrustPolicy | null,
  log: LogVerdict | null,
  witness: LedgerWitness | undefined,
  path: LogPath,
): ReadonlyArray<EvidenceCheck> => {
  const witnessedBy = log?.witnessedBy ?? null;
  if (witness === undefined) return withoutNode(account, trust, witnessedBy);
  if (account === null) return [];
  return ledgerChecks(account, trust, witness, path).map((each) =>
    each.name === "attestor_is_the_merchants" && each.outcome === "unproven" && witnessedBy !== null
      ? point(each.name, "witnessed", ATTESTOR_WITNESSED)
      : each,
  );
};

const sameJson = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === undefined || b === undefined) return false;
  const [x, y] = [canonicalJsonBytes(a), canonicalJsonBytes(b)];
  return x.length === y.length && x.every((byte, i) => byte === y[i]);
};

const attestationCheck = (escrow: Escrow, network: EvidenceNetwork): EvidenceCheck => {
  const { attestation } = escrow;
  const message = attestedMessage(escrow, network);
  if (attestation === null || message === null)
    return {
      name: "attestation_signature",
      outcome: "not_applicable",
      reason: "nothing was attested for this escrow",
    };
  const signature = decodeBase64(attestation.signature) ?? new Uint8Array(64);
  return passedOrFailed(
    "attestation_signature",
    verifyEd25519(signature, message, addressToBytes(escrow.attestor)),
    "the attestor's signature verifies over the recomputed message",
    "the attestor's signature does not verify over the recomputed message",
  );
};

const asOfCheck = (escrow: Escrow, asOf: ParsedPacket["asOf"]): EvidenceCheck => {
  const name = "as_of";
  if (escrow.state !== "Pending")
    return passedOrFailed(
      name,
      asOf === null,
      "a settled packet has no date, as required",
      "a settled packet has a date",
    );
  return passedOrFailed(
    name,
    asOf !== null &&
      asOf.ledgerTime >=
        shownFrom({ ...escrow, attestedAt: escrow.attestation?.attestedAt ?? null }),
    "a pending packet says when it was true",
    "a pending packet must say when it was true, which cannot be before the escrow was created, or what it shows was attested or closed",
  );
};

/**
 * The checks that follow from the escrow account's bytes: `account_bytes`, `escrow_address`,
 * `escrow_fields`, `delivery_claim`, `attestation_signature`, `settlement_decision` and `as_of`. The later
 * ones are not judged when one of the first two fails. See docs/verify-evidence.md, "The checks, in order".
 */
export const accountChecks = (
  { network, account, asOf, data }: ParsedPacket,
  decoded: Decoded<Escrow>,
): ReadonlyArray<EvidenceCheck> => {
  const fault = "fault" in decoded ? decoded.fault : null;
  const misplaced = fault === "address_not_derived";
  const bytesCheck = passedOrFailed(
    "account_bytes",
    fault === null || misplaced,
    "the account bytes are a well-formed escrow",
    `the account bytes are no escrow: ${fault}`,
  );
  const addressCheck = passedOrFailed(
    "escrow_address",
    !misplaced,
    "the escrow's address is the one its own fields derive, and both bumps are canonical",
    "the escrow's address or a bump is not the one its own fields derive",
  );
  if ("fault" in decoded) return misplaced ? [bytesCheck, addressCheck] : [bytesCheck];

  const escrow = decoded.value;
  const rebuilt: { readonly [member: string]: Json } = evidenceData({
    network,
    escrow,
    account,
    slot: asOf?.slot ?? 0n,
    ledgerTime: asOf?.ledgerTime ?? 0n,
  });
  const agrees = (...members: ReadonlyArray<string>) =>
    members.every((member) => sameJson(data[member], rebuilt[member]));
  return [
    bytesCheck,
    addressCheck,
    passedOrFailed(
      "escrow_fields",
      agrees("escrow", "purpose"),
      "the decoded fields are those of the account bytes",
      "the decoded fields differ from the account bytes",
    ),
    passedOrFailed(
      "delivery_claim",
      agrees("delivery_claim"),
      "the delivery claim is the one on record in the account",
      "the delivery claim differs from the account's record",
    ),
    attestationCheck(escrow, network),
    passedOrFailed(
      "settlement_decision",
      agrees("settlement_decision"),
      "the decision follows from the escrow's state",
      "the decision does not follow from the escrow's state",
    ),
    asOfCheck(escrow, asOf),
  ];
};
