import { address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import {
  type EvidenceCheck,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import { unixTimeText } from "../../domain/unix-time.ts";
import type { Checkpoint } from "../../log/checkpoint/checkpoint.ts";
import { leavesOfEscrow } from "../../log/leaf/escrow-leaves.ts";
import { networkIdOf, networkLeaf } from "../../log/leaf/event-leaf.ts";
import { judgeCheckpoint, type JudgedCheckpoint } from "../../log/policy/judge-checkpoint.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { leafHash } from "../../log/tree/tree-hash.ts";
import { verifyInclusion } from "../../log/tree/tree-proofs.ts";
import type { EvidenceNetwork } from "../evidence/evidence-data.ts";
import type { LogReference } from "../evidence/evidence-references.ts";
import { trustedLogsOf } from "./trusted-logs.ts";

/** What the log shows of a packet's account. */
export type LogVerdict = {
  /** `log_inclusion`, `witnessed_on_ledger` and `witnessed_append_only`. */
  readonly checks: ReadonlyArray<EvidenceCheck>;
  /**
   * Who compared the log with the ledger, such as `complete up to event 299 as of 2026-08-01T00:00:00Z, by 2 witnesses
   * at their nodes; quorum q wants 2 of [a, b, c]; signed: a, c`; null unless the quorum of `log_on_ledger` is met.
   */
  readonly witnessedBy: string | null;
};

/** What the log is asked about: the packet's account and where it stands. */
export type LoggedAccount = {
  readonly network: EvidenceNetwork;
  readonly escrow: Escrow;
  readonly data: Uint8Array;
};

type CheckName = "log_inclusion" | "witnessed_on_ledger" | "witnessed_append_only";

const check = (
  name: CheckName,
  outcome: EvidenceCheck["outcome"],
  reason: string,
): EvidenceCheck => ({ name, outcome, reason });

const all = (outcome: EvidenceCheck["outcome"], reason: string): LogVerdict => ({
  checks: (["log_inclusion", "witnessed_on_ledger", "witnessed_append_only"] as const).map((name) =>
    check(name, outcome, reason),
  ),
  witnessedBy: null,
});

/** What the witnesses of each policy state, and who states it. Nobody can tell whether two of them asked one node. */
export const STATED = {
  on_ledger: { what: "complete", one: "witness at its node", more: "witnesses at their nodes" },
  append_only: { what: "append-only", one: "witness", more: "witnesses" },
} as const;

/**
 * What the counted cosignatures state of a checkpoint, such as `complete up to event 299 as of 2026-08-01T00:00:00Z, by
 * 2 witnesses at their nodes`: the time is that of the oldest one. Of a log's last checkpoint they state no more than that it is the last:
 * the ledger may have gone on. Null when none counts.
 */
export const statedText = (
  { checkpoint, counted }: JudgedCheckpoint,
  stated: keyof typeof STATED,
): string | null => {
  const oldest = counted.at(-1);
  if (oldest === undefined) return null;
  const { what, one, more } = STATED[stated];
  const by = `${counted.length} ${counted.length === 1 ? one : more}`;
  const upTo = checkpoint.isLast ? "ended after event" : `${what} up to event`;
  return `${upTo} ${checkpoint.size - 1} as of ${unixTimeText(oldest.time)}, by ${by}`;
};

/** Behind a sentence about a log: that it ended, where its checkpoint says so. */
export const endText = ({ size, isLast }: Checkpoint): string =>
  isLast ? `; the log ended at ${size} leaves` : "";

/** Why the log does not hold the account's last event under a policy, null when it does. */
export const inclusionFault = (
  { network, escrow, data }: LoggedAccount,
  { networkId, proof, checkpoint }: LogReference,
  logs: LogPolicy,
): string | null => {
  const judged = judgeCheckpoint(logs, proof.checkpoint);
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

const NO_PROOF = "the packet has no proof that a log holds its account";

/** What the witnesses of one of the two policies say of the checkpoint of a packet. */
const witnessed = (
  name: "witnessed_on_ledger" | "witnessed_append_only",
  policy: LogPolicy | null,
  reference: LogReference | null,
): EvidenceCheck => {
  const stated = name === "witnessed_on_ledger" ? "on_ledger" : "append_only";
  if (policy === null)
    return check(name, "not_applicable", `the trust policy has no log_${stated}`);
  if (reference === null) return check(name, "unproven", NO_PROOF);
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
  const text = statedText(judged.value, stated);
  return quorum.isMet && text !== null
    ? check(name, "passed", `${text}; ${quorum.reason}`)
    : check(name, "unproven", quorum.reason);
};

const inclusion = (
  account: LoggedAccount,
  reference: LogReference | null,
  logs: LogPolicy,
): EvidenceCheck => {
  const name = "log_inclusion";
  if (reference === null) return check(name, "unproven", NO_PROOF);
  const fault = inclusionFault(account, reference, logs);
  const { origin, size } = reference.checkpoint;
  return passedOrFailed(
    name,
    fault === null,
    `${origin} holds the account's last event as leaf ${reference.proof.index} of ${size}${endText(reference.checkpoint)}`,
    fault ?? "",
  );
};

/**
 * Checks `log_inclusion`, `witnessed_on_ledger` and `witnessed_append_only`: whether a log of the trust policy holds
 * the event that left the packet's account as it is, and whether the quorums of its two policies cosigned that very
 * checkpoint. What is there and does not hold fails; what is missing, a proof or a cosignature, is unproven. Never
 * throws. See docs/verify-evidence.md, "The log's proof".
 */
export const verifyInLog = (
  account: LoggedAccount,
  reference: LogReference | null,
  trust: TrustPolicy | null,
): LogVerdict => {
  if (trust === null) return all("not_applicable", "no trust policy was given");
  const trusted = trustedLogsOf(trust);
  if ("fault" in trusted) return all("failed", `the trust policy: ${trusted.fault}`);
  if (trusted.value === null) return all("not_applicable", "the trust policy names no log");
  const { logs, onLedger, appendOnly } = trusted.value;
  const included = inclusion(account, reference, logs);
  if (included.outcome === "failed") {
    const reason = "not judged, since log_inclusion failed";
    const [, ...notJudged] = all("not_applicable", reason).checks;
    return { checks: [included, ...notJudged], witnessedBy: null };
  }
  const compared = witnessed("witnessed_on_ledger", onLedger, reference);
  return {
    checks: [included, compared, witnessed("witnessed_append_only", appendOnly, reference)],
    witnessedBy: compared.outcome === "passed" ? compared.reason : null,
  };
};
