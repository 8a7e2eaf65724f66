/** What one check of an evidence packet found. */
export type EvidenceCheck = {
  readonly name: string;
  /** `unproven` is what no offline check can show; `not_applicable` what this packet does not claim. */
  readonly outcome: "passed" | "failed" | "not_applicable" | "unproven";
  readonly reason: string;
};

/** A check that was judged, with the reason for either outcome. */
export const passedOrFailed = (
  name: string,
  holds: boolean,
  passed: string,
  failed: string,
): EvidenceCheck => ({
  name,
  outcome: holds ? "passed" : "failed",
  reason: holds ? passed : failed,
});

/** The checks of a packet, and the verdict over them. */
export type EvidenceVerdict = {
  /** `verified` under a trust policy, `failed` in at least one check, or sound but `untrusted` without a policy. */
  readonly verdict: "verified" | "failed" | "untrusted";
  readonly checks: ReadonlyArray<EvidenceCheck>;
};

/** What a verifier pins beforehand. */
export type TrustPolicy = {
  readonly keys: ReadonlyArray<{
    readonly kid: string;
    /** 32 bytes as base64url. */
    readonly x: string;
    readonly status: "current" | "retired" | "revoked";
  }>;
  readonly genesisHash: string;
  readonly cluster: string;
  readonly custodyProgram: string;
  readonly attestorProgram: string;
};
