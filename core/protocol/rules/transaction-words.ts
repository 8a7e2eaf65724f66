import type { Address } from "../../domain/address.ts";
import { formatUnits } from "../../domain/amount.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { listedMint, type SupportedMint } from "../../domain/supported-mint.ts";
import { fieldsOf } from "../accounts/byte-fields.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../addresses/well-known-addresses.ts";
import { readCall } from "../instructions/program-call.ts";
import type { WireInstruction, WireTransaction } from "../transaction/wire-transaction.ts";
import { callWords } from "./instruction-records.ts";

/** What a reader of a transaction knows beforehand: the two programs, and the mints whose amounts are money. */
export type KnownPlace = {
  readonly deployment: Deployment;
  readonly supportedMints: ReadonlyArray<SupportedMint>;
};

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

/** An amount with its unit, as far as the mint is known. */
const amountText = (
  amount: bigint,
  mint: string,
  supportedMints: ReadonlyArray<SupportedMint>,
): string => {
  const listed = listedMint(supportedMints, mint);
  return listed === undefined
    ? `${amount} base units of the unlisted mint ${mint}`
    : `${formatUnits(amount, listed.decimals)} ${listed.symbol} (mint ${mint})`;
};

const accountText = (address: Address | undefined): string =>
  address ?? "an account of an address table";

/** How the words for an instruction begin that this version cannot read. */
export const UNKNOWN_WORDS = "an unknown instruction of";

/** What one instruction does, null for those that only accompany others. */
const instructionText = (
  { program, accounts, data }: WireInstruction,
  { staticAccounts }: WireTransaction,
  { deployment, supportedMints }: KnownPlace,
): string | null => {
  const named = accounts.map((place) => staticAccounts[place]);
  const amountOf = (units: bigint, mint: string): string => amountText(units, mint, supportedMints);
  const at = (place: number): string => accountText(named[place]);
  // Checked first: an unpinned service could call such a program one of its own.
  const money = moneyText(program, { data, at, amountOf });
  if (money !== null) return money;
  const read = readCall({ program, data, accounts: named }, deployment);
  if (read !== undefined) return callWords(read, accountText, amountOf);
  if (program === deployment.custodyProgram) return `${UNKNOWN_WORDS} the custody program`;
  if (program === deployment.attestorProgram) return `${UNKNOWN_WORDS} the attestor program`;
  if (program === COMPUTE_BUDGET_PROGRAM || program === ED25519_PROGRAM) return null;
  return `call another program, ${program}`;
};

/** What a transaction's instructions do, in order, in words; without those that only accompany others. */
export const instructionWords = (
  transaction: WireTransaction,
  place: KnownPlace,
): ReadonlyArray<string> =>
  transaction.instructions.flatMap((each) => instructionText(each, transaction, place) ?? []);
