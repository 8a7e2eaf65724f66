import { bytesToHex } from "@noble/hashes/utils.js";
import { MAX_TASK_INTENT_BYTES, taskHash, taskTextFault } from "../../domain/escrow/task-hash.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";

/** What an agent orders by one call of a session, as the leaf of its orders holds it. */
export type CallOrder = {
  /** `taskHash` of the intent and the call's nonce. */
  readonly taskHash: Hash32;
  /** The most that the call may cost, base units, u64. */
  readonly limit: bigint;
};

/** Bytes of a call's nonce. Texts and task hashes have them as 32 lower-case hex digits. */
export const CALL_NONCE_BYTES = 16;

/** Every leaf of the orders has exactly this many bytes. */
export const ORDER_LEAF_LENGTH = 40;

/** The form of a method and a URL that a call can be made of: an http or https URL in printable ASCII. */
const REQUEST = /^(?!(?:HEAD|OPTIONS) )[A-Z]{1,16} https?:\/\/[!-"$-~]+$/;

/**
 * What a call orders, `METHOD URL sha256:<digest of the body>`, made by both sides from the request itself; undefined
 * for a request that no call can be made of, as HEAD and OPTIONS, which are free. The URL is absolute; its fragment never leaves the agent, so it is cut
 * off.
 */
export const callIntent = (method: string, url: string, body: Uint8Array): string | undefined => {
  const request = `${method.toUpperCase()} ${url.replace(/#.*$/s, "")}`;
  const intent = `${request} sha256:${hash32FromBytes(sha256(body))}`;
  return REQUEST.test(request) && taskTextFault(intent, MAX_TASK_INTENT_BYTES) === undefined
    ? intent
    : undefined;
};

const INTENT = /^[A-Z]{1,16} https?:\/\/[!-"$-~]+ sha256:[0-9a-f]{64}$/;

/** Whether a text is one that `callIntent` gives for some request. */
export const isCallIntent = (text: string): boolean =>
  text.length <= MAX_TASK_INTENT_BYTES && INTENT.test(text);

/** The order of a call, by its intent, the 16 bytes of its nonce, and its limit in base units. */
export const callOrder = (intent: string, nonce: Uint8Array, limit: bigint): CallOrder => ({
  taskHash: taskHash(intent, bytesToHex(nonce)),
  limit,
});

/** The 40 bytes of an order's leaf: `task_hash || limit u64`. See docs/protocol.md, "Calls of a session". */
export const orderLeaf = ({ taskHash: hash, limit }: CallOrder): Uint8Array =>
  fieldWriter(ORDER_LEAF_LENGTH).hash(hash).u64(limit).done();
