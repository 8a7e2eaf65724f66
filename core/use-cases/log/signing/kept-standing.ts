import { Effect, Semaphore } from "effect";
import type { LogKey } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import {
  type LogStanding,
  parseLogStanding,
  printLogStanding,
  type SignedHead,
} from "../log-standing.ts";

/** A log's standing in the two places that keep it: the store, and the file beside the key. */
export class KeptStanding {
  readonly origin: string;
  /** The head that this process knows to stand beside the key; null for none. */
  remembered: SignedHead | null;
  readonly #key: LogKey;
  readonly #replacing = Semaphore.makeUnsafe(1);

  constructor(key: LogKey, origin: string, remembered: SignedHead | null) {
    this.#key = key;
    this.origin = origin;
    this.remembered = remembered;
  }

  /** Has work that replaces the standing wait for such work before it: a process signs and publishes side by side. */
  readonly inTurn = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    this.#replacing.withPermit(work);

  #ofText(text: string | null) {
    const value = text === null ? undefined : parseLogStanding(text);
    return { text, value: value?.signed.origin === this.origin ? value : null };
  }

  /** The standing of this log in the store, null when that is another log's or none, and the text that it stands in. */
  readonly inStore = Effect.gen({ self: this }, function* () {
    const store = yield* LogStore;
    return this.#ofText(yield* store.standing);
  });

  /**
   * The text beside the key, the standing that it holds of this log, and the head that was signed; null for none.
   * Another process may have written it.
   */
  get besideKey() {
    return Effect.map(this.#key.remembered, (text) => {
      const kept = this.#ofText(text);
      return { ...kept, head: kept.value?.signed ?? null };
    });
  }

  /**
   * Writes a standing beside the key, in place of a text. Another process's write in between is a failure that passes.
   */
  remember(before: string | null, next: LogStanding) {
    return Effect.gen({ self: this }, function* () {
      if (!(yield* this.#key.remember(before, printLogStanding(next)))) {
        const cause = "another process signs with the log's key";
        return yield* new StoreUnavailable({ retryable: true, cause });
      }
      this.remembered = next.signed;
    });
  }

  /** Replaces the store's standing. Another process's write in between is a failure that passes. */
  replace(before: string | null, next: LogStanding) {
    return Effect.gen(function* () {
      const store = yield* LogStore;
      if (yield* store.replaceStanding(before, printLogStanding(next))) return;
      const cause = "another process signs the log";
      return yield* new StoreUnavailable({ retryable: true, cause });
    });
  }

  /** Publishes the note that `noteFor` makes for the standing, unless it makes none; says whether it does. */
  publish(noteFor: (standing: LogStanding) => string | null) {
    const published = Effect.gen({ self: this }, function* () {
      const { text, value } = yield* this.inStore;
      const note = value === null ? null : noteFor(value);
      if (value === null || note === null) return false;
      if (note !== value.published) yield* this.replace(text, { ...value, published: note });
      return true;
    });
    return this.inTurn(published);
  }
}
