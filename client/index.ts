/**
 * The entry of the client package: what a program of another project, in Bun, in Node or in a browser,
 * needs to check evidence by itself. Nothing here uses the network, files or a clock.
 */

/**
 * `verifyEvidence(packet, trust, witness?)` checks an evidence packet and answers with a verdict and every
 * check by name, and with the amounts; `parseTrustPolicy(document)` reads the policy to check it under. Neither throws.
 * See docs/protocol.md, "Evidence packet".
 */
export { verifyEvidence } from "../core/protocol/evidence/verify-evidence.ts";
export { parseTrustPolicy } from "../core/protocol/evidence/trust-policy.ts";

/** What the two functions take and answer with. */
export type {
  EvidenceAmounts,
  EvidenceCheck,
  EvidenceVerdict,
  TrustPolicy,
} from "../core/domain/evidence/evidence-check.ts";
export type { SupportedMint } from "../core/domain/supported-mint.ts";
export type { LedgerWitness } from "../core/protocol/evidence/verify-on-ledger.ts";
