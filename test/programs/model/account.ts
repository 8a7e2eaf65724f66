import { createHash } from "node:crypto";
import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";

// The values of accounts and their bytes, as docs/protocol.md describes them. Nothing here is generated or shared with
// the programs: this is the other side of the comparison.

export type Escrow = {
  readonly kind: "escrow";
  readonly bump: number;
  readonly state: 0 | 1 | 2 | 3;
  readonly vaultBump: number;
  readonly agentOwner: Address;
  /** The merchant's wallet. */
  readonly merchant: Address;
  readonly mint: Address;
  readonly rentPayer: Address;
  readonly taskHash: Hash32;
  readonly amount: bigint;
  readonly released: bigint;
  readonly createdAt: bigint;
  readonly expiresAt: bigint;
  readonly settledAt: bigint;
  readonly proofHash: Hash32;
  readonly attestor: Address;
  readonly attestedAt: bigint;
  readonly signature: Uint8Array;
  readonly createdSeq: bigint;
  readonly settledSeq: bigint;
  /** How many deliveries the newest attestation counts. */
  readonly deliveries: number;
  /** Zero: a single payment. */
  readonly sessionKey: Address;
  /** 0 while Pending, 1 a release, 2 a refund, 3 a cancellation. */
  readonly settledBy: 0 | 1 | 2 | 3;
  /** 0 until `close_session`. */
  readonly closesAt: bigint;
};

export type Tombstone = {
  readonly kind: "tombstone";
  readonly createdSeq: bigint;
  readonly settledSeq: bigint;
  readonly state: number;
  readonly pendingHash: Hash32;
  readonly lastHash: Hash32;
};

export type Config = {
  readonly kind: "config";
  readonly bump: number;
  readonly attestorProgram: Address;
  readonly domain: Hash32;
  /** Leaves of the log, leaf 0 among them. */
  readonly count: bigint;
  /**
   * The nodes that were ever written, the lowest level first: those at bits of the count that are not set mean nothing.
   */
  readonly frontier: ReadonlyArray<Hash32>;
};

export type Merchant = {
  readonly kind: "merchant";
  readonly bump: number;
  readonly status: number;
  readonly name: Uint8Array;
  readonly wallet: Address;
  readonly attestor: Address;
  readonly previousAttestor: Address;
  readonly attestorSince: bigint;
  readonly registeredAt: bigint;
  readonly updatedAt: bigint;
  readonly reputation: number;
  readonly slashes: number;
  readonly deliveries: bigint;
  readonly partialDeliveries: bigint;
  readonly volume: bigint;
  readonly revokedSeq: bigint;
};

export type Registry = {
  readonly kind: "registry";
  readonly bump: number;
  readonly admin: Address;
  readonly custodyProgram: Address;
  readonly settlementMint: Address;
  readonly proposedAdmin: Address;
};

export type Token = {
  readonly kind: "token";
  readonly mint: Address;
  readonly holder: Address;
  readonly amount: bigint;
  readonly delegate: Address | null;
  readonly closeAuthority: Address | null;
  readonly frozen: boolean;
};

/** The account at an address: one of the two programs, of the token program, or one that neither writes. */
export type Content =
  | Escrow
  | Tombstone
  | Config
  | Merchant
  | Registry
  | Token
  | { readonly kind: "mint" }
  /** An account of the System program; its holder can give it data (`Allocate`). */
  | { readonly kind: "wallet"; readonly size?: number }
  | { readonly kind: "program" }
  /** The upgradeable loader's account of a program. */
  | { readonly kind: "programData"; readonly authority: Address }
  /** Bytes that somebody else wrote, perhaps a copy of a valid account. */
  | { readonly kind: "foreign"; readonly data: Uint8Array };

export type Account = { readonly lamports: bigint; readonly content: Content };

export const ABSENT: Account = { lamports: 0n, content: { kind: "wallet" } };
export const ZERO_HASH: Hash32 = hash32FromBytes(new Uint8Array(32));
export const NO_SIGNATURE = new Uint8Array(64);

const ACCOUNT_VERSION = 3;

export const digest = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

const discriminator = (name: string): Uint8Array =>
  digest(new TextEncoder().encode(`account:${name}`)).slice(0, 8);

const TAGS = {
  escrow: discriminator("Escrow"),
  tombstone: discriminator("ArchivedEscrow"),
  config: discriminator("CustodyConfig"),
  merchant: discriminator("Merchant"),
  registry: discriminator("Registry"),
};

export const ESCROW_BYTES = 416;
export const TOMBSTONE_BYTES = 96;
/** The configuration's account: 88 bytes and a node for each of 40 levels. */
export const CONFIG_BYTES = 1368;

/** The escrow's account. */
export const escrowBytes = (e: Escrow): Uint8Array =>
  fieldWriter(ESCROW_BYTES)
    .bytes(TAGS.escrow)
    .u8(ACCOUNT_VERSION)
    .u8(e.bump)
    .u8(e.state)
    .u8(e.vaultBump)
    .u32(e.deliveries)
    .address(e.agentOwner)
    .address(e.merchant)
    .address(e.mint)
    .address(e.rentPayer)
    .hash(e.taskHash)
    .u64(e.amount)
    .u64(e.released)
    .i64(e.createdAt)
    .i64(e.expiresAt)
    .i64(e.settledAt)
    .hash(e.proofHash)
    .address(e.attestor)
    .i64(e.attestedAt)
    .bytes(e.signature)
    .u64(e.createdSeq)
    .u64(e.settledSeq)
    .address(e.sessionKey)
    .u8(e.settledBy)
    .skip(7)
    .i64(e.closesAt)
    .done();

