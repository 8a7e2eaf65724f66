import { Effect, Stream } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import {
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger } from "../../../ports/ledger.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";

/** An account of a ledger, rent and all. */
export const ledgerAccount = (
  address: Address,
  owner: Address,
  data: Uint8Array,
): LedgerAccount => ({ address, owner, lamports: 1_000_000n, executable: false, data });

/** A ledger at one slot and time that holds just these accounts; anything but reading them dies. */
export const ledgerOfAccounts = (
  accounts: ReadonlyArray<LedgerAccount>,
  at: { readonly slot: bigint; readonly ledgerTime: UnixSeconds },
) => {
  const clock = new Uint8Array(40);
  new DataView(clock.buffer).setBigInt64(32, at.ledgerTime, true);
  const held = [...accounts, ledgerAccount(CLOCK_SYSVAR, SYSTEM_PROGRAM, clock)];
  return Ledger.of({
    genesisHash: Effect.succeed(NETWORK.genesisHash),
    tip: () => Effect.die("not expected"),
    history: () => Effect.die("not expected"),
    transaction: () => Effect.die("not expected"),
    programAccounts: () => Stream.die("not expected"),
    readAccounts: (addresses) =>
      Effect.succeed({
        slot: at.slot,
        value: addresses.map((address) => held.find((each) => each.address === address) ?? null),
      }),
  });
};
