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
  "log_key_missing",
  "ending",
  "log_key_unavailable",
] as const;

/** What keeps the log from being published at the index's size. */
export type LogHindrance = (typeof LOG_HINDRANCES)[number];

/** A head that the log's key has signed. */
export type SignedHead = {
  readonly origin: string;
  /** Leaves of the tree, at least 1. */
  readonly size: number;
  readonly root: Hash32;
  /** There in the last head of a log that its operator ended. */
  readonly isLast?: true;
};

/** A log that signs nothing more. */
export type EndedLog = {
  readonly origin: string;
  /** What was signed last. */
  readonly size: number;
  /** Of the key that signed it. */
  readonly publicKey: Hash32;
  /** Of the other keys that it had. */
  readonly otherKeys: ReadonlyArray<Hash32>;
  readonly cause: string;
};

/** How a log stands, as the store keeps it. */
export type LogStanding = {
  /** What was signed last. */
  readonly signed: SignedHead;
  /** Of the key that signed it. */
  readonly publicKey: Hash32;
  /** Of the key that signs as well while keys are rotated, and afterwards alone; null at other times. */
  readonly nextKey: Hash32 | null;
  /** Of the keys that signed before it and sign no more, oldest first. */
  readonly retiredKeys: ReadonlyArray<Hash32>;
  /** The newest checkpoint that has the quorum's cosignatures, null before the first. */
  readonly published: string | null;
  /** Why the log of `signed` signs nothing more, null while it goes on. */
  readonly ended: string | null;
  /** The logs of this name and network that ended before it, oldest first. */
  readonly predecessors: ReadonlyArray<EndedLog>;
};

/** Why a log that its operator ended signs nothing more. */
export const ENDED_BY_OPERATOR = "its operator ended it";

/** The public keys that sign a log: one, and while keys are rotated the next one behind it. */
export const signingKeysOf = ({
  publicKey,
  nextKey,
}: Pick<LogStanding, "publicKey" | "nextKey">): ReadonlyArray<Hash32> =>
  nextKey === null ? [publicKey] : [publicKey, nextKey];

/** Every log that ended, oldest first, the one that stands so among them. */
export const endedLogsOf = (standing: LogStanding): ReadonlyArray<EndedLog> => {
  const { signed, publicKey, nextKey, retiredKeys, ended, predecessors } = standing;
  if (ended === null) return predecessors;
  const otherKeys = [...retiredKeys, ...(nextKey === null ? [] : [nextKey])];
  return [
    ...predecessors,
    { origin: signed.origin, size: signed.size, publicKey, otherKeys, cause: ended },
  ];
};

/** The keys that sign the log that stands so, as policies name them. */
export const logKeysOf = (standing: LogStanding): ReadonlyArray<VerifierKey> =>
  signingKeysOf(standing).map((key) =>
    verifierKey(standing.signed.origin, "ed25519", hash32ToBytes(key)),
  );

/** The text that `parseLogStanding` reads. */
export const printLogStanding = (standing: LogStanding): string => JSON.stringify(standing);

/** Whether two heads are the same head, or both are none. */
export const isSameHead = (a: SignedHead | null, b: SignedHead | null): boolean =>
  isSameTree(a, b) && a?.isLast === b?.isLast;

/** Whether two heads are of the same tree of the same log, or both are none. */
const isSameTree = (a: SignedHead | null, b: SignedHead | null): boolean =>
  a?.origin === b?.origin && a?.size === b?.size && a?.root === b?.root;

/**
 * Whether a log that signed `before` must not sign a head: a smaller one, another root of the same size, and any other
 * one than its last.
 */
export const isForkOf = (head: SignedHead, before: SignedHead | null): boolean => {
  if (before === null) return false;
  if (before.isLast) return !isSameHead(head, before);
  return head.size < before.size || (head.size === before.size && !isSameTree(head, before));
};

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
  isHash(value["root"]) &&
  (value["isLast"] === undefined || value["isLast"] === true);

const areHashes = (value: unknown): boolean => Array.isArray(value) && value.every(isHash);

const isEndedLog = (value: unknown): boolean =>
  isMembers(value) &&
  typeof value["origin"] === "string" &&
  isSize(value["size"]) &&
  isHash(value["publicKey"]) &&
  areHashes(value["otherKeys"]) &&
  typeof value["cause"] === "string";

const isStanding = (value: unknown): value is LogStanding =>
  isMembers(value) &&
  isSignedHead(value["signed"]) &&
  isHash(value["publicKey"]) &&
  (value["nextKey"] === null || isHash(value["nextKey"])) &&
  areHashes(value["retiredKeys"]) &&
  isTextOrNull(value["published"]) &&
  isTextOrNull(value["ended"]) &&
  Array.isArray(value["predecessors"]) &&
  value["predecessors"].every(isEndedLog);

/** A standing with the members that it has had since keys can be rotated. */
const completed = (value: unknown): unknown => {
  if (!isMembers(value)) return value;
  const { predecessors } = value;
  return {
    nextKey: null,
    retiredKeys: [],
    ...value,
    predecessors: Array.isArray(predecessors)
      ? predecessors.map((each: unknown) => (isMembers(each) ? { otherKeys: [], ...each } : each))
      : predecessors,
  };
};

/** The standing of a text that `printLogStanding` made; undefined for another text. */
export const parseLogStanding = (text: string): LogStanding | undefined => {
  try {
    const value = completed(JSON.parse(text));
    return isStanding(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
