import { type Hash32, parseHash32 } from "../../domain/hash32.ts";

/** A head that the log's key has signed. */
export type SignedHead = {
  readonly origin: string;
  /** Leaves of the tree, at least 1. */
  readonly size: number;
  readonly root: Hash32;
};

/** How a log stands, as the store keeps it. */
export type LogStanding = {
  /** What was signed last. */
  readonly signed: SignedHead;
  /** The newest checkpoint that has the quorum's cosignatures, null before the first. */
  readonly published: string | null;
  /** Why the log of `signed` signs nothing more, and with which key it did; null while it goes on. */
  readonly ended: { readonly cause: string; readonly publicKey: Hash32 } | null;
};

/** The text that `parseLogStanding` reads. */
export const printLogStanding = (standing: LogStanding): string => JSON.stringify(standing);

const isHead = (value: unknown): value is SignedHead => {
  if (typeof value !== "object" || value === null) return false;
  const { origin, size, root } = value as Record<string, unknown>;
  return (
    typeof origin === "string" &&
    Number.isSafeInteger(size) &&
    typeof root === "string" &&
    parseHash32(root) === root
  );
};

/** The standing of a text that `printLogStanding` made; undefined for another text. */
export const parseLogStanding = (text: string): LogStanding | undefined => {
  try {
    const { signed, published, ended } = JSON.parse(text) as Record<string, unknown>;
    if (!isHead(signed)) return undefined;
    if (published !== null && typeof published !== "string") return undefined;
    if (ended === null) return { signed, published, ended };
    const { cause, publicKey } = ended as Record<string, unknown>;
    if (typeof cause !== "string" || typeof publicKey !== "string") return undefined;
    const key = parseHash32(publicKey);
    return key && { signed, published, ended: { cause, publicKey: key } };
  } catch {
    return undefined;
  }
};
