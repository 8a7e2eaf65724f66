import { Effect, Layer, Stream } from "effect";
import type { Address } from "../../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger-account.ts";
import { CLOCK_SYSVAR, SYSTEM_PROGRAM } from "../../../../core/protocol/well-known-addresses.ts";
import { Broadcaster } from "../../../../ports/broadcaster.ts";
import { Ledger, type LedgerFailure } from "../../../../ports/ledger.ts";

/** What a test sets on the ledger behind the ports. */
export type LedgerDouble = {
  readonly accounts: Map<Address, LedgerAccount>;
  readonly put: (account: Omit<LedgerAccount, "lamports" | "executable">) => void;
  /** Unix seconds of the Clock sysvar. */
  setClock: (seconds: bigint) => void;
  /** Every read from now on fails like this, or never ends; null: they work. */
  fault: LedgerFailure | "hangs" | null;
  slot: bigint;
};

/** A ledger of accounts in memory, at the edge of the ports and nowhere deeper. */
export const makeLedgerDouble = (genesisHash: string) => {
  const accounts = new Map<Address, LedgerAccount>();
  const put: LedgerDouble["put"] = (account) =>
    void accounts.set(account.address, { ...account, lamports: 1n, executable: false });
  const setClock = (seconds: bigint) => {
    const data = new Uint8Array(40);
    new DataView(data.buffer).setBigInt64(32, seconds, true);
    put({ address: CLOCK_SYSVAR, owner: SYSTEM_PROGRAM, data });
  };
  const double: LedgerDouble = { accounts, put, setClock, fault: null, slot: 1000n };
  const answer = <A>(value: () => A): Effect.Effect<A, LedgerFailure> =>
    Effect.suspend(() => {
      if (double.fault === null) return Effect.succeed(value());
      return double.fault === "hangs" ? Effect.never : Effect.fail(double.fault);
    });
  const ledger = Layer.succeed(Ledger, {
    genesisHash: answer(() => genesisHash),
    tip: () => answer(() => ({ slot: double.slot, blockHeight: double.slot })),
    readAccounts: (addresses) =>
      answer(() => ({
        slot: double.slot,
        value: addresses.map((address) => accounts.get(address) ?? null),
      })),
    programAccounts: (program) =>
      Stream.fromEffect(
        answer(() => ({
          slot: double.slot,
          value: [...accounts.values()].filter(({ owner }) => owner === program),
        })),
      ),
  });
  const broadcaster = Layer.succeed(Broadcaster, {
    isBlockhashValid: () => answer(() => false),
    fee: () => answer(() => null),
    simulate: () => answer(() => ({ slot: double.slot, error: null, logs: [] })),
    submit: () => answer(() => undefined),
    landed: () => answer(() => null),
    logs: () => answer(() => []),
  });
  return { double, layer: Layer.merge(ledger, broadcaster) };
};
