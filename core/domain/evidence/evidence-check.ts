import type { Address } from "../address.ts";
import type { ProgramPins } from "../ledger/deployment.ts";
import type { SupportedMint } from "../supported-mint.ts";

/** What one check of an evidence packet found. */
export type EvidenceCheck = {
  readonly name: string;
  /**
   * `witnessed`: the witnesses that the policy names state that they recomputed it; `unproven`: nothing that was given
   * shows it; `not_applicable`: not judged.
   */
  readonly outcome: "passed" | "failed" | "not_applicable" | "unproven" | "witnessed";
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

/** What was paid, as a verifier shows it: base units, and their value by the policy's list of mints. */
export type EvidenceAmounts = {
  readonly mint: Address;
  /** Whether the policy lists the mint; false without a policy. */
  readonly mint_supported: boolean;
  /** What the policy calls the mint's units, null for a mint that it does not list. */
  readonly symbol: string | null;
  /** Base units as decimal texts. */
  readonly amount_stroops: string;
  readonly released_stroops: string;
  readonly refunded_stroops: string;
  /** With six decimals, null unless the policy lists the mint as USDC. */
  readonly amount_usdc: string | null;
  readonly released_usdc: string | null;
  readonly refunded_usdc: string | null;
};

/** The checks of a packet, and the verdict over them. */
export type EvidenceVerdict = {
  /**
   * `verified`: sound under a trust policy. `untrusted`: sound, but without a policy. `failed`: a check failed.
   * `unsupported_version`: a packet of another version of the format, of which nothing was checked.
   */
  readonly verdict: "verified" | "failed" | "untrusted" | "unsupported_version";
  readonly checks: ReadonlyArray<EvidenceCheck>;
  /** Null when a check failed or none was made, because nothing in such a packet can be trusted. */
  readonly amounts: EvidenceAmounts | null;
};

/** What a verified call comes to. Each part has somebody else who vouches for it. */
export type JudgedCall = {
  readonly escrow: string;
  /** Which call of the session it is, from 1 on. */
  readonly count: number;
  /** Base units, decimal. */
  readonly price_stroops: string;
  readonly limit_stroops: string;
  /** What the agent's session key signed an order for; null where only its hash is shown. */
  readonly ordered: string | null;
  /** The attestor that signed the delivery, and when, in seconds since 1970. */
  readonly delivered: { readonly attestor: string; readonly at: number };
  /** `paid`: the escrow's account has released it. `attested`: the attestor has signed it, and no payment of it is proved. */
  readonly settlement: "paid" | "attested";
};

/** The verdict of a call: that of its packet, the checks of both, and the call where none of them fails. */
export type CallVerdict = EvidenceVerdict & { readonly call: JudgedCall | null };

/** The only version of the trust document that this code writes and reads. */
export const TRUST_VERSION = 2;

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
  /** What the programs on the ledger must be; only a node shows it. */
  readonly programPins: ProgramPins;
  /** The mints whose amounts the verifier shows as money. */
  readonly supportedMints: ReadonlyArray<SupportedMint>;
  /**
   * The logs, and the witnesses that compare them with a node of their own (C2SP tlog-policy), as text; null for none.
   */
  readonly logOnLedger: string | null;
  /** The same logs, and witnesses that only see that they grow, as text; null for none. */
  readonly logAppendOnly: string | null;
};
