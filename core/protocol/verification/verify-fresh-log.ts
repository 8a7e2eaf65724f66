import { type CountedCosignature, judgeCheckpoint } from "../../log/policy/judge-checkpoint.ts";
import {
  consistencyPath,
  consistencyProof,
  verifyConsistency,
} from "../../log/tree/consistency-proof.ts";
import { type Tile, tilePath } from "../../log/tiles/tile-path.ts";
import { tileSource, tilesOfRanges } from "../../log/tiles/tile-hashes.ts";
import { parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import type { EvidenceCheck, TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { formatUnixTime, LAST_UNIX_SECOND } from "../../domain/unix-time.ts";
import { parseEvidencePacket } from "../evidence/evidence-packet.ts";
import type { LogReference } from "../evidence/log-reference.ts";
import { logPolicyOf } from "./verify-in-log.ts";

/** What a log answers at the time of the verification. */
export type FreshLog = {
  /** The signed note at `/log/checkpoint`. */
  readonly checkpoint: string;
  /** The tiles that `freshTiles` names, by their paths below the log's prefix. */
  readonly tiles: ReadonlyMap<string, Uint8Array>;
};

const check = (outcome: EvidenceCheck["outcome"], reason: string): EvidenceCheck => ({
  name: "log_consistency",
  outcome,
  reason,
});

const tilesBetween = (oldSize: number, size: number): ReadonlyArray<Tile> =>
  oldSize > size ? [] : tilesOfRanges(consistencyPath(oldSize, size), size);

/**
 * The paths of the tiles that show whether the tree of a log's checkpoint begins with the tree of a packet's, below the log's
 * prefix. Empty where nothing is to be compared: a packet without a proof, or a checkpoint of another log or of no form.
 */
export const freshTiles = (
  packet: string | Uint8Array,
  checkpoint: string,
): ReadonlyArray<string> => {
  const parsed = parseEvidencePacket(packet);
  const fresh = parseCheckpoint(checkpoint);
  if ("fault" in parsed || "fault" in fresh || parsed.value.log === null) return [];
  const { origin, size } = parsed.value.log.checkpoint;
  const head = fresh.value.checkpoint;
  return head.origin === origin ? tilesBetween(size, head.size).map(tilePath) : [];
};

const timeText = (time: bigint): string =>
  time > LAST_UNIX_SECOND ? `${time} seconds after 1970` : formatUnixTime(time);

/** How old the cosignatures say that a checkpoint is: the oldest of those that are counted. */
const ageText = (cosignatures: ReadonlyArray<CountedCosignature>): string => {
  const [first, ...more] = cosignatures.map(({ time }) => time);
  return first === undefined
    ? "no witness dates it"
    : `the oldest cosignature counted is of ${timeText(more.reduce((a, b) => (a < b ? a : b), first))}`;
};

/** The consistency proof out of a log's tiles; null when one of them is missing or of a wrong length. */
const proofFrom = (
  oldSize: number,
  size: number,
  tiles: FreshLog["tiles"],
): ReadonlyArray<Uint8Array> | null => {
  const wanted = tilesBetween(oldSize, size);
  if (wanted.some((tile) => tiles.get(tilePath(tile))?.length !== tile.width * 32)) return null;
  const source = tileSource(size, (tile) => tiles.get(tilePath(tile)) ?? new Uint8Array());
  return consistencyProof(oldSize, size, source);
};

/**
 * Check `log_consistency`: whether the checkpoint that the log serves is one of the policy's, and its tree begins with the tree of the
 * packet's proof. It passes with the oldest cosignature time that was counted. Never throws.
 * See docs/verify-evidence.md, "With the log".
 */
export const verifyFreshLog = (
  reference: LogReference | null,
  trust: TrustPolicy | null,
  fresh: FreshLog,
): EvidenceCheck => {
  if (trust === null || trust.log === null)
    return check("not_applicable", "there is no trust policy that names a log");
  if (reference === null)
    return check("unproven", "the packet has no proof with which the log could be compared");
  const policy = logPolicyOf(trust.log, trust.keys);
  if ("fault" in policy) return check("failed", `the trust policy's log: ${policy.fault}`);
  const judged = judgeCheckpoint(policy.value, fresh.checkpoint);
  if ("fault" in judged) return check("failed", `the log's checkpoint: ${judged.fault}`);
  const { checkpoint: head, cosignatures, quorum } = judged.value;
  const { checkpoint: old } = reference;
  if (head.origin !== old.origin)
    return check("failed", `the log is ${head.origin}, and the packet's is ${old.origin}`);
  if (!quorum.isMet) return check("failed", `the log's checkpoint: ${quorum.reason}`);
  if (head.size < old.size)
    return check(
      "unproven",
      `the log serves a checkpoint of ${head.size} leaves, older than the packet's of ${old.size}`,
    );
  const proof = proofFrom(old.size, head.size, fresh.tiles);
  if (proof === null || !verifyConsistency(old, head, proof))
    return check(
      "failed",
      `the log's tree of ${head.size} leaves does not begin with the packet's of ${old.size}`,
    );
  return check(
    "passed",
    `the log's tree of ${head.size} leaves begins with the packet's of ${old.size}; ${ageText(cosignatures)}`,
  );
};
