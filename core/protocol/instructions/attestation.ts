import { type Address, address, addressFromBytes, addressToBytes } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";
import { ledgerDomain } from "../accounts/settings-accounts.ts";
import { termsOf } from "../accounts/escrow-account.ts";
import { ED25519_PROGRAM } from "../addresses/well-known-addresses.ts";
import { CUSTODY_CONSTANTS } from "../generated/custody.ts";

/** How far an attestation's timestamp may lie behind the ledger's clock, in seconds. */
export const MAX_ATTESTATION_AGE_SECONDS: bigint = CUSTODY_CONSTANTS.MAX_ATTESTATION_AGE_SECONDS;
/** How far an attestation's timestamp may lie ahead of the ledger's clock, in seconds. */
export const MAX_ATTESTATION_LEAD_SECONDS: bigint = CUSTODY_CONSTANTS.MAX_ATTESTATION_LEAD_SECONDS;

/** What an attestor signs for one escrow. */
export type AttestationClaim = {
  /** The ledger and its custody program, by `domainOf`. */
  readonly domain: Hash32;
  /** The digest of the escrow's bytes right after its creation, by `termsOf`. */
  readonly terms: Hash32;
  readonly proofHash: Hash32;
  /** Base units for the merchant, 1 to the escrow's amount. */
  readonly total: bigint;
  readonly timestamp: UnixSeconds;
  /** How many deliveries the total pays for. */
  readonly deliveries: number;
  /** Whether nothing is attested after it. */
  readonly isFinal: boolean;
};

/** The members of a claim that are the same for every single payment: one delivery, and nothing after it. */
export const SINGLE_DELIVERY = { deliveries: 1, isFinal: true } as const;

/** A ledger and its custody program. */
type Network = {
  /** In base58, as nodes and trust documents write it. */
  readonly genesisHash: string;
  readonly custodyProgram: string;
};

/** What a signature names of them. Signers take the genesis hash that they pinned, never one that a node shows. */
export const domainOf = ({ genesisHash, custodyProgram }: Network): Hash32 =>
  hash32FromBytes(ledgerDomain(address(genesisHash), address(custodyProgram)));

const TAG = new TextEncoder().encode("attest 3");
const MESSAGE_LENGTH = 128;

/**
 * The 128 bytes an attestor's Ed25519 key signs: `"attest 3" || domain || terms || proof_hash || total u64 || timestamp i64 ||
 * deliveries u32 || final u8 || 0 0 0`, numbers little-endian. See docs/protocol.md, "Attestation".
 */
export const attestationMessage = (claim: AttestationClaim): Uint8Array =>
  fieldWriter(MESSAGE_LENGTH)
    .bytes(TAG)
    .hash(claim.domain)
    .hash(claim.terms)
    .hash(claim.proofHash)
    .u64(claim.total)
    .i64(claim.timestamp)
    .u32(claim.deliveries)
    .u8(claim.isFinal ? 1 : 0)
    .skip(3)
    .done();

/** The message that a released escrow's attestor signed; null for an escrow without an attestation. */
export const attestedMessage = (escrow: Escrow, network: Network): Uint8Array | null => {
  const { attestation } = escrow;
  if (attestation === null) return null;
  return attestationMessage({
    domain: domainOf(network),
    terms: termsOf(escrow),
    proofHash: attestation.proofHash,
    total: escrow.released,
    timestamp: attestation.attestedAt,
    ...SINGLE_DELIVERY,
  });
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

/** What an Ed25519 precompile instruction checks, or why the custody program passes it over. */
type Ed25519Claim =
  | {
      readonly kind: "claim";
      readonly publicKey: Address;
      readonly signature: Uint8Array;
      readonly message: Uint8Array;
    }
  | { readonly kind: "malformed"; readonly detail: string }
  /** A part lies in the data of another instruction, which the custody program does not follow. */
  | { readonly kind: "elsewhere"; readonly part: string; readonly instruction: number };

/** The numbers of the one form's header behind count and padding. */
const HEADER = [
  ["signature's offset", SIGNATURE_AT],
  ["signature", OWN_DATA],
  ["key's offset", KEY_AT],
  ["key", OWN_DATA],
  ["message's offset", MESSAGE_AT],
  ["message's length", MESSAGE_LENGTH],
  ["message", OWN_DATA],
] as const;

const malformed = (detail: string) => ({ kind: "malformed", detail }) as const;

/**
 * Reads an Ed25519 instruction's data as the custody program does: 240 bytes of exactly one form, that of `ed25519Instruction` with a message of
 * 128 bytes.
 */
export const readEd25519Instruction = (data: Uint8Array): Ed25519Claim => {
  if (data.length < KEY_AT) return malformed(`it has ${data.length} bytes`);
  const fields = new DataView(data.buffer, data.byteOffset, data.length);
  const count = fields.getUint8(0);
  if (count !== 1) return malformed(`it counts ${count} signatures, not one`);
  if (fields.getUint8(1) !== 0) return malformed(`its padding is ${fields.getUint8(1)}, not 0`);
  const wrong = HEADER.flatMap(([name, value], i) => {
    const there = fields.getUint16(2 + 2 * i, true);
    return there === value ? [] : [{ name, value, there }];
  });
  const away = wrong.find(({ value }) => value === OWN_DATA);
  if (away !== undefined) return { kind: "elsewhere", part: away.name, instruction: away.there };
  const [first] = wrong;
  if (first !== undefined)
    return malformed(`its ${first.name} is ${first.there}, not ${first.value}`);
  const length = MESSAGE_AT + MESSAGE_LENGTH;
  if (data.length !== length) return malformed(`it has ${data.length} bytes, not ${length}`);
  return {
    kind: "claim",
    publicKey: addressFromBytes(data.slice(KEY_AT, SIGNATURE_AT)),
    signature: data.slice(SIGNATURE_AT, MESSAGE_AT),
    message: data.slice(MESSAGE_AT),
  };
};
