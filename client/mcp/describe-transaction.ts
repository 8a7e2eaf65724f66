import { bytesToHex } from "@noble/hashes/utils.js";
import type { Address } from "../../core/domain/address.ts";
import { formatUnits } from "../../core/domain/amount.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import { readCall } from "../../core/protocol/instructions/program-call.ts";
import { callWords } from "../../core/protocol/rules/instruction-records.ts";
import type { WireInstruction } from "../../core/protocol/transaction/wire-message.ts";
import {
  decodeWireTransaction,
  type WireTransaction,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { SettlementError } from "../settlement-error.ts";
import type { KnownDeployment } from "./known-deployment.ts";
import { moneyText } from "./money-text.ts";

const malformed = (detail: string): SettlementError =>
  new SettlementError(
    "transaction_malformed",
    `The transaction ${detail}; nothing was sent.`,
    "Give the whole signed transaction of a prepare tool, in base64 with padding.",
  );

/** An amount with its unit, as far as the mint is known. */
const amountText = (amount: bigint, mint: string, { supportedMints }: TrustPolicy): string => {
  const known = supportedMints.find(({ address }) => address === mint);
  return known === undefined
    ? `${amount} base units of the unlisted mint ${mint}`
    : `${formatUnits(amount, known.decimals)} ${known.symbol} (mint ${mint})`;
};

const accountText = (address: Address | undefined): string =>
  address ?? "an account of an address table";

/** What one instruction does, null for those that only accompany others. */
const instructionText = (
  { program, accounts, data }: WireInstruction,
  { staticAccounts }: WireTransaction,
  policy: TrustPolicy,
): string | null => {
  const named = accounts.map((place) => staticAccounts[place]);
  const amountOf = (units: bigint, mint: string): string => amountText(units, mint, policy);
  const at = (place: number): string => accountText(named[place]);
  // First, since an unpinned service could name such a program as one of its own.
  const money = moneyText(program, { data, at, amountOf });
  if (money !== null) return money;
  const read = readCall({ program, data, accounts: named }, deploymentIn(policy));
  if (read !== undefined) return callWords(read, accountText, amountOf);
  if (program === policy.custodyProgram) return "an unknown instruction of the custody program";
  if (program === policy.attestorProgram) return "an unknown instruction of the attestor program";
  if (program === COMPUTE_BUDGET_PROGRAM || program === ED25519_PROGRAM) return null;
  return `call another program, ${program}`;
};

/** What is said first of a transaction that no pinned document explains. */
const unpinnedText = ({ custodyProgram, attestorProgram }: TrustPolicy): string =>
  `NOT PINNED: this runs without a trust document (--trust), so amounts are base units, and only the service says which ledger this is, and that ${custodyProgram} is the custody program and ${attestorProgram} the attestor program. `;

/** A transaction in words, for the person who is to confirm it, and the text that names it: the SHA-256 of its bytes. @throws SettlementError `transaction_malformed` */
export const describeTransaction = (
  base64: string,
  { policy, isUnpinned }: KnownDeployment,
): { readonly message: string; readonly subject: string } => {
  const bytes = decodeBase64(base64);
  if (bytes === undefined) throw malformed("is not base64");
  const decoded = decodeWireTransaction(bytes);
  if (!("value" in decoded)) throw malformed(decoded.malformed);
  const { value } = decoded;
  const does = value.instructions.flatMap((each) => instructionText(each, value, policy) ?? []);
  return {
    message: `${isUnpinned ? unpinnedText(policy) : ""}Send this transaction to the ledger? It will: ${does.join("; ")}. Fee payer: ${value.feePayer}. Signature: ${value.signature}. On ${foreignText(policy.cluster, 32)}.`,
    subject: bytesToHex(sha256(bytes)),
  };
};
