import { Clock, Effect, Layer } from "effect";

/** The machine's clock, and a function that sets it forward by a number of milliseconds. */
export const forwardedClock = () => {
  let aheadMs = 0;
  const layer: Layer.Layer<never> = Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (machine): Clock.Clock => {
      const millis = () => machine.currentTimeMillisUnsafe() + aheadMs;
      const nanos = () => machine.currentTimeNanosUnsafe() + BigInt(aheadMs) * 1_000_000n;
      const monotonic = () => machine.monotonicTimeNanosUnsafe() + BigInt(aheadMs) * 1_000_000n;
      return {
        sleep: (duration) => machine.sleep(duration),
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: monotonic,
        monotonicTimeNanos: Effect.sync(monotonic),
      };
    }),
  );
  return { layer, forward: (ms: number): void => void (aheadMs += ms) };
};
