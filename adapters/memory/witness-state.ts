import { Effect, Layer } from "effect";
import {
  type CosignedLog,
  MAX_REFUSED,
  type RefusedCheckpoint,
  WitnessState,
} from "../../ports/log/witness-state.ts";

/** Keeps a witness's state in memory, for tests and as the reference of the contract. */
export const witnessStateMemory: Layer.Layer<WitnessState> = Layer.sync(WitnessState, () => {
  const cosigned = new Map<string, CosignedLog>();
  const refused = new Map<string, Map<string, RefusedCheckpoint>>();
  return WitnessState.of({
    read: (origin) => Effect.sync(() => cosigned.get(origin) ?? null),
    compareAndSet: (origin, expectedSize, next) =>
      Effect.sync(() => {
        if ((cosigned.get(origin)?.size ?? 0) !== expectedSize) return false;
        cosigned.set(origin, next);
        return true;
      }),
    keepRefused: (origin, each) =>
      Effect.sync(() => {
        const kept = refused.get(origin) ?? new Map<string, RefusedCheckpoint>();
        refused.set(origin, kept);
        if (kept.has(each.checkpoint)) return;
        kept.set(each.checkpoint, each);
        const [, second] = kept.keys();
        if (second !== undefined && kept.size > MAX_REFUSED) kept.delete(second);
      }),
    refused: (origin) => Effect.sync(() => [...(refused.get(origin)?.values() ?? [])]),
  });
});
