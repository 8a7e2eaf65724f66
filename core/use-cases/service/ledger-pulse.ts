import { Context, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import { Instance } from "../../../ports/instance.ts";
import { type Commitment, Ledger, type LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { readInitialised } from "./program-status.ts";
import { readLedgerStatus } from "./ledger-status.ts";
import { sharedSettlementMint } from "./settlement-mint.ts";
import { sharedReading } from "./shared-reading.ts";

/** Maximum age of a reading, milliseconds. */
const FRESH_MS = 1_000;

/**
 * The ledger's state as anonymous callers see it. It is read at most once a second for all of them, because each call may cost
 * the operator money. Whatever a payment depends on is read from the ledger directly.
 */
export class LedgerPulse extends Context.Service<
  LedgerPulse,
  {
    readonly tip: (
      commitment: Commitment,
    ) => Effect.Effect<Effect.Success<ReturnType<Ledger["Service"]["tip"]>>, LedgerFailure>;
    /** Whether both programs are initialised for each other, and for this ledger. Nothing undoes that, so it is not read again once it is so. */
    readonly initialised: Effect.Effect<Effect.Success<typeof readInitialised>, LedgerFailure>;
    /** The mint that merchants' volume is counted in; null before the ledger has shown it. Waits a second at most, once a minute. */
    readonly settlementMint: Effect.Effect<Address | null>;
    readonly status: Effect.Effect<Effect.Success<typeof readLedgerStatus>, LedgerFailure>;
  }
>()("settlement-evidence/core/use-cases/LedgerPulse") {}

/** The process's one `LedgerPulse`. */
export const makeLedgerPulse = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const ledger = yield* Ledger;
  const instance = yield* Instance;
  const here = <A, E>(read: Effect.Effect<A, E, Ledger | Instance>) =>
    read.pipe(Effect.provideService(Ledger, ledger), Effect.provideService(Instance, instance));
  const status = here(readLedgerStatus);
  let settled: Effect.Success<typeof readInitialised> | undefined;
  const initialised = sharedReading(
    scope,
    FRESH_MS,
    Effect.tap(here(readInitialised), (found) =>
      Effect.sync(() => {
        if (found.custody && found.attestor && !found.isOfOtherLedger) settled = found;
      }),
    ),
  );
  const tips = {
    confirmed: sharedReading(scope, FRESH_MS, ledger.tip("confirmed")),
    finalized: sharedReading(scope, FRESH_MS, ledger.tip("finalized")),
  };
  return LedgerPulse.of({
    initialised: Effect.suspend(() =>
      settled === undefined ? initialised : Effect.succeed(settled),
    ),
    tip: (commitment) => tips[commitment],
    settlementMint: here(sharedSettlementMint(scope)),
    status: sharedReading(scope, FRESH_MS, status),
  });
});
