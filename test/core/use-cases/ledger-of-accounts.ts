import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import { clockAccount } from "../../doubles/accounts.ts";
import { ledgerPort } from "../../world/ledger-port.ts";

/** A ledger at one slot and time that holds just these accounts. Any other question dies. */
export const ledgerOfAccounts = (
  accounts: ReadonlyArray<LedgerAccount>,
  at: { readonly slot: bigint; readonly ledgerTime: UnixSeconds },
) => {
  const held = [...accounts, clockAccount(at.ledgerTime)];
  return ledgerPort({
    genesisHash: NETWORK.genesisHash,
    slot: () => at.slot,
    accountAt: () => (address) => held.find((each) => each.address === address) ?? null,
  });
};
