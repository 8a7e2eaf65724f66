import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { StoreOfAnotherLedger } from "../../ports/index/store-refusal.ts";

/** The ledger and programs whose rows a store holds. */
export type LedgerIdentity = {
  /** The hash of the ledger's first block, base58. */
  readonly genesisHash: string;
  readonly deployment: Deployment;
};

/** The names of a store's ledger in its table `ledger`. */
export type IdentityRow = {
  readonly genesis_hash: string;
  readonly custody_program: string;
  readonly attestor_program: string;
};

const FIELDS = ["genesis_hash", "custody_program", "attestor_program"] as const;

/** The columns of an `IdentityRow` with their types, for CREATE TABLE in both dialects. */
export const IDENTITY_TYPES = FIELDS.map((field) => `${field} TEXT NOT NULL`).join(", ");

/** The columns of an `IdentityRow`, as a list in SQL. */
export const IDENTITY_COLUMNS = FIELDS.join(", ");

/** What a store records of its ledger, in the order of `IDENTITY_COLUMNS`. */
export const identityValues = ({
  genesisHash,
  deployment,
}: LedgerIdentity): [genesisHash: string, custodyProgram: string, attestorProgram: string] => [
  genesisHash,
  deployment.custodyProgram,
  deployment.attestorProgram,
];

/** How a store's ledger differs from the configured one, undefined where it does not or one is not known. */
export const differenceOf = (
  store: string,
  stored: IdentityRow | null | undefined,
  identity: LedgerIdentity | null,
): StoreOfAnotherLedger | undefined => {
  if (stored === null || stored === undefined || identity === null) return undefined;
  const values = identityValues(identity);
  const differences = FIELDS.flatMap((field, at) => {
    const configured = values[at] ?? "";
    return stored[field] === configured ? [] : [{ field, stored: stored[field], configured }];
  });
  return differences.length === 0 ? undefined : new StoreOfAnotherLedger({ store, differences });
};
