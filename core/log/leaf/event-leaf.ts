import { type Address, addressFromBytes, addressToBytes } from "../../domain/address.ts";
import { ESCROW_STATES, type EscrowState } from "../../domain/escrow/escrow.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import { ledgerDomain } from "../../protocol/accounts/settings-accounts.ts";

/** One event of the custody program, as the ledger logs it. See docs/log.md, "Leaves". */
type EventLeaf = {
  /** The escrow's state after the event: Pending for a creation. */
  readonly state: EscrowState;
  readonly escrow: Address;
  /** SHA-256 of the escrow account's bytes after the event. */
  readonly accountHash: Hash32;
};

/** Every leaf of an event has exactly this many bytes. */
export const EVENT_LEAF_LENGTH = 66;

/** The first byte of an event's leaf (`LEAF_OF_ESCROW` in programs/custody/ledger-event.h). */
const EVENT_LEAF_KIND = 0x01;

const STATE_AT = 1;
const ESCROW_AT = 2;
const ACCOUNT_HASH_AT = 34;

/** Why bytes are no leaf of an event. */
type EventLeafFault = "wrong_length" | "unknown_kind" | "unknown_state";

/** The 66 bytes of a leaf: kind 0x01, state u8, escrow address, account hash. */
export const encodeEventLeaf = ({ state, escrow, accountHash }: EventLeaf): Uint8Array =>
  eventLeafOf(state, addressToBytes(escrow), hash32ToBytes(accountHash));

/** The 66 bytes of a leaf, from the escrow's address and the account hash as 32 bytes each. */
export const eventLeafOf = (
  state: EscrowState,
  escrow: Uint8Array,
  accountHash: Uint8Array,
): Uint8Array => writeEventLeaf(new Uint8Array(EVENT_LEAF_LENGTH), state, escrow, accountHash);

/** Writes a leaf into 66 bytes, and returns these. */
export const writeEventLeaf = (
  into: Uint8Array,
  state: EscrowState,
  escrow: Uint8Array,
  accountHash: Uint8Array,
): Uint8Array => {
  into[0] = EVENT_LEAF_KIND;
  into[STATE_AT] = ESCROW_STATES.indexOf(state);
  into.set(escrow, ESCROW_AT);
  into.set(accountHash, ACCOUNT_HASH_AT);
  return into;
};

/** The event in the bytes of a leaf, or why they hold none. */
export const decodeEventLeaf = (
  bytes: Uint8Array,
): { readonly value: EventLeaf } | { readonly fault: EventLeafFault } => {
  if (bytes.length !== EVENT_LEAF_LENGTH) return { fault: "wrong_length" };
  if (bytes[0] !== EVENT_LEAF_KIND) return { fault: "unknown_kind" };
  const state = ESCROW_STATES[bytes[STATE_AT] ?? ESCROW_STATES.length];
  if (state === undefined) return { fault: "unknown_state" };
  return {
    value: {
      state,
      escrow: addressFromBytes(bytes.slice(ESCROW_AT, ACCOUNT_HASH_AT)),
      accountHash: hash32FromBytes(bytes.slice(ACCOUNT_HASH_AT)),
    },
  };
};

/** The first byte of leaf 0 (`LEAF_OF_NETWORK` there). */
const NETWORK_LEAF_KIND = 0x00;

/** Hex digits of the hash of leaf 0 that a log's origin shows. */
const NETWORK_ID_DIGITS = 16;

/** Leaf 0 of every log: kind 0x00 and the domain of its ledger and its custody program, 33 bytes. */
export const networkLeaf = (genesisHash: Address, custodyProgram: Address): Uint8Array =>
  Uint8Array.of(NETWORK_LEAF_KIND, ...ledgerDomain(genesisHash, custodyProgram));

/** The first 16 hex digits of the plain SHA-256 of leaf 0, as a log's origin shows them. */
export const networkIdOf = (leaf: Uint8Array): string =>
  hash32FromBytes(sha256(leaf)).slice(0, NETWORK_ID_DIGITS);
