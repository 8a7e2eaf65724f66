import { Effect, type Layer, Stream } from "effect";
import { type LedgerSignal, LedgerSignals } from "../../ports/ledger/ledger-signals.ts";

/** Reads a source's signals until `stop`. The reader waits at each signal while `isHeld` is true. */
export const listenTo = (layer: Layer.Layer<LedgerSignals>) => {
  const heard: Array<LedgerSignal> = [];
  let looked = (): void => {};
  let held: Promise<void> | null = null;
  let release = (): void => {};
  const controller = new AbortController();
  const ended = Effect.runPromiseExit(
    LedgerSignals.use(({ changes }) =>
      Stream.runForEach(changes, (signal) =>
        Effect.promise(async () => {
          heard.push(signal);
          looked();
          await held;
        }),
      ),
    ).pipe(Effect.provide(layer)),
    { signal: controller.signal },
  );
  return {
    heard,
    /** The transactions that were told. */
    told: () => heard.filter((signal) => signal !== null),
    /** Resolves once `holds` does. It is looked at after each signal. */
    until: (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        looked = () => {
          if (holds()) resolve();
        };
        looked();
      }),
    /** The reader takes no further signal until `release`. */
    hold: () => {
      held = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => {
      held = null;
      release();
    },
    stop: () => {
      controller.abort();
      return ended;
    },
  };
};
