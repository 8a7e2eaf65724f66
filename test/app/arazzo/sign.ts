import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { evaluate, type Scope } from "./expression.ts";

/** The extension `x-sign` of a step, as the document's description defines it. */
export type Signing = {
  readonly type: string;
  readonly value: string;
  readonly signers: string;
  readonly output: string;
};

/** Signs bytes with an address's key; 64 bytes of Ed25519. @throws Error for an address without a key here. */
export type SignWith = (address: string, message: Uint8Array) => Uint8Array;

const SIGNATURE_BYTES = 64;

/** The base64 that the extension's output holds. @throws Error for a type it does not know. */
export const sign = (
  { type, value, signers }: Signing,
  scope: Scope,
  signWith: SignWith,
): string => {
  const bytes = decodeBase64(String(evaluate(value, scope)));
  const addresses = [evaluate(signers, scope)].flat().map(String);
  const [first, ...others] = addresses;
  if (bytes === undefined || first === undefined) throw new Error("nothing to sign, or nobody");
  if (type === "message" && others.length === 0) return encodeBase64(signWith(first, bytes));
  if (type !== "transaction") throw new Error(`unknown x-sign: ${type}`);
  const message = bytes.slice(1 + SIGNATURE_BYTES * addresses.length);
  addresses.forEach((address, at) =>
    bytes.set(signWith(address, message), 1 + SIGNATURE_BYTES * at),
  );
  return encodeBase64(bytes);
};