const merchantBytes = (m: Merchant): Uint8Array => {
  const name = new Uint8Array(32);
  name.set(m.name);
  return fieldWriter(208)
    .bytes(TAGS.merchant)
    .u8(ACCOUNT_VERSION)
    .u8(m.bump)
    .u8(m.status)
    .u8(m.name.length)
    .skip(4)
    .address(m.wallet)
    .address(m.attestor)
    .address(m.previousAttestor)
    .i64(m.attestorSince)
    .bytes(name)
    .i64(m.registeredAt)
    .i64(m.updatedAt)
    .u32(m.reputation)
    .u32(m.slashes)
    .u64(m.deliveries)
    .u64(m.partialDeliveries)
    .u64(m.volume)
    .u64(m.revokedSeq)
    .done();
};

/** SPL Token's account, 165 bytes; after the tag of an absent address come the bytes of an earlier one. */
export const tokenBytes = (t: Token): Uint8Array => {
  const residue = new Uint8Array(32).fill(0xaa);
  const writer = fieldWriter(165).address(t.mint).address(t.holder).u64(t.amount);
  if (t.delegate === null) writer.u32(0).bytes(residue);
  else writer.u32(1).address(t.delegate);
  writer
    .u8(t.frozen ? 2 : 1)
    .skip(12)
    .u64(t.delegate === null ? 0n : 2n ** 63n);
  if (t.closeAuthority === null) writer.u32(0).bytes(residue);
  else writer.u32(1).address(t.closeAuthority);
  return writer.done();
};

/** The bytes of an account that the two programs write, undefined for any other. */
export const programBytes = (content: Content): Uint8Array | undefined => {
  switch (content.kind) {
    case "escrow":
      return escrowBytes(content);
    case "merchant":
      return merchantBytes(content);
    case "tombstone":
      return fieldWriter(TOMBSTONE_BYTES)
        .bytes(TAGS.tombstone)
        .u64(content.createdSeq)
        .u64(content.settledSeq)
        .u8(content.state)
        .u8(ACCOUNT_VERSION)
        .skip(6)
        .hash(content.pendingHash)
        .hash(content.lastHash)
        .done();
    case "config":
      return fieldWriter(CONFIG_BYTES)
        .bytes(TAGS.config)
        .u8(ACCOUNT_VERSION)
        .u8(content.bump)
        .skip(6)
        .address(content.attestorProgram)
        .hash(content.domain)
        .u64(content.count)
        .bytes(Buffer.concat(content.frontier.map((node) => hash32ToBytes(node))))
        .skip(CONFIG_BYTES - 88 - 32 * content.frontier.length)
        .done();
    case "registry":
      return fieldWriter(144)
        .bytes(TAGS.registry)
        .u8(ACCOUNT_VERSION)
        .u8(content.bump)
        .skip(6)
        .address(content.admin)
        .address(content.custodyProgram)
        .address(content.settlementMint)
        .address(content.proposedAdmin)
        .done();
    case "token":
    case "mint":
    case "wallet":
    case "program":
    case "programData":
    case "foreign":
      return undefined;
  }
};

/** The escrow as its creation left it: docs/protocol.md, "Archiving". */
export const createdOf = (e: Escrow): Escrow => ({
  ...e,
  state: 0,
  released: 0n,
  settledAt: 0n,
  settledSeq: 0n,
  proofHash: ZERO_HASH,
  attestedAt: 0n,
  signature: NO_SIGNATURE,
  deliveries: 0,
  settledBy: 0,
  closesAt: 0n,
});

/** What signatures name of an escrow: docs/protocol.md, "Attestation". */
export const termsOf = (e: Escrow): Hash32 => {
  const known = terms.get(e);
  if (known !== undefined) return known;
  const made = hash32FromBytes(digest(escrowBytes(createdOf(e))));
  terms.set(e, made);
  return made;
};
const terms = new WeakMap<Escrow, Hash32>();

/** When an escrow ends: every rule on expiry goes by it. */
export const endOf = ({ closesAt, expiresAt }: Escrow): bigint =>
  closesAt === 0n ? expiresAt : closesAt;

export const isSession = ({ sessionKey }: Escrow): boolean => sessionKey !== ZERO_ADDRESS;

export const isZero = (address: Address): boolean => address === ZERO_ADDRESS;

/** Lamports a year and byte, twice, as ledgers start with. */
export const RATE = 6960n;

/** Lamports that exempt an account from rent: the rate for each of its bytes and for 128 more. */
export const rent = (bytes: number, rate = RATE): bigint => BigInt(128 + bytes) * rate;

const MINT_BYTES = 82;
export const TOKEN_BYTES = 165;

/** Bytes of an account's data; those of programs are another matter. */
export const lengthOf = (content: Content): number => {
  switch (content.kind) {
    case "escrow":
      return ESCROW_BYTES;
    case "tombstone":
      return TOMBSTONE_BYTES;
    case "config":
      return CONFIG_BYTES;
    case "merchant":
      return 208;
    case "registry":
      return 144;
    case "token":
      return TOKEN_BYTES;
    case "mint":
      return MINT_BYTES;
    case "wallet":
      return content.size ?? 0;
    case "foreign":
      return content.data.length;
    case "program":
    case "programData":
      return 0;
  }
};
