import { Effect, Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { Ledger } from "../../ports/ledger/ledger.ts";

/** What a node shows instead of an account; null hides it. */
export type Lie = (account: LedgerAccount) => LedgerAccount | null;

/** The ledger's port over a node that lies about some accounts. */
export const lying = (
  port: Ledger["Service"],
  lies: ReadonlyMap<Address, Lie>,
): Ledger["Service"] => {
  const shown = (account: LedgerAccount | null): LedgerAccount | null => {
    const lie = account === null ? undefined : lies.get(account.address);
    return account === null || lie === undefined ? account : lie(account);
  };
  return {
    ...port,
    readAccounts: (...asked) =>
      Effect.map(port.readAccounts(...asked), ({ slot, value }) => ({
        slot,
        value: value.map(shown),
      })),
    programAccounts: (kind) =>
      Stream.map(port.programAccounts(kind), ({ slot, value }) => ({
        slot,
        value: value.map(shown).filter((account) => account !== null),
      })),
  };
};

/** The account with other bytes: `change` gets a copy of them. */
export const changed = (
  account: LedgerAccount,
  change: (data: Uint8Array) => void,
): LedgerAccount => {
  const data = account.data.slice();
  change(data);
  return { ...account, data };
};
