import { Effect } from "effect";
import { networkIdOf, networkLeaf } from "../../log/leaf/network-leaf.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";

/** Leaf 0 of every log of this ledger and these programs, and its id, 16 hex digits. Fails like the ledger. */
export const readLogIdentity = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const leaf = networkLeaf(yield* ledger.genesisHash, deployment);
  return { networkLeaf: leaf, networkId: networkIdOf(leaf) };
});
