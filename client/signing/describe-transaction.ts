import { bytesToHex } from "@noble/hashes/utils.js";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { instructionWords, UNKNOWN_WORDS } from "../../core/protocol/rules/transaction-words.ts";
import {
  decodeWireTransaction,
  type WireTransaction,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { policyIn } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";

const malformed = (detail: string): SettlementError =>
  new SettlementError(
    "transaction_malformed",
    `The transaction ${detail}; nothing was sent.`,
    "Give the whole signed transaction of a prepare tool, in base64 with padding.",
  );

/** The warning before a transaction that no pinned document explains. */
const unpinnedText = ({ custodyProgram, attestorProgram }: TrustPolicy): string =>
  `NOT PINNED: this runs without a trust document (--trust), so amounts are base units, and only the service says which ledger this is, and that ${custodyProgram} is the custody program and ${attestorProgram} the attestor program. `;

type Told = {
  readonly bytes: Uint8Array;
  readonly transaction: WireTransaction;
  readonly parts: ReadonlyArray<string>;
};

const toldOf = (base64: string, policy: TrustPolicy): Told => {
  const bytes = decodeBase64(base64);
  if (bytes === undefined) throw malformed("is not base64");
  const decoded = decodeWireTransaction(bytes);
  if (!("value" in decoded)) throw malformed(decoded.malformed);
  const transaction = decoded.value;
  const { supportedMints } = policy;
  const parts = instructionWords(transaction, { deployment: deploymentIn(policy), supportedMints });
  return { bytes, transaction, parts };
};

/**
 * Explains a transaction, under a trust document, to the person who is to sign it: one part for each instruction, with
 * "; " between them. Amounts have the units of the document's mints. The compute budget and signature checks are left
 * out. `transaction` is base64, signed or not. @throws SettlementError `transaction_malformed`, and
 * `unknown_instruction` for one of the document's programs that this version has no words for.
 * @example
 * import { transactionWords } from "settlement-evidence/node";
 *
 * transactionWords(transaction, trust).startsWith("LOCK 1.500000 USDC"); // => true
 */
export const transactionWords = (transaction: string, trust: string | object): string => {
  const { parts } = toldOf(transaction, policyIn(trust));
  const unknown = parts.find((part) => part.startsWith(UNKNOWN_WORDS));
  if (unknown === undefined) return parts.join("; ");
  throw new SettlementError(
    "unknown_instruction",
    `The transaction calls ${unknown}.`,
    "Do not sign it. Take the client package that the service hands out, and read it again.",
  );
};

/**
 * A transaction in words, for the person who is to confirm it, and the text that names it: the SHA-256 of its bytes.
 * @throws SettlementError `transaction_malformed`
 */
export const describeTransaction = (
  base64: string,
  { policy, isUnpinned }: { readonly policy: TrustPolicy; readonly isUnpinned: boolean },
): { readonly message: string; readonly subject: string } => {
  const { bytes, transaction, parts } = toldOf(base64, policy);
  return {
    message: `${isUnpinned ? unpinnedText(policy) : ""}Send this transaction to the ledger? It will: ${parts.join("; ")}. Fee payer: ${transaction.feePayer}. Signature: ${transaction.signature}. On ${foreignText(policy.cluster, 32)}.`,
    subject: bytesToHex(sha256(bytes)),
  };
};
