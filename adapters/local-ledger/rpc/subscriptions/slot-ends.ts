import type { LocalLedger } from "../../runtime/ledger.ts";

/** The ends of a ledger's slots, to be waited for. A timer runs only while somebody waits. */
export const slotEnds = (ledger: LocalLedger) => {
  let waiting: Array<() => void> = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const release = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const due = waiting;
    waiting = [];
    for (const resume of due) resume();
  };
  const stopListening = ledger.slots.listen({ landed: () => undefined, slotEnded: release });
  const look = (): void => {
    timer = undefined;
    // Reading the current slot also ends the slot before it.
    const slot = ledger.slots.current();
    if (waiting.length > 0) timer = setTimeout(look, Math.ceil(ledger.clock.msUntilEnd(slot)));
  };

  return {
    /** Resolves once the current slot has ended, or the ends are no longer watched. */
    next: (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (timer === undefined) look();
      }),
    stop: (): void => {
      stopListening();
      release();
    },
  };
};
