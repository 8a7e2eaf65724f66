import { Effect } from "effect";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { decodeAttestorRegistryAccount } from "../../protocol/accounts/attestor-registry-account.ts";
import { decodeCustodyConfigAccount } from "../../protocol/accounts/custody-config-account.ts";
import { custodyConfigAddress, registryAddress } from "../../protocol/addresses/addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

/** Whether each program is initialised for the other: its own account exists and names the other program. */
export type InitialisedPrograms = { readonly custody: boolean; readonly attestor: boolean };

/** The addresses of the programs' own accounts: custody's config and the attestor program's registry. */
export const ownAccounts = (deployment: Deployment) =>
  [custodyConfigAddress(deployment).address, registryAddress(deployment).address] as const;

/** What custody's config and the registry say of each other. Swapped or foreign program ids are in neither. */
export const initialisedBy = (
  config: LedgerAccount | null,
  registry: LedgerAccount | null,
  deployment: Deployment,
): InitialisedPrograms => {
  const custody = config && decodeCustodyConfigAccount(config, deployment);
  const attestor = registry && decodeAttestorRegistryAccount(registry, deployment);
  return {
    custody:
      custody !== null &&
      "value" in custody &&
      custody.value.attestorProgram === deployment.attestorProgram,
    attestor:
      attestor !== null &&
      "value" in attestor &&
      attestor.value.custodyProgram === deployment.custodyProgram,
  };
};

/** Whether both programs are initialised for each other on the confirmed ledger. Fails as a read of the ledger does. */
export const readInitialised = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const { value } = yield* ledger.readAccounts(ownAccounts(deployment), "confirmed");
  const { custody, attestor } = initialisedBy(value[0] ?? null, value[1] ?? null, deployment);
  return custody && attestor;
});
