import type { EvidenceCheck, TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import type { LoggedEvents } from "../../domain/index/sync-report.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { leavesOfEscrow } from "../../log/leaf/escrow-leaves.ts";
import { judgeCheckpoint } from "../../log/policy/judge-checkpoint.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { type Tile, tilePath, tilesOfRanges, tileSource } from "../../log/tiles/tile-path.ts";
import { edgeOf } from "../../log/tree/frontier.ts";
import { leafHash } from "../../log/tree/tree-hash.ts";
import {
  consistencyPath,
  consistencyProof,
  verifyConsistency,
  verifyInclusion,
} from "../../log/tree/tree-proofs.ts";
import { decodeCustodyConfigAccount } from "../accounts/settings-accounts.ts";
import { parseEvidencePacket } from "../evidence/evidence-packet.ts";
import type { LogReference } from "../evidence/evidence-references.ts";
import { trustedLogsOf } from "./trusted-logs.ts";
import { endText, type LoggedAccount, type STATED, statedText } from "./verify-in-log.ts";

/** What a log answers at the time of the verification. */
export type FreshLog = {
  /** The signed note at `/log/checkpoint`. */
  readonly checkpoint: string;
  /** The tiles that `freshTiles` names, as many of them as the log has, by their paths below the log's prefix. */
  readonly tiles: ReadonlyMap<string, Uint8Array>;
};

const consistency = (outcome: EvidenceCheck["outcome"], reason: string): EvidenceCheck => ({
  name: "log_consistency",
  outcome,
  reason,
});

const tilesBetween = (oldSize: number, size: number): ReadonlyArray<Tile> =>
  oldSize > size ? [] : tilesOfRanges(consistencyPath(oldSize, size), size);

/**
 * The paths of the tiles that show whether the tree of a log's checkpoint begins with the tree of a packet's, below the
 * log's prefix. Empty where nothing is to be compared: a packet without a proof, or a checkpoint of another log or of
 * no form. With the custody program's configuration as a node shows it also those that lead to the ledger's own tree;
 * the log may lack them.
 * @example
 * import { freshTiles } from "settlement-evidence/verify";
 *
 * // This packet holds no log proof, so there is nothing to compare.
 * freshTiles(packet, checkpoint); // => []
 */
export const freshTiles = (
  packet: string | Uint8Array,
  checkpoint: string,
  custodyConfig: LedgerAccount | null = null,
): ReadonlyArray<string> => {
  const parsed = parseEvidencePacket(packet);
  const fresh = parseCheckpoint(checkpoint);
  if ("fault" in parsed || "fault" in fresh || parsed.value.log === null) return [];
  const { origin, size } = parsed.value.log.checkpoint;
  const head = fresh.value.checkpoint;
  if (head.origin !== origin) return [];
  const config = custodyConfig && decodeCustodyConfigAccount(custodyConfig, parsed.value.network);
  const sizes =
    config && "value" in config ? [head.size, Number(config.value.count) + 1] : [head.size];
  return [...new Set(sizes.flatMap((to) => tilesBetween(size, to).map(tilePath)))];
};

/** The consistency proof out of a log's tiles; null when one of them is missing or of a wrong length. */
const proofFrom = (
  oldSize: number,
  size: number,
  tiles: FreshLog["tiles"],
): ReadonlyArray<Uint8Array> | null => {
  if (oldSize > size) return null;
  const wanted = tilesBetween(oldSize, size);
  if (wanted.some((tile) => tiles.get(tilePath(tile))?.length !== tile.width * 32)) return null;
  const source = tileSource(size, (tile) => tiles.get(tilePath(tile)) ?? new Uint8Array());
  return consistencyProof(oldSize, size, source);
};

/**
 * Whether the ledger's own log, of which a node has shown the frontier, holds an account's last event: the packet's
 * proof leads to a checkpoint's root, and the log's tiles lead on from there to the ledger's root. Whoever signed that
 * checkpoint does not matter. Never throws.
 */
export const isInLedgersLog = (
  { escrow, data }: LoggedAccount,
  reference: LogReference | null,
  ledger: LoggedEvents,
  tiles: FreshLog["tiles"],
): boolean => {
  const last = leavesOfEscrow(escrow, data).at(-1);
  if (reference === null || last === undefined) return false;
  const { proof, checkpoint } = reference;
  const claim = { index: proof.index, leafHash: leafHash(last.leaf), head: checkpoint };
  if (BigInt(proof.index) !== last.seq || !verifyInclusion(claim, proof.proof)) return false;
  const edge = edgeOf(ledger);
  const further = proofFrom(checkpoint.size, edge.size, tiles);
  return (
    further !== null &&
    verifyConsistency(checkpoint, { size: edge.size, root: edge.root() }, further)
  );
};

/** What one policy's witnesses say of the log's checkpoint of now. */
const freshlyStated = (policy: LogPolicy, checkpoint: string, stated: keyof typeof STATED) => {
  const judged = judgeCheckpoint(policy, checkpoint);
  if ("fault" in judged) return { failed: judged.fault };
  const { quorum } = judged.value;
  return quorum.isMet
    ? { text: statedText(judged.value, stated) }
    : { missing: `log_${stated}: ${quorum.reason}` };
};

/**
 * Check `log_consistency`: whether the checkpoint that the log serves is one of the policy's, and its tree begins with
 * the tree of the packet's proof. It passes with what the counted cosignatures state; it is unproven while a quorum is
 * missing. Never throws. See docs/verify-evidence.md, "With the log".
 */
export const verifyFreshLog = (
  reference: LogReference | null,
  trust: TrustPolicy | null,
  fresh: FreshLog,
): EvidenceCheck => {
  const trusted = trust === null ? { value: null } : trustedLogsOf(trust);
  if ("fault" in trusted) return consistency("failed", `the trust policy: ${trusted.fault}`);
  if (trusted.value === null)
    return consistency("not_applicable", "there is no trust policy that names a log");
  if (reference === null)
    return consistency("unproven", "the packet has no proof with which the log could be compared");
  const { logs, onLedger, appendOnly } = trusted.value;
  const judged = judgeCheckpoint(logs, fresh.checkpoint);
  if ("fault" in judged) return consistency("failed", `the log's checkpoint: ${judged.fault}`);
  const { checkpoint: head } = judged.value;
  const { checkpoint: old } = reference;
  if (head.origin !== old.origin)
    return consistency("failed", `the log is ${head.origin}, and the packet's is ${old.origin}`);
  const stated = [
    ...(onLedger === null ? [] : [freshlyStated(onLedger, fresh.checkpoint, "on_ledger")]),
    ...(appendOnly === null ? [] : [freshlyStated(appendOnly, fresh.checkpoint, "append_only")]),
  ];
  const failed = stated.find((each) => each.failed !== undefined);
  if (failed !== undefined) return consistency("failed", `the log's checkpoint: ${failed.failed}`);
  if (old.isLast && head.size > old.size)
    return consistency(
      "failed",
      `the log ended at ${old.size} leaves, by the packet's checkpoint, and has signed ${head.size}`,
    );
  if (head.size < old.size)
    return consistency(
      "unproven",
      `the log serves a checkpoint of ${head.size} leaves, older than the packet's of ${old.size}`,
    );
  const proof = proofFrom(old.size, head.size, fresh.tiles);
  if (proof === null || !verifyConsistency(old, head, proof))
    return consistency(
      "failed",
      `the log's tree of ${head.size} leaves does not begin with the packet's of ${old.size}`,
    );
  const missing = stated.flatMap((each) => each.missing ?? []);
  if (missing.length > 0)
    return consistency("unproven", `the log's checkpoint: ${missing.join("; ")}`);
  const texts = stated.flatMap((each) => each.text ?? []);
  return consistency(
    "passed",
    `the log's tree of ${head.size} leaves begins with the packet's of ${old.size}${endText(head)}; ${texts.length === 0 ? "no witness dates it" : texts.join("; ")}`,
  );
};
