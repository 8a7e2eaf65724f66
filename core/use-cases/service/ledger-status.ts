import { Clock, Effect } from "effect";
import { decodeAttestorRegistryAccount } from "../../protocol/accounts/attestor-registry-account.ts";
import { domainOf } from "../../protocol/instructions/attestation.ts";
import { programDataAddress } from "../../protocol/addresses/addresses.ts";
import { initialisedBy, ownAccounts } from "./program-status.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

/** The ledger's tip, its identity, the accounts of both programs with their data, whether they are initialised for each other, and the registry's settlement mint. Fails as a read of the ledger does. */
export const readLedgerStatus = Effect.gen(function* () {
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
