import { type Address, parseAddress } from "../../../core/domain/address.ts";
import {
  type LedgerSignature,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";
import type { Commitment } from "../runtime/time/slots.ts";
import { invalidParams } from "./rpc-error.ts";

/** The positional parameters of a call. */
export type RpcParams = ReadonlyArray<unknown>;

/** A configuration object, empty when the caller sent none. */
export type RpcConfig = Readonly<Record<string, unknown>>;

/** One JSON-RPC method. @throws RpcError for failures that the caller must see. */
export type RpcMethod = (params: RpcParams) => unknown;

const isObject = (value: unknown): value is RpcConfig =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value as an object, empty when it is absent or null. @throws RpcError otherwise. */
export const configOf = (value: unknown, what = "configuration"): RpcConfig => {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw invalidParams(`Invalid params: ${what} must be an object`);
  return value;
};

/** The value as text. @throws RpcError otherwise. */
export const textOf = (value: unknown, what: string): string => {
  if (typeof value !== "string") throw invalidParams(`Invalid params: ${what} must be a string`);
  return value;
};

/** The value as an address. @throws RpcError otherwise. */
export const addressOf = (value: unknown, what = "pubkey"): Address => {
  const parsed = parseAddress(textOf(value, what));
  if (parsed === undefined) throw invalidParams("Invalid param: Invalid");
  return parsed;
};

/** The value as a signature. @throws RpcError otherwise. */
export const signatureOf = (value: unknown): LedgerSignature => {
  const parsed = parseLedgerSignature(textOf(value, "signature"));
  if (parsed === undefined) throw invalidParams("Invalid param: Invalid");
  return parsed;
};

/** The value as a whole number from 0 to 2^53-1. @throws RpcError otherwise. */
export const wholeNumberOf = (value: unknown, what: string): number => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw invalidParams(`Invalid params: ${what} must be a non-negative integer`);
  return value;
};

/** The value as a whole number, or `absent` when it is absent or null. @throws RpcError otherwise. */
export const optionalNumberOf = <T>(value: unknown, what: string, absent: T): number | T =>
  value === undefined || value === null ? absent : wholeNumberOf(value, what);

/** The value, a number or decimal text, as a u64. @throws RpcError otherwise. */
export const u64Of = (value: unknown, what: string): bigint => {
  const text = typeof value === "bigint" || typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !/^[0-9]{1,20}$/.test(text) || BigInt(text) >= 1n << 64n)
    throw invalidParams(`Invalid params: ${what} must be a u64`);
  return BigInt(text);
};

/** The value as an array of at most `max` members. @throws RpcError otherwise. */
export const arrayOf = (value: unknown, what: string, max: number): ReadonlyArray<unknown> => {
  if (!Array.isArray(value)) throw invalidParams(`Invalid params: ${what} must be an array`);
  if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
  return value;
};

/** The commitment of a configuration, `finalized` by default. @throws RpcError for an unknown one. */
export const commitmentOf = (config: RpcConfig, key = "commitment"): Commitment => {
  const value = config[key] ?? "finalized";
  if (value !== "processed" && value !== "confirmed" && value !== "finalized")
    throw invalidParams(`Invalid params: unknown commitment ${JSON.stringify(value)}`);
  return value;
};
