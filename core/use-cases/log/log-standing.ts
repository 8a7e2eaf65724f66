import { type Hash32, hash32ToBytes, parseHash32 } from "../../domain/hash32.ts";
import { type VerifierKey, verifierKey } from "../../log/notes/verifier-key.ts";

/** What can keep the log from being published at the index's size; names are stable. */
export const LOG_HINDRANCES = [
  "nodes_disagree",
  "second_node_behind",
  "signed_size_not_derived_yet",
  "ended",
  "store_or_ledger_unavailable",
  "quorum_missing",
  "witnesses_ahead",
  "witness_missing",
] as const;

/** What keeps the log from being published at the index's size. */
export type LogHindrance = (typeof LOG_HINDRANCES)[number];

/** A head that the log's key has signed. */
export type SignedHead = {
  readonly origin: string;
  /** Leaves of the tree, at least 1. */
  readonly size: number;
  readonly root: Hash32;
};

/** A log that signs nothing more. */
export type EndedLog = {
  readonly origin: string;
  /** What was signed last. */
  readonly size: number;
  /** Of the key that signed it. */
  readonly publicKey: Hash32;
  readonly cause: string;
};

/** How a log stands, as the store keeps it. */
export type LogStanding = {
  /** What was signed last. */
  readonly signed: SignedHead;
  /** Of the key that signed it. */
  readonly publicKey: Hash32;
  /** The newest checkpoint that has the quorum's cosignatures, null before the first. */
  readonly published: string | null;
  /** Why the log of `signed` signs nothing more, null while it goes on. */
  readonly ended: string | null;
  /** The logs of this name and network that ended before it, oldest first. */
  readonly predecessors: ReadonlyArray<EndedLog>;
};

/** The key of the log that stands so, as policies name it. */
export const logKeyOf = ({ signed, publicKey }: LogStanding): VerifierKey =>
  verifierKey(signed.origin, "ed25519", hash32ToBytes(publicKey));

/** The text that `parseLogStanding` reads. */
export const printLogStanding = (standing: LogStanding): string => JSON.stringify(standing);

/** Whether two heads are the same head, or both are none. */
export const isSameHead = (a: SignedHead | null, b: SignedHead | null): boolean =>
  a?.origin === b?.origin && a?.size === b?.size && a?.root === b?.root;

/** Whether a log that signed `before` must not sign a head: a smaller one, or another root of the same size. */
export const isForkOf = (head: SignedHead, before: SignedHead | null): boolean =>
  before !== null &&
  (head.size < before.size || (head.size === before.size && !isSameHead(head, before)));

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isHash = (value: unknown): value is Hash32 =>
  typeof value === "string" && parseHash32(value) === value;

const isSize = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === "string";

const isSignedHead = (value: unknown): boolean =>
  isMembers(value) &&
  typeof value["origin"] === "string" &&
  isSize(value["size"]) &&
  isHash(value["root"]);

const isEndedLog = (value: unknown): boolean =>
  isMembers(value) &&
  typeof value["origin"] === "string" &&
  isSize(value["size"]) &&
  isHash(value["publicKey"]) &&
  typeof value["cause"] === "string";

const isStanding = (value: unknown): value is LogStanding =>
  isMembers(value) &&
  isSignedHead(value["signed"]) &&
  isHash(value["publicKey"]) &&
  isTextOrNull(value["published"]) &&
  isTextOrNull(value["ended"]) &&
  Array.isArray(value["predecessors"]) &&
  value["predecessors"].every(isEndedLog);

/** The standing of a text that `printLogStanding` made; undefined for another text. */
export const parseLogStanding = (text: string): LogStanding | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isStanding(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
