import { Clock, Context, Effect, type Scope } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { CallPurpose } from "../../../ports/ledger/ledger-calls.ts";
import { type Commitment, Ledger, type LedgerFailure } from "../../../ports/ledger/ledger.ts";
import type { Address } from "../../domain/address.ts";
import { decodeAttestorRegistryAccount } from "../../protocol/accounts/settings-accounts.ts";
import { programDataAddress, registryAddress } from "../../protocol/addresses/addresses.ts";
import { domainOf } from "../../protocol/instructions/attestation.ts";
import { orNull } from "./log-status.ts";
import { initialisedBy, ownAccounts, readInitialised } from "./program-status.ts";
import { sharedReading } from "../single-flight.ts";

/**
 * The ledger's tip, its identity, the accounts of both programs with their data, whether they are initialised for each
 * other, and the registry's settlement mint. Fails as a read of the ledger does.
 */
const readLedgerStatus = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const programs = [deployment.custodyProgram, deployment.attestorProgram];
  const startedAtMs = yield* Clock.currentTimeMillis;
  const tip = yield* ledger.tip("finalized");
  const latencyMs = Math.max(0, (yield* Clock.currentTimeMillis) - startedAtMs);
  const genesisHash = yield* ledger.genesisHash;
  const domain = domainOf({ ...deployment, genesisHash });
  const addresses = [
    ...programs.flatMap((program) => [program, programDataAddress(program)]),
    ...ownAccounts(deployment),
  ];
  const { value } = yield* ledger.readAccounts(
    addresses,
    "confirmed",
    // The whole ELF is needed for its hash.
    Number.POSITIVE_INFINITY,
  );
  const pair = (at: number) => ({ program: value[at] ?? null, data: value[at + 1] ?? null });
  const [config, registry] = [value[4] ?? null, value[5] ?? null];
  const decoded = registry && decodeAttestorRegistryAccount(registry, deployment);
  return {
    slot: tip.slot,
    latencyMs,
    genesisHash,
    initialised: initialisedBy(config, registry, deployment, domain),
    custody: pair(0),
    attestor: pair(2),
    settlementMint: decoded && "value" in decoded ? decoded.value.settlementMint : null,
  };
});

/** Maximum age of a reading, milliseconds. The mint of a registry never changes, but one node may answer wrongly. */
const MINT_FRESH_MS = 60_000;

const readSettlementMint = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const { address } = registryAddress(deployment);
  const { value } = yield* ledger.readAccounts([address], "confirmed");
  const registry = value[0] ? decodeAttestorRegistryAccount(value[0], deployment) : null;
  return registry && "value" in registry ? registry.value.settlementMint : null;
});

/**
 * An effect that returns the registry's settlement mint, which merchants' volume is counted in: as read at most a
 * minute ago, otherwise as last known; null before the ledger has shown it. Never fails; waits a second at most, once a
 * minute.
 */
const sharedSettlementMint = (
  scope: Scope.Scope,
): Effect.Effect<Address | null, never, Ledger | Instance> => {
  let known: Address | null = null;
  return sharedReading(
    scope,
    MINT_FRESH_MS,
    Effect.map(orNull(readSettlementMint), (mint) => (known = mint ?? known)),
  );
};

/** Maximum age of a reading, milliseconds. */
const FRESH_MS = 1_000;

/**
 * The ledger's state as anonymous callers see it. It is read at most once a second for all of them, because each call
 * may cost the operator money. Whatever a payment depends on is read from the ledger directly.
 */
export class LedgerPulse extends Context.Service<
  LedgerPulse,
  {
    readonly tip: (
      commitment: Commitment,
    ) => Effect.Effect<Effect.Success<ReturnType<Ledger["Service"]["tip"]>>, LedgerFailure>;
    /**
     * Whether both programs are initialised for each other, and for this ledger. Nothing undoes that, so it is not read
     * again once it is so.
     */
    readonly initialised: Effect.Effect<Effect.Success<typeof readInitialised>, LedgerFailure>;
    /**
     * The mint that merchants' volume is counted in; null before the ledger has shown it. Waits a second at most, once
     * a minute.
     */
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
    read.pipe(
      Effect.provideService(Ledger, ledger),
      Effect.provideService(Instance, instance),
      Effect.provideService(CallPurpose, "status"),
    );
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
    confirmed: sharedReading(scope, FRESH_MS, here(ledger.tip("confirmed"))),
    finalized: sharedReading(scope, FRESH_MS, here(ledger.tip("finalized"))),
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
