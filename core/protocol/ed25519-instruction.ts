import { type Address, addressToBytes } from "../domain/address.ts";
import type { Instruction } from "../domain/instruction.ts";
import { ED25519_PROGRAM } from "./well-known-addresses.ts";

/** "This instruction's own data", as an instruction index (Agave `precompiles/src/ed25519.rs`). */
const OWN_DATA = 0xffff;
const KEY_AT = 16;
const SIGNATURE_AT = 48;
const MESSAGE_AT = 112;

/**
 * The Ed25519 precompile instruction that makes the runtime check one signature, with key, signature
 * and message in its own data: u8 count, u8 padding, seven u16 LE offsets, key 32, signature 64, message.
 */
export const ed25519Instruction = (input: {
  readonly publicKey: Address;
  /** 64 bytes */
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
}): Instruction => {
  const { publicKey, signature, message } = input;
  const data = new Uint8Array(MESSAGE_AT + message.length);
  const view = new DataView(data.buffer);
  view.setUint8(0, 1);
  const offsets = [SIGNATURE_AT, OWN_DATA, KEY_AT, OWN_DATA, MESSAGE_AT, message.length, OWN_DATA];
  offsets.forEach((value, i) => view.setUint16(2 + 2 * i, value, true));
  data.set(addressToBytes(publicKey), KEY_AT);
  data.set(signature, SIGNATURE_AT);
  data.set(message, MESSAGE_AT);
  return { programAddress: ED25519_PROGRAM, accounts: [], data };
};
