import { isSameHash } from "../tree/tree-hash.ts";
import type { LogPolicy, PolicyWitness } from "./log-policy.ts";

/** Witnesses of which a number must have cosigned: the form of the policies that commands write and change. */
export type WitnessGroup = {
  readonly witnesses: ReadonlyArray<PolicyWitness>;
  /** [1, number of witnesses] */
  readonly threshold: number;
};

/** The names of a service's own witnesses. Whoever reads a verdict sees in them that they are no independent ones. */
export const OWN_WITNESS_NAMES: ReadonlyArray<string> = ["own-1", "own-2", "own-3"];

/** The word that a written policy has for its group. */
const GROUP = "witnesses";

/** How many of `count` are more than half of them. */
export const majorityOf = (count: number): number => Math.floor(count / 2) + 1;

/** The policy of a group. */
export const groupPolicy = ({ witnesses, threshold }: WitnessGroup): LogPolicy => ({
  logs: [],
  witnesses,
  groups: [{ name: GROUP, threshold, members: witnesses.map(({ name }) => name) }],
  quorum: GROUP,
});

/** The group of a policy that is nothing else than one; null for any other, which only its author can change. */
export const groupOfPolicy = ({
  logs,
  witnesses,
  groups: [group, ...others],
  quorum,
}: LogPolicy): WitnessGroup | null => {
  if (logs.length > 0 || others.length > 0 || quorum === null) return null;
  if (group === undefined)
    return witnesses.length === 1 && witnesses[0]?.name === quorum
      ? { witnesses, threshold: 1 }
      : null;
  const isOfAll = group.members.length === witnesses.length;
  return isOfAll && quorum === group.name ? { witnesses, threshold: group.threshold } : null;
};

/**
 * A group with one witness more, or with another line of a witness whose key it has already; null begins one. The
 * threshold is the given one, otherwise more than half, where the number of witnesses changes.
 */
export const withWitness = (
  group: WitnessGroup | null,
  witness: PolicyWitness,
  threshold?: number,
): WitnessGroup => {
  const before = group?.witnesses ?? [];
  const at = before.findIndex(({ key }) => isSameHash(key.publicKey, witness.key.publicKey));
  const witnesses = at === -1 ? [...before, witness] : before.with(at, witness);
  const usual = at === -1 ? majorityOf(witnesses.length) : (group?.threshold ?? 1);
  return { witnesses, threshold: threshold ?? usual };
};

/**
 * A group without the witnesses of some public keys: null when none is left. Where some go, the threshold becomes the
 * given one, otherwise more than half of those that stay.
 */
export const withoutWitnesses = (
  group: WitnessGroup,
  keys: ReadonlyArray<Uint8Array>,
  threshold?: number,
): WitnessGroup | null => {
  const witnesses = group.witnesses.filter(
    ({ key }) => !keys.some((each) => isSameHash(each, key.publicKey)),
  );
  if (witnesses.length === group.witnesses.length) return group;
  if (witnesses.length === 0) return null;
  return { witnesses, threshold: threshold ?? majorityOf(witnesses.length) };
};
