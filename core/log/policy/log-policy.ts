import type { VerifierKey } from "../notes/verifier-key.ts";

/** A log whose checkpoints a policy accepts. The key's name is the origin. */
export type PolicyLog = { readonly key: VerifierKey; readonly url: string | null };

/** A witness that a policy knows, under the name that the policy gives it. */
export type PolicyWitness = {
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string | null;
};

/** A group has witnessed what at least `threshold` of its members have, [1, number of members]. */
export type PolicyGroup = {
  readonly name: string;
  readonly threshold: number;
  /** Names of witnesses and of groups before it. Each name is a member at most once in the whole policy. */
  readonly members: ReadonlyArray<string>;
};

/** Which checkpoints are believed (C2SP tlog-policy). */
export type LogPolicy = {
  readonly logs: ReadonlyArray<PolicyLog>;
  readonly witnesses: ReadonlyArray<PolicyWitness>;
  /** A group's members stand before it. */
  readonly groups: ReadonlyArray<PolicyGroup>;
  /** The name of a witness or group; null for `quorum none`. */
  readonly quorum: string | null;
};
