import { address } from "../../domain/address.ts";
import { decodeBase64Url } from "../../domain/encoding/base64.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { EvidenceCheck, TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import type { LoggedEvents } from "../../domain/index/sync-report.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { formatUnixTime, LAST_UNIX_SECOND } from "../../domain/unix-time.ts";
import { parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { leavesOfEscrow } from "../../log/leaf/escrow-leaves.ts";
import { networkIdOf, networkLeaf } from "../../log/leaf/event-leaf.ts";
import type { Parsed } from "../../log/parsed.ts";
import { type CountedCosignature, judgeCheckpoint } from "../../log/policy/judge-checkpoint.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { parseLogPolicy } from "../../log/policy/parse-log-policy.ts";
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
import type { EvidenceNetwork } from "../evidence/evidence-data.ts";
import { parseEvidencePacket } from "../evidence/evidence-packet.ts";
import type { LogReference } from "../evidence/evidence-references.ts";

/** What the log shows of a packet's account. */
export type LogVerdict = {
  /** `log_inclusion` and `log_witnesses`. */
  readonly checks: ReadonlyArray<EvidenceCheck>;
  /** Who recomputed the log, such as `quorum q wants 2 of [a, b, c]; signed: a, c`; null unless the quorum is met. */
  readonly witnessedBy: string | null;
};

/** What the log is asked about: the packet's account and where it stands. */
export type LoggedAccount = {
  readonly network: EvidenceNetwork;
  readonly escrow: Escrow;
  readonly data: Uint8Array;
};

const check = (
  name: "log_inclusion" | "log_witnesses",
  outcome: EvidenceCheck["outcome"],
  reason: string,
): EvidenceCheck => ({ name, outcome, reason });

const both = (outcome: EvidenceCheck["outcome"], reason: string): LogVerdict => ({
  checks: [check("log_inclusion", outcome, reason), check("log_witnesses", outcome, reason)],
  witnessedBy: null,
});

/** The log's policy in a trust policy, or what is wrong with it. None of the document's keys may stand in it. */
export const logPolicyOf = (text: string, keys: TrustPolicy["keys"]): Parsed<LogPolicy> =>
  parseLogPolicy(
    text,
    keys.flatMap(({ x }) => decodeBase64Url(x) ?? []),
  );

/** The policy with its logs only: who signed, whatever witnesses say. */
const logsOnly = ({ logs }: LogPolicy): LogPolicy => ({
  logs,
  witnesses: [],
  groups: [],
  quorum: null,
});

/** Why the log does not hold the account's last event under a policy, null when it does. */
const inclusionFault = (
  { network, escrow, data }: LoggedAccount,
  { networkId, proof, checkpoint }: LogReference,
  policy: LogPolicy,
): string | null => {
  const judged = judgeCheckpoint(logsOnly(policy), proof.checkpoint);
  if ("fault" in judged) return judged.fault;
  if (networkId !== networkIdOf(networkLeaf(address(network.genesisHash), network.custodyProgram)))
    return "the log is of another ledger or of other programs than the packet";
  const last = leavesOfEscrow(escrow, data).at(-1);
  if (last === undefined || BigInt(proof.index) !== last.seq)
    return `the proof is of leaf ${proof.index}, and the account's last event has the number ${last?.seq}`;
  const claim = { index: proof.index, leafHash: leafHash(last.leaf), head: checkpoint };
  return verifyInclusion(claim, proof.proof)
    ? null
    : `the proof does not lead from the account's leaf ${proof.index} to the checkpoint's root`;
};

const witnessed = (reference: LogReference, policy: LogPolicy): EvidenceCheck => {
  const name = "log_witnesses";
  // A cosignature of a known witness that does not verify spoils the note, also where none is wanted.
  const judged = judgeCheckpoint(policy, reference.proof.checkpoint);
  if ("fault" in judged) return check(name, "failed", judged.fault);
  if (policy.quorum === null)
    return check(
      name,
      "unproven",
      "the trust policy wants no witness (quorum none): the log alone states its tree",
    );
  const { quorum } = judged.value;
  return check(name, quorum.isMet ? "passed" : "failed", quorum.reason);
};

const judged = (account: LoggedAccount, reference: LogReference, policy: LogPolicy): LogVerdict => {
  const fault = inclusionFault(account, reference, policy);
  if (fault !== null) {
    const notJudged = check(
      "log_witnesses",
      "not_applicable",
      "not judged, since log_inclusion failed",
    );
    return { checks: [check("log_inclusion", "failed", fault), notJudged], witnessedBy: null };
  }
  const { origin, size } = reference.checkpoint;
  const witnesses = witnessed(reference, policy);
  return {
    checks: [
      check(
        "log_inclusion",
        "passed",
        `${origin} holds the account's last event as leaf ${reference.proof.index} of ${size}`,
      ),
      witnesses,
    ],
    witnessedBy: witnesses.outcome === "passed" ? witnesses.reason : null,
  };
};

/**
 * Checks `log_inclusion` and `log_witnesses`: whether a log of the trust policy holds the event that left the packet's account as it
 * is, and whether the policy's quorum cosigned that very checkpoint. A proof that is there and does not hold fails; where there is none, the
 * account is unproven. Never throws. See docs/verify-evidence.md, "The log".
 */
export const verifyInLog = (
  account: LoggedAccount,
  reference: LogReference | null,
  trust: TrustPolicy | null,
): LogVerdict => {
  if (trust === null) return both("not_applicable", "no trust policy was given");
  if (trust.log === null) return both("not_applicable", "the trust policy names no log");
  const policy = logPolicyOf(trust.log, trust.keys);
  if ("fault" in policy) return both("failed", `the trust policy's log: ${policy.fault}`);
  if (reference === null)
    return both("unproven", "the packet has no proof that a log holds its account");
  return judged(account, reference, policy.value);
};

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
 * The paths of the tiles that show whether the tree of a log's checkpoint begins with the tree of a packet's, below the log's
 * prefix. Empty where nothing is to be compared: a packet without a proof, or a checkpoint of another log or of no form. With
 * the custody program's configuration as a node shows it also those that lead to the ledger's own tree; the log may lack them.
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
  if (oldSize > size) return null;
  const wanted = tilesBetween(oldSize, size);
  if (wanted.some((tile) => tiles.get(tilePath(tile))?.length !== tile.width * 32)) return null;
  const source = tileSource(size, (tile) => tiles.get(tilePath(tile)) ?? new Uint8Array());
  return consistencyProof(oldSize, size, source);
};

/**
 * Whether the ledger's own log, of which a node has shown the frontier, holds an account's last event: the packet's proof leads to a
 * checkpoint's root, and the log's tiles lead on from there to the ledger's root. Whoever signed that checkpoint does not matter. Never throws.
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
    return consistency("not_applicable", "there is no trust policy that names a log");
  if (reference === null)
    return consistency("unproven", "the packet has no proof with which the log could be compared");
  const policy = logPolicyOf(trust.log, trust.keys);
  if ("fault" in policy) return consistency("failed", `the trust policy's log: ${policy.fault}`);
  const judged = judgeCheckpoint(policy.value, fresh.checkpoint);
  if ("fault" in judged) return consistency("failed", `the log's checkpoint: ${judged.fault}`);
  const { checkpoint: head, cosignatures, quorum } = judged.value;
  const { checkpoint: old } = reference;
  if (head.origin !== old.origin)
    return consistency("failed", `the log is ${head.origin}, and the packet's is ${old.origin}`);
  if (!quorum.isMet) return consistency("failed", `the log's checkpoint: ${quorum.reason}`);
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
  return consistency(
    "passed",
    `the log's tree of ${head.size} leaves begins with the packet's of ${old.size}; ${ageText(cosignatures)}`,
  );
};
