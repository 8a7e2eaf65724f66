import { Effect } from "effect";
import { listedMint } from "../../domain/supported-mint.ts";
import { Instance } from "../../../ports/instance.ts";
import { LedgerPulse } from "../service/ledger-pulse.ts";

/** The settlement mint as this service lists it, undefined while it is not known or not listed. */
export const listedSettlementMint = Effect.gen(function* () {
  const { supportedMints } = yield* Instance;
  const mint = yield* (yield* LedgerPulse).settlementMint;
  return mint === null ? undefined : listedMint(supportedMints, mint);
});
