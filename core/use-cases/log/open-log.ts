import { Data, Effect } from "effect";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import { type LogOrigin, parseLogOrigin } from "../../log/checkpoint/log-origin.ts";
import type { LogKey } from "../../../ports/log-signer.ts";
import { LogStore } from "../../../ports/log-store.ts";
import { type LogStanding, parseLogStanding, type SignedHead } from "./log-standing.ts";

/** The log's key, name or ledger is not that of what was signed before. Nothing may be signed. */
export class LogRefused extends Data.TaggedError("LogRefused")<{ readonly reason: string }> {
  override get message() {
    return `The settlement log cannot go on: ${this.reason}.`;
  }
}

/** A log that may be signed. */
export type OpenLog = {
  readonly origin: LogOrigin;
  /** The largest head that was signed for it, by the store or beside the key; null before the first. */
  readonly last: SignedHead | null;
};

const originOf = (standing: LogStanding): LogOrigin | undefined => {
  const parsed = parseLogOrigin(standing.signed.origin);
  return "value" in parsed ? parsed.value : undefined;
};

const parsed = (
  text: string | null,
  where: string,
): Effect.Effect<{ readonly standing: LogStanding; readonly origin: LogOrigin } | null, LogRefused> => {
  if (text === null) return Effect.succeed(null);
  const standing = parseLogStanding(text);
  const origin = standing && originOf(standing);
  return standing === undefined || origin === undefined
    ? Effect.fail(new LogRefused({ reason: `what ${where} says of it cannot be read` }))
    : Effect.succeed({ standing, origin });
};

const larger = (a: SignedHead | null, b: SignedHead | null): SignedHead | null =>
  a === null || (b !== null && b.size > a.size) ? b : a;

/**
 * Which log a key may sign now, from what the store and the key's own memory say was signed: the same one, or the
 * successor of one that ended under another key. Fails with `LogRefused` for another name, another ledger, and an ended
 * log's key.
 */
export const openLog = Effect.fnUntraced(function* (
  name: string,
  networkId: string,
  key: LogKey,
) {
  const store = yield* LogStore;
  const stored = yield* parsed(yield* store.standing, "the store");
  const remembered = yield* parsed(yield* key.remembered, "the file beside its key");
  for (const known of [stored, remembered]) {
    if (known === null) continue;
    const { origin } = known;
    if (origin.name !== name)
      return yield* new LogRefused({
        reason: `LOG_NAME is ${name}, but the log is named ${origin.name}; set LOG_NAME=${origin.name}, or use another DATA_DIR and key for a new log`,
      });
    if (origin.networkId !== networkId)
      return yield* new LogRefused({
        reason: `its key signs the log ${origin.networkId} of another ledger or of other programs, and this one is ${networkId}; give each log a key of its own`,
      });
  }
  const publicKey: Hash32 = hash32FromBytes(key.publicKey);
  const ended = [stored, remembered].find((known) => known?.standing.ended?.publicKey === publicKey);
  if (ended?.standing.ended)
    return yield* new LogRefused({
      reason: `the log ${ended.standing.signed.origin} of this key has ended (${ended.standing.ended.cause}); set another LOG_SIGNING_KEY for its successor`,
    });
  const generation =
    stored === null
      ? (remembered?.origin.generation ?? 0)
      : stored.origin.generation + (stored.standing.ended === null ? 0 : 1);
  const ofThis = [stored, remembered].map((known) =>
    known?.origin.generation === generation ? known.standing.signed : null,
  );
  const open: OpenLog = {
    origin: { name, networkId, generation },
    last: ofThis.reduce(larger, null),
  };
  return open;
});
