import { Effect, type Scope } from "effect";
import type { Address } from "../../domain/address.ts";
import { decodeAttestorRegistryAccount } from "../../protocol/accounts/attestor-registry-account.ts";
import { registryAddress } from "../../protocol/addresses/addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { orNull } from "./log-status.ts";
import { sharedReading } from "./shared-reading.ts";

/** Maximum age of a reading, milliseconds. The mint of a registry never changes, but one node may answer wrongly. */
const FRESH_MS = 60_000;

const readSettlementMint = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const { address } = registryAddress(deployment);
  const { value } = yield* ledger.readAccounts([address], "confirmed");
  const registry = value[0] ? decodeAttestorRegistryAccount(value[0], deployment) : null;
  return registry && "value" in registry ? registry.value.settlementMint : null;
});

/**
 * An effect that returns the registry's settlement mint, which merchants' volume is counted in: as read at most a minute
 * ago, otherwise as last known; null before the ledger has shown it. Never fails; waits a second at most, once a minute.
 */
export const sharedSettlementMint = (
  scope: Scope.Scope,
): Effect.Effect<Address | null, never, Ledger | Instance> => {
  let known: Address | null = null;
  return sharedReading(
    scope,
    FRESH_MS,
    Effect.map(orNull(readSettlementMint), (mint) => (known = mint ?? known)),
  );
};
