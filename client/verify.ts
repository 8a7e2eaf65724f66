/**
 * The entry of the client package: everything that a program in Bun, Node or a browser needs to check evidence by
 * itself. Uses no network, files or clock.
 */

/**
 * `verifyEvidence(packet, trust, witness?, log?)` checks an evidence packet and returns a verdict, every
 * check by name, and the amounts. `verifyCall` does so for one call of a session,
 * `verifyEquivocation` for two signatures that convict an attestor. `parseTrustPolicy(document)` reads the policy to check it under.
 * `freshTiles(packet, checkpoint)` names the tiles to fetch for `log`, below the log's address. None throws. See
 * docs/verify-evidence.md.
 */
export { verifyEvidence } from "../core/protocol/verification/verify-evidence.ts";
export { verifyCall } from "../core/protocol/verification/verify-call.ts";
export { verifyEquivocation } from "../core/protocol/verification/verify-equivocation.ts";
export { parseTrustPolicy } from "../core/protocol/evidence/trust-policy.ts";
export { freshTiles } from "../core/protocol/verification/verify-fresh-log.ts";

/** The types of these functions. */
export type {
  CallVerdict,
  EvidenceAmounts,
  EvidenceCheck,
  EvidenceVerdict,
  JudgedCall,
  TrustPolicy,
} from "../core/domain/evidence/evidence-check.ts";
export type { SupportedMint } from "../core/domain/supported-mint.ts";
export type { FreshLog } from "../core/protocol/verification/verify-fresh-log.ts";
export type { LedgerWitness } from "../core/protocol/verification/verify-on-ledger.ts";
