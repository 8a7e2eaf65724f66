/** The result of one check of an evidence packet. */
export type EvidenceCheck = {
  readonly name: string;
  /** `unproven` cannot be shown offline; `not_applicable` is not claimed by this packet. */
  readonly outcome: "passed" | "failed" | "not_applicable" | "unproven";
  readonly reason: string;
};

/** The result of a check that either passes or fails, with the reason for each. */
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

/** The checks of a packet, and the verdict that follows from them. */
export type EvidenceVerdict = {
  /** `verified`: sound under a trust policy. `untrusted`: sound, but without a policy. `failed`: a check failed. */
  readonly verdict: "verified" | "failed" | "untrusted";
  readonly checks: ReadonlyArray<EvidenceCheck>;
};

/** What a verifier fixes before it sees a packet. */
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
