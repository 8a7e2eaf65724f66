import { bytesToHex } from "@noble/hashes/utils.js";
import type { Address } from "../../core/domain/address.ts";
import { formatUnits } from "../../core/domain/amount.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { fieldsOf } from "../../core/protocol/accounts/byte-fields.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import { readCall } from "../../core/protocol/instructions/program-call.ts";
import { callWords } from "../../core/protocol/rules/instruction-records.ts";
import {
  decodeWireTransaction,
  type WireInstruction,
  type WireTransaction,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { policyIn } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";

/** A call of a program that can move SOL or tokens of its signers, with functions that put its parts into words. */
type MoneyCall = {
  readonly data: Uint8Array;
  /** The account at a place of the call. */
  readonly at: (place: number) => string;
  /** An amount with its unit. */
  readonly amountOf: (units: bigint, mint: string) => string;
};

/** An instruction in words, and the bytes of data that it needs at least. */
type Known = { readonly least: number; readonly told: (call: MoneyCall) => string };

const units = (data: Uint8Array): string => `${fieldsOf(data).u64(1)} base units`;
const checkedAmount = ({ data, at, amountOf }: MoneyCall): string =>
  amountOf(fieldsOf(data).u64(1), at(1));
const lamports = (data: Uint8Array): string => `${fieldsOf(data).u64(4)} lamports`;

const moved = (amount: string, from: string, to: string): string =>
  `MOVE ${amount} from the token account ${from} to ${to}`;
const lent = (amount: string, from: string, to: string): string =>
  `LET ${to} take up to ${amount} from the token account ${from}`;

/** By their numbers (SPL Token, `instruction.rs`). */
const TOKEN: Readonly<Record<number, Known>> = {
  3: { least: 9, told: ({ data, at }) => moved(units(data), at(0), at(1)) },
  4: { least: 9, told: ({ data, at }) => lent(units(data), at(0), at(1)) },
  6: {
    least: 35,
    told: ({ data, at }) => `GIVE a right over ${at(0)} to ${fieldsOf(data).address(3)}`,
  },
  9: {
    least: 1,
    told: ({ at }) => `CLOSE the token account ${at(0)}; the SOL that it holds goes to ${at(1)}`,
  },
  12: { least: 10, told: (call) => moved(checkedAmount(call), call.at(0), call.at(2)) },
  13: { least: 10, told: (call) => lent(checkedAmount(call), call.at(0), call.at(2)) },
};

/** By their numbers (Agave, `system_instruction.rs`). */
const SYSTEM: Readonly<Record<number, Known>> = {
  0: {
    least: 12,
    told: ({ data, at }) => `SEND ${lamports(data)} from ${at(0)} to the new account ${at(1)}`,
  },
  2: { least: 12, told: ({ data, at }) => `SEND ${lamports(data)} from ${at(0)} to ${at(1)}` },
};

const makesAccount: Known = {
  least: 0,
  told: ({ at }) => `make a token account of ${at(2)} at the payer's cost`,
};
/** Create and CreateIdempotent; no data is Create (Associated Token, `instruction.rs`). */
const ASSOCIATED: Readonly<Record<number, Known>> = { 0: makesAccount, 1: makesAccount };

type Program = {
  readonly name: string;
  readonly moves: string;
  readonly instructions: Readonly<Record<number, Known>>;
};

const PROGRAMS: Readonly<Record<string, Program>> = {
  [TOKEN_PROGRAM]: { name: "Token", moves: "tokens", instructions: TOKEN },
  [SYSTEM_PROGRAM]: { name: "System", moves: "SOL", instructions: SYSTEM },
  [ASSOCIATED_TOKEN_PROGRAM]: {
    name: "Associated Token",
    moves: "tokens",
    instructions: ASSOCIATED,
  },
};

/** What a call of the System, Token or Associated Token program does, in words; null for another program. */
const moneyText = (program: Address, call: MoneyCall): string | null => {
  const described = PROGRAMS[program];
  if (described === undefined) return null;
  // The System program numbers its instructions in four bytes, little-endian. The first byte suffices for those known
  // here.
  const { length, 0: number = 0 } = call.data;
  const instruction = described.instructions[number];
  if (instruction !== undefined && length >= instruction.least) return instruction.told(call);
  return `call the ${described.name} program, instruction ${number}, which can move ${described.moves}`;
};

const malformed = (detail: string): SettlementError =>
  new SettlementError(
    "transaction_malformed",
    `The transaction ${detail}; nothing was sent.`,
    "Give the whole signed transaction of a prepare tool, in base64 with padding.",
  );

/** An amount with its unit, as far as the mint is known. */
const amountText = (amount: bigint, mint: string, { supportedMints }: TrustPolicy): string => {
  const listedMint = supportedMints.find(({ address }) => address === mint);
  return listedMint === undefined
    ? `${amount} base units of the unlisted mint ${mint}`
    : `${formatUnits(amount, listedMint.decimals)} ${listedMint.symbol} (mint ${mint})`;
};

const accountText = (address: Address | undefined): string =>
  address ?? "an account of an address table";

const UNKNOWN = "an unknown instruction of";

/** What one instruction does, null for those that only accompany others. */
const instructionText = (
  { program, accounts, data }: WireInstruction,
  { staticAccounts }: WireTransaction,
  policy: TrustPolicy,
): string | null => {
  const named = accounts.map((place) => staticAccounts[place]);
  const amountOf = (units: bigint, mint: string): string => amountText(units, mint, policy);
  const at = (place: number): string => accountText(named[place]);
  // Checked first: an unpinned service could call such a program one of its own.
  const money = moneyText(program, { data, at, amountOf });
  if (money !== null) return money;
  const read = readCall({ program, data, accounts: named }, deploymentIn(policy));
  if (read !== undefined) return callWords(read, accountText, amountOf);
  if (program === policy.custodyProgram) return `${UNKNOWN} the custody program`;
  if (program === policy.attestorProgram) return `${UNKNOWN} the attestor program`;
  if (program === COMPUTE_BUDGET_PROGRAM || program === ED25519_PROGRAM) return null;
  return `call another program, ${program}`;
};

/** The warning before a transaction that no pinned document explains. */
const unpinnedText = ({ custodyProgram, attestorProgram }: TrustPolicy): string =>
  `NOT PINNED: this runs without a trust document (--trust), so amounts are base units, and only the service says which ledger this is, and that ${custodyProgram} is the custody program and ${attestorProgram} the attestor program. `;

type Told = {
  readonly bytes: Uint8Array;
  readonly transaction: WireTransaction;
  /** What its instructions do, in order, without those that only accompany others. */
  readonly parts: ReadonlyArray<string>;
};

const toldOf = (base64: string, policy: TrustPolicy): Told => {
  const bytes = decodeBase64(base64);
  if (bytes === undefined) throw malformed("is not base64");
  const decoded = decodeWireTransaction(bytes);
  if (!("value" in decoded)) throw malformed(decoded.malformed);
  const transaction = decoded.value;
  const { instructions } = transaction;
  const parts = instructions.flatMap((each) => instructionText(each, transaction, policy) ?? []);
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
  const unknown = parts.find((part) => part.startsWith(UNKNOWN));
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
