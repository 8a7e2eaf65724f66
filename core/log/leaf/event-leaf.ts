import { type Address, addressFromBytes } from "../../domain/address.ts";
import { ESCROW_STATES, type EscrowState } from "../../domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import { ledgerDomain } from "../../protocol/accounts/settings-accounts.ts";

/** Every leaf of an event has exactly this many bytes. */
export const EVENT_LEAF_LENGTH = 66;

/** The first byte of an event's leaf (`LEAF_OF_ESCROW` in programs/custody/ledger-event.h). */
const EVENT_LEAF_KIND = 0x01;

const STATE_AT = 1;
const ESCROW_AT = 2;
const ACCOUNT_HASH_AT = 34;

/**
 * The 66 bytes of an event's leaf: kind 0x01, the escrow's state after the event (Pending for a creation), its address,
 * and SHA-256 of its account's bytes after the event, the last two as 32 bytes each. See docs/log.md, "Leaves".
 */
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

/** Whether a leaf is that of an escrow's settlement: of this address, 32 bytes, in a state other than Pending. */
export const isSettlementLeaf = (leaf: Uint8Array, escrow: Uint8Array): boolean =>
  leaf.length === EVENT_LEAF_LENGTH &&
  leaf[0] === EVENT_LEAF_KIND &&
  leaf[STATE_AT] !== ESCROW_STATES.indexOf("Pending") &&
  escrow.every((byte, at) => byte === leaf[ESCROW_AT + at]);

/** What a leaf says of its event: the escrow and its state after it; null for any other leaf, such as leaf 0. */
export const eventInLeaf = (
  leaf: Uint8Array,
): { readonly escrow: Address; readonly state: EscrowState } | null => {
  const state = ESCROW_STATES[leaf[STATE_AT] ?? ESCROW_STATES.length];
  return leaf.length === EVENT_LEAF_LENGTH && leaf[0] === EVENT_LEAF_KIND && state !== undefined
    ? { escrow: addressFromBytes(leaf.slice(ESCROW_AT, ACCOUNT_HASH_AT)), state }
    : null;
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
