import type { Address } from "../../core/domain/address.ts";
import { fieldsOf } from "../../core/protocol/accounts/byte-fields.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";

/** A call of a program that can move SOL or tokens of its signers, and how its parts are told. */
export type MoneyCall = {
  readonly data: Uint8Array;
  /** The account at a place of the call. */
  readonly at: (place: number) => string;
  /** An amount with its unit. */
  readonly amountOf: (units: bigint, mint: string) => string;
};

type Told = (call: MoneyCall) => string;

/** How an instruction is told in words, and the least bytes of data that it needs for that. */
type Known = { readonly least: number; readonly told: Told };

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

const makesAccount: Known = { least: 0, told: () => "make a token account at the payer's cost" };
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
export const moneyText = (program: Address, call: MoneyCall): string | null => {
  const found = PROGRAMS[program];
  if (found === undefined) return null;
  // The System program numbers its instructions in four bytes, little-endian. The first byte suffices for those known here.
  const { length, 0: number = 0 } = call.data;
  const known = found.instructions[number];
  if (known !== undefined && length >= known.least) return known.told(call);
  return `call the ${found.name} program, instruction ${number}, which can move ${found.moves}`;
};
