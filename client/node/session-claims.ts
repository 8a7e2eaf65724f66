import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { parseHash32 } from "../../core/domain/hash32.ts";
import {
  mayFollow,
  type SessionClaim,
  type SessionClaims,
} from "../sessions/seller/session-attestor.ts";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "./key-file.ts";
import { placeFile } from "./file-journal.ts";

/** The name of a claim's file, with 1 for a final one: names in their order are claims in theirs. */
const nameOf = ({ count, isFinal }: SessionClaim): string =>
  `${String(count).padStart(10, "0")}-${isFinal ? 1 : 0}.json`;
const NAME = /^[0-9]{10}-[01]\.json$/;

const textOf = ({ deliveries, total, timestamp, count, isFinal }: SessionClaim): string =>
  `${JSON.stringify({ version: 3, deliveries, total: `${total}`, timestamp: `${timestamp}`, count, isFinal })}\n`;

const damaged = (path: string): SettlementError =>
  new SettlementError(
    "journal_damaged",
    `${path} holds no claim.`,
    "Nothing was signed. Restore the file from a copy: it says what was attested of these terms.",
  );

const claimIn = (text: string, path: string): SessionClaim => {
  try {
    const kept = JSON.parse(text) as Record<"deliveries" | "total" | "timestamp", string> & {
      readonly count: number;
      readonly isFinal: boolean;
    };
    const deliveries = parseHash32(kept.deliveries);
    const claim = { total: BigInt(kept.total), timestamp: BigInt(kept.timestamp) };
    if (
      deliveries !== undefined &&
      Number.isInteger(kept.count) &&
      typeof kept.isFinal === "boolean"
    )
      return { ...claim, deliveries, count: kept.count, isFinal: kept.isFinal };
  } catch {
    // Told below.
  }
  throw damaged(path);
};

/** The claims in a folder, in their order. A file that another process has just replaced is passed over. */
const claimsIn = async (folder: string): Promise<ReadonlyArray<SessionClaim>> => {
  const names = await readdir(folder).catch((cause: unknown) => {
    if (errorCode(cause) === "ENOENT") return [];
    throw cause;
  });
  const claims: Array<SessionClaim> = [];
  for (const name of names.filter((each) => NAME.test(each)).toSorted()) {
    const path = join(folder, name);
    const text = await readFile(path, "utf8").catch((cause: unknown) => {
      if (errorCode(cause) === "ENOENT") return null;
      throw cause;
    });
    if (text !== null) claims.push(claimIn(text, path));
  }
  return claims;
};

const kept = async (root: string, terms: string, claim: SessionClaim): Promise<SessionClaim> => {
  const folder = join(root, terms);
  const before = (await claimsIn(folder)).at(-1) ?? null;
  if (before !== null && !mayFollow(before, claim)) return before;
  if (before !== null && nameOf(before) === nameOf(claim)) return claim;
  const path = join(folder, nameOf(claim));
  const isMine = await placeFile(path, root, textOf(claim));
  const all = await claimsIn(folder);
  const own = all.find((each) => nameOf(each) === nameOf(claim));
  // Another process may have kept something in between: who contradicts what is there gives way.
  const other = all.find((each) => each !== own && !mayFollow(each, claim));
  const stands = other ?? own ?? all.at(-1) ?? claim;
  if (other !== undefined && isMine) await unlink(path).catch(() => undefined);
  if (other === undefined)
    for (const each of all)
      if (nameOf(each) < nameOf(claim))
        await unlink(join(folder, nameOf(each))).catch(() => undefined);
  return stands;
};

/**
 * The newest claims of an attestor of sessions, in a folder: a file for each session's terms, on disk before anything is
 * signed. Processes may share the folder: of two claims of one number one is first.
 * @example
 * import { sessionClaimFiles } from "settlement-evidence/node";
 *
 * typeof sessionClaimFiles(folder).keep; // => "function"
 */
export const sessionClaimFiles = (folder: string): SessionClaims => ({
  keep: async (terms, claim) => {
    try {
      return await kept(folder, terms, claim);
    } catch (cause) {
      if (cause instanceof SettlementError) throw cause;
      throw new SettlementError(
        "journal_unusable",
        `The claims in ${folder} cannot be used (${errorCode(cause)}).`,
        "Nothing was signed. Name a folder that you may write to.",
        { cause },
      );
    }
  },
});
