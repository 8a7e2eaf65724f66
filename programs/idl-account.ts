import { deflateSync, gunzipSync, inflateSync } from "node:zlib";
import { type Address, address, addressToBytes } from "../core/domain/address.ts";
import { fieldsOf, fieldWriter } from "../core/protocol/accounts/byte-fields.ts";
import { findProgramDerivedAddress } from "../core/protocol/addresses/program-derived-address.ts";

/** The program that keeps what deployers say of their programs (solana-program/program-metadata). */
export const PROGRAM_METADATA = address("ProgM6JCCvbYkfKqJYHePx4xxSUSqJp7rh8Lyv7nk7S");

// `program/src/state/header.rs` there: discriminator 1, program 32, authority 32, mutable 1, canonical 1, seed 16,
// encoding 1, compression 1, format 1, data source 1, data length u32 LE, 5 of padding.
const HEADER_LENGTH = 96;
const METADATA = 2;
const SEED_AT = 67;
const UTF8 = 1;
const JSON_FORMAT = 1;
const DIRECT = 0;

/** 16 bytes, zeros behind the name. */
const SEED = new Uint8Array(16);
SEED.set(new TextEncoder().encode("idl"));

const COMPRESSION = { none: 0, gzip: 1, zlib: 2 } as const;
/** No IDL is larger; what unpacks to more is not read. */
const LARGEST = { maxOutputLength: 1 << 20 };

/** Where a program's IDL is, if its upgrade authority has published one: the canonical account of the seed `idl`. */
export const idlAddress = (program: Address): Address =>
  findProgramDerivedAddress(PROGRAM_METADATA, [addressToBytes(program), SEED]).address;

/** The data of that account for an IDL's text, as the Program Metadata program writes it: mutable, zlib, JSON. */
export const encodeIdlAccount = (program: Address, idl: string): Uint8Array => {
  const content = deflateSync(idl);
  return fieldWriter(HEADER_LENGTH + content.length)
    .u8(METADATA)
    .address(program)
    .skip(32)
    .u8(1)
    .u8(1)
    .bytes(SEED)
    .u8(UTF8)
    .u8(COMPRESSION.zlib)
    .u8(JSON_FORMAT)
    .u8(DIRECT)
    .u32(content.length)
    .skip(5)
    .bytes(content)
    .done();
};

const unpacked = (compression: number, content: Uint8Array): Uint8Array | undefined => {
  if (compression === COMPRESSION.none) return content;
  if (compression === COMPRESSION.gzip) return gunzipSync(content, LARGEST);
  return compression === COMPRESSION.zlib ? inflateSync(content, LARGEST) : undefined;
};

/**
 * The IDL's text in the data of the account at `idlAddress(program)`; undefined when it is none, not the canonical one,
 * or says where the text is instead of holding it. The caller has checked that PROGRAM_METADATA owns the account.
 */
export const decodeIdlAccount = (program: Address, data: Uint8Array): string | undefined => {
  if (data.length < HEADER_LENGTH) return undefined;
  const fields = fieldsOf(data);
  const [encoding, compression, , source] = fields.bytes(SEED_AT + 16, 4);
  const length = fields.u32(SEED_AT + 20);
  if (fields.u8(0) !== METADATA || fields.address(1) !== program || fields.u8(66) !== 1)
    return undefined;
  if (!fields.isAt(SEED_AT, SEED) || encoding !== UTF8 || source !== DIRECT) return undefined;
  if (HEADER_LENGTH + length > data.length) return undefined;
  try {
    const text = unpacked(compression ?? 255, fields.bytes(HEADER_LENGTH, length));
    return text === undefined ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch {
    return undefined;
  }
};
