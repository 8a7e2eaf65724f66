import { type Address, addressFromBytes, addressToBytes } from "../../domain/address.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";
import { ED25519_PROGRAM } from "../addresses/well-known-addresses.ts";

/** How far an attestation's timestamp may lie behind the ledger's clock, in seconds. */
export const MAX_ATTESTATION_AGE_SECONDS = 300n;
/** How far an attestation's timestamp may lie ahead of the ledger's clock, in seconds. */
export const MAX_ATTESTATION_LEAD_SECONDS = 30n;

/** What an attestor signs for one escrow. */
export type AttestationClaim = {
  readonly escrow: Address;
  readonly proofHash: Hash32;
  readonly timestamp: UnixSeconds;
  /** Base units that go to the merchant in a partial release; absent in a full one. */
  readonly partialAmount?: bigint;
};

/**
 * The bytes an attestor's Ed25519 key signs: `escrow || proof_hash || timestamp (i64 LE)`, 72 bytes,
 * with `amount (u64 LE)` behind them, 80 bytes, for a partial release.
 * See docs/protocol.md, "Attestation".
 */
export const attestationMessage = (claim: AttestationClaim): Uint8Array => {
  const { escrow, proofHash, timestamp, partialAmount } = claim;
  const writer = fieldWriter(partialAmount === undefined ? 72 : 80)
    .address(escrow)
    .hash(proofHash)
    .i64(timestamp);
  return (partialAmount === undefined ? writer : writer.u64(partialAmount)).done();
};

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

/** What an Ed25519 precompile instruction checks, or why the attestor program ignores it. */
type Ed25519Claim =
  | {
      readonly kind: "claim";
      readonly publicKey: Address;
      readonly signature: Uint8Array;
      readonly message: Uint8Array;
    }
  | { readonly kind: "malformed"; readonly detail: string }
  /** A part lies in the data of another instruction, which the attestor program does not follow. */
  | { readonly kind: "elsewhere"; readonly part: string; readonly instruction: number };

/** Reads an Ed25519 instruction's data as the attestor program does: one signature, with key and message in this data. */
export const readEd25519Instruction = (data: Uint8Array): Ed25519Claim => {
  if (data.length < KEY_AT) return { kind: "malformed", detail: `it has ${data.length} bytes` };
  const fields = new DataView(data.buffer, data.byteOffset, data.length);
  const count = fields.getUint8(0);
  if (count !== 1) return { kind: "malformed", detail: `it counts ${count} signatures, not one` };
  const field = (i: number): number => fields.getUint16(2 + 2 * i, true);
  const parts = [
    { part: "signature", at: field(0), length: 64, instruction: field(1) },
    { part: "key", at: field(2), length: 32, instruction: field(3) },
    { part: "message", at: field(4), length: field(5), instruction: field(6) },
  ] as const;
  const away = parts.find(({ instruction }) => instruction !== OWN_DATA);
  if (away !== undefined)
    return { kind: "elsewhere", part: away.part, instruction: away.instruction };
  const beyond = parts.find(({ at, length }) => at + length > data.length);
  if (beyond !== undefined)
    return { kind: "malformed", detail: `its ${beyond.part} reaches beyond its data` };
  const [signature, publicKey, message] = parts.map(({ at, length }) =>
    data.slice(at, at + length),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  return { kind: "claim", publicKey: addressFromBytes(publicKey), signature, message };
};
