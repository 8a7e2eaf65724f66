import { type Address, parseAddress } from "../../../core/domain/address.ts";
import {
  type LedgerSignature,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";
import type { Commitment } from "../runtime/time/slots.ts";

/** JSON-RPC and Solana error codes (JSON-RPC 2.0, section 5.1; Agave `rpc-client-api/src/custom_error.rs`). */
export const RpcErrorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  sendTransactionPreflightFailure: -32002,
  transactionSignatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const;

/** A failure that is reported to a JSON-RPC caller, with its code and, for some codes, data. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The RpcError of a request that Agave refuses without a reason. */
export const invalidRequest = (): RpcError =>
  new RpcError(RpcErrorCode.invalidRequest, "Invalid request");

/** An RpcError for parameters that are not what the method takes. */
export const invalidParams = (message: string): RpcError =>
  new RpcError(RpcErrorCode.invalidParams, message);

/** The positional parameters of a call. */
export type RpcParams = ReadonlyArray<unknown>;

/** A configuration object, empty when the caller sent none. */
export type RpcConfig = Readonly<Record<string, unknown>>;

/** One JSON-RPC method. @throws RpcError for failures that the caller must see. */
export type RpcMethod = (params: RpcParams) => unknown;

/** A value as serde_json names it when it has the wrong type (serde `de::Unexpected`). */
const unexpected = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "sequence";
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (typeof value === "string") return `string ${JSON.stringify(value)}`;
  if (typeof value === "bigint") return `integer \`${value}\``;
  if (typeof value !== "number") return "map";
  return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``;
};

/** An RpcError for a value of another type than the method takes, in the words of serde, which Agave answers with. */
export const wrongType = (value: unknown, what: string, expected: string): RpcError => {
  if (value === undefined)
    return invalidParams(`Invalid params: missing field \`${what.split(".").at(-1)}\`.`);
  const isNumber = typeof value === "bigint" || Number.isInteger(value);
  const fault = isNumber && /^[ui]/.test(expected) ? "invalid value" : "invalid type";
  return invalidParams(`Invalid params: ${fault}: ${unexpected(value)}, expected ${expected}.`);
};

/** An RpcError for a text that is none of the variants, in the words of serde. */
export const unknownVariant = (value: unknown, variants: ReadonlyArray<string>): RpcError => {
  if (typeof value !== "string") return wrongType(value, "variant", "string or map");
  const names = variants.map((name) => `\`${name}\``);
  const expected = names.length === 2 ? names.join(" or ") : `one of ${names.join(", ")}`;
  return invalidParams(`Invalid params: unknown variant \`${value}\`, expected ${expected}.`);
};

/** The value, which must be one of these texts. @throws RpcError otherwise. */
export const variantOf = <const V extends string>(
  value: unknown,
  variants: ReadonlyArray<V>,
): V => {
  const match = variants.find((variant) => variant === value);
  if (match === undefined) throw unknownVariant(value, variants);
  return match;
};

/** Longest base58 text of 32 and of 64 bytes (Agave `pubkey`, `hash`, `signature`: MAX_BASE58_LEN). */
const LONGEST_BASE58 = { 32: 44, 64: 88 } as const;

/** Why Agave refuses a text that is not base58 of `length` bytes: by its length first, then by its characters. */
export const base58Fault = (text: string, bytes: 32 | 64): "Invalid" | "WrongSize" =>
  text.length <= LONGEST_BASE58[bytes] && !/^[1-9A-HJ-NP-Za-km-z]*$/.test(text)
    ? "Invalid"
    : "WrongSize";

const isObject = (value: unknown): value is RpcConfig =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value as an object, empty when it is absent or null. @throws RpcError otherwise. */
export const configOf = (value: unknown, what = "configuration"): RpcConfig => {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw wrongType(value, what, "a map");
  return value;
};

/** The value as text. @throws RpcError otherwise. */
export const textOf = (value: unknown, what: string): string => {
  if (typeof value !== "string") throw wrongType(value, what, "a string");
  return value;
};

/** The value as an address. @throws RpcError otherwise. */
export const addressOf = (value: unknown, what = "pubkey"): Address => {
  const text = textOf(value, what);
  const parsed = parseAddress(text);
  if (parsed === undefined) throw invalidParams(`Invalid param: ${base58Fault(text, 32)}`);
  return parsed;
};

/** The value as a signature. @throws RpcError otherwise. */
export const signatureOf = (value: unknown): LedgerSignature => {
  const text = textOf(value, "signature");
  const parsed = parseLedgerSignature(text);
  if (parsed === undefined) throw invalidParams(`Invalid param: ${base58Fault(text, 64)}`);
  return parsed;
};

/** The value as a u64; one beyond 2^53-1 becomes the nearest double. @throws RpcError otherwise. */
export const wholeNumberOf = (
  value: unknown,
  what: string,
  type: "u64" | "usize" | "u8" = "u64",
): number => {
  if (typeof value === "bigint" && value >= 0n && value < 1n << 64n && type !== "u8")
    return Number(value);
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw wrongType(value, what, type);
  if (type === "u8" && value > 255) throw wrongType(value, what, type);
  return value;
};

/** The value as a whole number, or the default when it is absent or null. @throws RpcError otherwise. */
export const optionalNumberOf = <T>(
  value: unknown,
  what: string,
  absent: T,
  type: "u64" | "usize" | "u8" = "u64",
): number | T =>
  value === undefined || value === null ? absent : wholeNumberOf(value, what, type);

/** The value as a boolean, false when it is absent or null. @throws RpcError otherwise. */
export const flagOf = (value: unknown, what: string, absent = false): boolean => {
  if (value === undefined || value === null) return absent;
  if (typeof value !== "boolean") throw wrongType(value, what, "a boolean");
  return value;
};

/** The value, a number or decimal text, as a u64. @throws RpcError otherwise. */
export const u64Of = (value: unknown, what: string): bigint => {
  const text = typeof value === "bigint" || typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !/^[0-9]{1,20}$/.test(text) || BigInt(text) >= 1n << 64n)
    throw wrongType(value, what, "u64");
  return BigInt(text);
};

/** The value as an array of at most `max` members. @throws RpcError otherwise. */
export const arrayOf = (value: unknown, what: string, max: number): ReadonlyArray<unknown> => {
  if (!Array.isArray(value)) throw wrongType(value, what, "a sequence");
  if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
  return value;
};

const COMMITMENTS = ["processed", "confirmed", "finalized"] as const;

/**
 * The commitment a configuration asks for, `finalized` unless it says otherwise. @throws RpcError for an unknown one.
 */
export const commitmentOf = (config: RpcConfig, key = "commitment"): Commitment =>
  variantOf(config[key] ?? "finalized", COMMITMENTS);
