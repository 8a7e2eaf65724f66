import { Effect } from "effect";
import { domainOf } from "../../protocol/instructions/attestation.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

/**
 * What signatures name of this service's ledger and custody program, from the genesis hash that its store has recorded.
 * Fails as a read of the ledger does.
 */
export const ledgerDomain = Effect.gen(function* () {
  const { deployment } = yield* Instance;
  const genesisHash = yield* (yield* Ledger).genesisHash;
  return domainOf({ ...deployment, genesisHash });
});
