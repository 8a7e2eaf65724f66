import { Effect, Layer } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { networkIdOf, networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LogIdentity } from "../../ports/log/log-signer.ts";

/** The identity of the log of a ledger and its programs. */
export const logIdentity = (
  genesisHash: Parameters<typeof networkLeaf>[0],
  deployment: Deployment,
): Layer.Layer<LogIdentity> => {
  const leaf = networkLeaf(genesisHash, deployment.custodyProgram);
  return Layer.succeed(LogIdentity, {
    networkLeaf: Effect.succeed(leaf),
    id: Effect.succeed(networkIdOf(leaf)),
  });
};
