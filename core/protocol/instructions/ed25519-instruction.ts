import { type Address, addressFromBytes, addressToBytes } from "../../domain/address.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import { ED25519_PROGRAM } from "../addresses/well-known-addresses.ts";
import { ATTESTATION_LENGTH } from "./attestation.ts";
import { VOUCHER_LENGTH } from "./voucher.ts";

/** A message with a signature over it and the key that made it. */
export type SignedMessage = {
  readonly publicKey: Address;
  /** 64 bytes */
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
};

/** "This instruction's own data", as an instruction index (Agave `precompiles/src/ed25519.rs`). */
const OWN_DATA = 0xffff;
const KEY_LENGTH = 32;
const SIGNATURE_LENGTH = 64;
/** Count u8 and padding u8, then seven u16 for each signature. */
const HEADER_LENGTH = 2;
const OFFSETS_LENGTH = 14;

/** Where the parts of one signed message lie in the instruction's data. */
type Spot = {
  readonly key: number;
  readonly signature: number;
  readonly message: number;
  readonly length: number;
};

/** The spots of messages of these lengths: header, then key and signature of each, then the messages. */
const spotsOf = (lengths: ReadonlyArray<number>): ReadonlyArray<Spot> => {
  const keys = HEADER_LENGTH + OFFSETS_LENGTH * lengths.length;
  let message = keys + (KEY_LENGTH + SIGNATURE_LENGTH) * lengths.length;
  return lengths.map((length, i) => {
    const key = keys + (KEY_LENGTH + SIGNATURE_LENGTH) * i;
    const spot = { key, signature: key + KEY_LENGTH, message, length };
    message += length;
    return spot;
  });
};

/** The seven numbers that say where one signed message lies, with their names. */
const offsetsOf = ({ key, signature, message, length }: Spot) =>
  [
    ["signature's offset", signature],
    ["signature", OWN_DATA],
    ["key's offset", key],
    ["key", OWN_DATA],
    ["message's offset", message],
    ["message's length", length],
    ["message", OWN_DATA],
  ] as const;

/**
 * The Ed25519 precompile instruction that makes the runtime check these signatures, all of it in its own data: u8
 * count, u8 padding,
 * seven u16 LE offsets for each, key 32 and signature 64 of each, then the messages. One attestation gives the 240
 * bytes of a single payment,
 * an attestation and a voucher the 470 bytes of a session.
 */
export const ed25519Instruction = (
  ...signed: readonly [SignedMessage, ...ReadonlyArray<SignedMessage>]
): Instruction => {
  const spots = spotsOf(signed.map(({ message }) => message.length));
  const last = spots.at(-1);
  const data = new Uint8Array(last === undefined ? 0 : last.message + last.length);
  const view = new DataView(data.buffer);
  view.setUint8(0, signed.length);
  let at = HEADER_LENGTH;
  for (const [i, { publicKey, signature, message }] of signed.entries()) {
    const spot = spots[i];
    if (spot === undefined) continue;
    for (const [, value] of offsetsOf(spot)) {
      view.setUint16(at, value, true);
      at += 2;
    }
    data.set(addressToBytes(publicKey), spot.key);
    data.set(signature, spot.signature);
    data.set(message, spot.message);
  }
  return { programAddress: ED25519_PROGRAM, accounts: [], data };
};

/** What an Ed25519 precompile instruction checks, or why the custody program passes it over. */
export type Ed25519Form =
  /** 240 bytes: the attestation of a single payment. */
  | { readonly kind: "single"; readonly attestation: SignedMessage }
  /** 470 bytes: attestation and voucher of a session. */
  | {
      readonly kind: "session";
      readonly attestation: SignedMessage;
      readonly voucher: SignedMessage;
    }
  | { readonly kind: "malformed"; readonly detail: string }
  /** A part lies in the data of another instruction, which the custody program does not follow. */
  | { readonly kind: "elsewhere"; readonly part: string; readonly instruction: number };

const SINGLE = spotsOf([ATTESTATION_LENGTH]);
const SESSION = spotsOf([ATTESTATION_LENGTH, VOUCHER_LENGTH]);

const malformed = (detail: string) => ({ kind: "malformed", detail }) as const;

/** What differs from a form's header behind the padding; undefined when nothing does. */
const headerFault = (fields: DataView, spots: ReadonlyArray<Spot>) => {
  const wrong = spots.flatMap((spot, s) =>
    offsetsOf(spot).flatMap(([name, value], i) => {
      const there = fields.getUint16(HEADER_LENGTH + OFFSETS_LENGTH * s + 2 * i, true);
      const part = spots.length === 1 ? name : `${s === 0 ? "first" : "second"} ${name}`;
      return there === value ? [] : [{ part, value, there }];
    }),
  );
  const away = wrong.find(({ value }) => value === OWN_DATA);
  if (away !== undefined)
    return { kind: "elsewhere", part: away.part, instruction: away.there } as const;
  const [first] = wrong;
  return first && malformed(`its ${first.part} is ${first.there}, not ${first.value}`);
};

const signedAt = (data: Uint8Array, { key, signature, message, length }: Spot): SignedMessage => ({
  publicKey: addressFromBytes(data.slice(key, key + KEY_LENGTH)),
  signature: data.slice(signature, signature + SIGNATURE_LENGTH),
  message: data.slice(message, message + length),
});

/**
 * Reads an Ed25519 instruction's data as the custody program does: exactly one of the two forms that
 * `ed25519Instruction` gives for an
 * attestation, and for an attestation and a voucher. Whose messages they are is not read.
 */
export const readEd25519Instruction = (data: Uint8Array): Ed25519Form => {
  if (data.length < HEADER_LENGTH) return malformed(`it has ${data.length} bytes`);
  const fields = new DataView(data.buffer, data.byteOffset, data.length);
  const count = fields.getUint8(0);
  if (count !== 1 && count !== 2) return malformed(`it counts ${count} signatures, not one or two`);
  if (fields.getUint8(1) !== 0) return malformed(`its padding is ${fields.getUint8(1)}, not 0`);
  const spots = count === 1 ? SINGLE : SESSION;
  if (data.length < HEADER_LENGTH + OFFSETS_LENGTH * count)
    return malformed(`it has ${data.length} bytes`);
  const fault = headerFault(fields, spots);
  if (fault !== undefined) return fault;
  const [first, second] = spots;
  const end = second ?? first;
  if (first === undefined || end === undefined) throw new Error("a form has a message");
  const length = end.message + end.length;
  if (data.length !== length) return malformed(`it has ${data.length} bytes, not ${length}`);
  const attestation = signedAt(data, first);
  return second === undefined
    ? { kind: "single", attestation }
    : { kind: "session", attestation, voucher: signedAt(data, second) };
};
