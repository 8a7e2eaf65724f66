import { parseTlogProof } from "../../../../core/log/checkpoint/tlog-proof.ts";
import type { Parsed } from "../../../../core/log/parsed.ts";
import { verifyInclusion } from "../../../../core/log/tree/tree-proofs.ts";
import { leafHash } from "../../../../core/log/tree/tree-hash.ts";
import {
  type JudgedCheckpoint,
  judgeCheckpoint,
} from "../../../../core/log/policy/judge-checkpoint.ts";
import type { LogPolicy } from "../../../../core/log/policy/log-policy.ts";

/** A leaf that a checkpoint of the policy's logs holds, and where. */
export type JudgedProof = JudgedCheckpoint & { readonly index: number };

/**
 * What a tlog-proof shows of a leaf under a policy, or why it shows nothing (C2SP tlog-proof, "Verifying a tlog
 * proof"). Whether the quorum is met is part of the answer, not a fault. Never throws.
 */
export const judgeProof = (
  policy: LogPolicy,
  text: string,
  leaf: Uint8Array,
): Parsed<JudgedProof> => {
  const parsed = parseTlogProof(text);
  if ("fault" in parsed) return parsed;
  const { index, proof, checkpoint } = parsed.value;
  const judged = judgeCheckpoint(policy, checkpoint);
  if ("fault" in judged) return judged;
  const head = judged.value.checkpoint;
  if (!verifyInclusion({ index, leafHash: leafHash(leaf), head }, proof))
    return { fault: `the proof does not lead from the leaf ${index} to the checkpoint's root` };
  return { value: { ...judged.value, index } };
};
