import { bytesToHex } from "@noble/hashes/utils.js";
import { formatUnits } from "../../core/domain/amount.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { fieldsOf } from "../../core/protocol/accounts/byte-fields.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import { ATTESTOR_INSTRUCTIONS } from "../../core/protocol/generated/attestor.ts";
import { CUSTODY_INSTRUCTIONS } from "../../core/protocol/generated/custody.ts";
import { decodeCustodyInstruction } from "../../core/protocol/instructions/custody-instruction-data.ts";
import type { InstructionLayout } from "../../core/protocol/instructions/instruction-layout.ts";
import type { WireInstruction } from "../../core/protocol/transaction/wire-message.ts";
import {
  decodeWireTransaction,
  type WireTransaction,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { SettlementError } from "../settlement-error.ts";
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

/** What a custody instruction does, in words. */
const custodyText = (
  data: Uint8Array,
  accountOf: (layout: InstructionLayout, name: string) => string,
  policy: TrustPolicy,
): string => {
  const decoded = decodeCustodyInstruction(data);
  if (decoded === undefined) return "an unknown instruction of the custody program";
  const layout = CUSTODY_INSTRUCTIONS[decoded.name];
  const at = (name: string): string => accountOf(layout, name);
  switch (decoded.name) {
    case "create_escrow":
      return `LOCK ${amountText(decoded.amount, at("mint"), policy)} of agent ${at("agent_owner")} for merchant ${at("merchant_wallet")} in escrow ${at("escrow")}, refundable after ${decoded.ttlSeconds} s`;
    case "release_escrow":
      return `RELEASE escrow ${at("escrow")} to its merchant`;
    case "release_partial":
      return `RELEASE ${decoded.amount} base units of escrow ${at("escrow")} to its merchant, the rest back to its agent`;
    case "claim_refund":
      return `REFUND the expired escrow ${at("escrow")} to its agent`;
    case "cancel_escrow":
      return `CANCEL escrow ${at("escrow")}: the money goes back to its agent`;
    case "archive_escrow":
      return `ARCHIVE the settled escrow ${at("escrow")}`;
    case "initialize_custody":
      return "INITIALISE the custody program";
  }
};

/** The new attestor or admin that an instruction of the attestor program names, in words; empty where it names none. */
const namedText = (data: Uint8Array, { args }: InstructionLayout): string => {
  const at = (args["attestor"] ?? args["admin"])?.at;
  if (at === undefined || data.length < at + 32) return "";
  const revokes = "revoke" in args && data[args["revoke"]?.at ?? -1] === 1;
  return `, naming ${fieldsOf(data).address(at)}${revokes ? ", and REVOKE the present one" : ""}`;
};

const attestorText = (
  data: Uint8Array,
  accountOf: (layout: InstructionLayout, name: string) => string,
): string => {
  const layouts: ReadonlyArray<readonly [string, InstructionLayout]> =
    Object.entries(ATTESTOR_INSTRUCTIONS);
  const found = layouts.find(([, { discriminator }]) =>
    discriminator.every((byte, i) => data[i] === byte),
  );
  if (found === undefined) return "an unknown instruction of the attestor program";
  const [name, layout] = found;
  const merchant = "merchant_wallet" in layout.accounts ? "merchant_wallet" : "merchant";
  const whose = merchant in layout.accounts ? ` for merchant ${accountOf(layout, merchant)}` : "";
  return `${name.toUpperCase().replaceAll("_", " ")}${whose}${namedText(data, layout)}`;
};

/** What one instruction does, null for those that only accompany others. */
const instructionText = (
  { program, accounts, data }: WireInstruction,
  { staticAccounts }: WireTransaction,
  policy: TrustPolicy,
): string | null => {
  const at = (place: number): string =>
    staticAccounts[accounts[place] ?? -1] ?? "an account of an address table";
  const accountOf = ({ accounts: places }: InstructionLayout, name: string): string =>
    at(places[name]?.place ?? -1);
  if (program === policy.custodyProgram) return custodyText(data, accountOf, policy);
  if (program === policy.attestorProgram) return attestorText(data, accountOf);
  if (program === COMPUTE_BUDGET_PROGRAM || program === ED25519_PROGRAM) return null;
  const amountOf = (units: bigint, mint: string): string => amountText(units, mint, policy);
  return moneyText(program, { data, at, amountOf }) ?? `call another program, ${program}`;
};

/** A transaction in words, for the person who is to confirm it, and the text that names it: the SHA-256 of its bytes. @throws SettlementError `transaction_malformed` */
export const describeTransaction = (
  base64: string,
  policy: TrustPolicy,
): { readonly message: string; readonly subject: string } => {
  const bytes = decodeBase64(base64);
  if (bytes === undefined) throw malformed("is not base64");
  const decoded = decodeWireTransaction(bytes);
  if (!("value" in decoded)) throw malformed(decoded.malformed);
  const { value } = decoded;
  const does = value.instructions.flatMap((each) => instructionText(each, value, policy) ?? []);
  return {
    message: `Send this transaction to the ledger? It will: ${does.join("; ")}. Fee payer: ${value.feePayer}. Signature: ${value.signature}. On ${foreignText(policy.cluster, 32)}.`,
    subject: bytesToHex(sha256(bytes)),
  };
};
