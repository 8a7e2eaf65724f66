import { Effect } from "effect";
import {
  X402_SCHEME,
  X402_VERSION,
  x402Network,
} from "../../protocol/x402/payment-requirements.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

/** The one kind of payment that this facilitator settles: version, scheme, network and the programs that hold the money. */
export const supportedPayments = Effect.fn("supportedPayments")(function* () {
  const { deployment } = yield* Instance;
  const genesisHash = yield* (yield* Ledger).genesisHash;
  return {
    version: X402_VERSION,
    scheme: X402_SCHEME,
    network: x402Network(genesisHash),
    custody: deployment.custodyProgram,
    attestorProgram: deployment.attestorProgram,
  };
});
