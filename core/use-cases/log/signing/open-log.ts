import { Data, Effect } from "effect";
import type { LogKey, LogKeyUnusable, SigningKey } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { hash32FromBytes, hash32ToBytes } from "../../../domain/hash32.ts";
import { checkpointText } from "../../../log/checkpoint/checkpoint.ts";
import {
  type LogOrigin,
  parseLogOrigin,
  printLogOrigin,
} from "../../../log/checkpoint/log-origin.ts";
import { type NoteSignature, printSignedNote } from "../../../log/notes/signed-note.ts";
import { verifierKey } from "../../../log/notes/verifier-key.ts";
import { noteMessage } from "../../../log/notes/verify-note.ts";
import {
  type EndedLog,
  endedLogsOf,
  type LogStanding,
  parseLogStanding,
  type SignedHead,
  signingKeysOf,
} from "../log-standing.ts";
import { furtherAlong } from "./key-rotation.ts";

/** A checkpoint that the log has signed. */
export type SignedCheckpoint = {
  readonly head: SignedHead;
  /** What was signed: origin, size and root. */
  readonly text: string;
  /** One of each key that signs the log. */
  readonly signatures: ReadonlyArray<NoteSignature>;
};

/**
 * Signs a head with each of the keys. The same head always gets the same signatures, so signing again tells nobody
 * anything new.
 */
export const signCheckpoint = Effect.fnUntraced(function* (
  keys: ReadonlyArray<SigningKey>,
  head: SignedHead,
) {
  const text = checkpointText({ ...head, root: hash32ToBytes(head.root) });
  const message = noteMessage(text);
  const signatures = yield* Effect.forEach(keys, ({ publicKey, sign }) => {
    const { name, id } = verifierKey(head.origin, "ed25519", publicKey);
    return Effect.map(sign(message), (signature): NoteSignature => ({ name, id, signature }));
  });
  const signed: SignedCheckpoint = { head, text, signatures };
  return signed;
});

/** A signed checkpoint as a note, with cosignatures behind the log's signatures. */
export const printSignedCheckpoint = (
  { text, signatures }: Pick<SignedCheckpoint, "text" | "signatures">,
  cosignatures: ReadonlyArray<NoteSignature>,
): string => printSignedNote({ text, signatures: [...signatures, ...cosignatures] });

/** The log's key, name or ledger is not that of what was signed before. Nothing may be signed. */
export class LogRefused extends Data.TaggedError("LogRefused")<{ readonly reason: string }> {
  override get message() {
    return `The settlement log cannot go on: ${this.reason}.`;
  }
}

/** A log that may be signed. */
export type OpenLog = {
  readonly origin: string;
  readonly generation: number;
  /** What was signed for it, as the store and as the key's own memory say; null where they say nothing. */
  readonly stored: SignedHead | null;
  readonly remembered: SignedHead | null;
  /** What is known of a log that goes on, or that its operator ended; null before its first signature. */
  readonly last: LogStanding | null;
  readonly predecessors: ReadonlyArray<EndedLog>;
};

type Known = { readonly standing: LogStanding; readonly origin: LogOrigin };

const refuse = (reason: string) => Effect.fail(new LogRefused({ reason }));

const known = (text: string | null, fault: string): Effect.Effect<Known | null, LogRefused> => {
  if (text === null) return Effect.succeed(null);
  const standing = parseLogStanding(text);
  const origin = standing && parseLogOrigin(standing.signed.origin);
  return standing === undefined || origin === undefined || "fault" in origin
    ? refuse(fault)
    : Effect.succeed({ standing, origin: origin.value });
};

/** What a key's own memory says was signed, null for nothing. Fails where it cannot be read. */
export const standingBesideKey = Effect.fnUntraced(function* (key: LogKey) {
  const text = yield* key.remembered.pipe(
    Effect.catch(({ message }: LogKeyUnusable) => refuse(message.replace(/\.$/, ""))),
  );
  return yield* known(
    text,
    `${key.memory} is not what the key writes there. Put a copy of it back; where the log's store was never taken back to a copy, you may move the file away instead`,
  );
});

/**
 * Of the standings of one log, the one that ended, otherwise the one whose keys are further rotated; of several logs,
 * the latest one's.
 */
const latest = (all: ReadonlyArray<Known>): Known | null =>
  all.reduce<Known | null>((best, each) => {
    const [a, b] = [best?.origin.generation ?? -1, each.origin.generation];
    if (best === null || b !== a) return b > a ? each : best;
    if (each.standing.ended !== null) return each;
    if (best.standing.ended !== null) return best;
    return furtherAlong(best.standing, each.standing) === best.standing ? best : each;
  }, null);

/** Why two keys cannot sign one log together, null when they can: a line of a note names a key by its id alone. */
export const faultOfKeys = (origin: string, keys: ReadonlyArray<Uint8Array>): string | null => {
  const ids = keys.map((key) => verifierKey(origin, "ed25519", key).id);
  return new Set(ids).size === ids.length
    ? null
    : `the log's two keys have the same id ${ids[0]} under ${origin}; make another second key`;
};

/**
 * Which log keys may sign, from what the store and the keys' own memory say was signed: the same one, also one that its
 * operator ended, or the successor of one that ended under other keys. Fails with `LogRefused` for another name,
 * another ledger, other keys of a log that goes on, and a key of an ended log.
 */
export const openLog = Effect.fnUntraced(function* (name: string, networkId: string, key: LogKey) {
  const store = yield* LogStore;
  const own = yield* key.keys.pipe(
    Effect.catch(({ message }: LogKeyUnusable) => refuse(message.replace(/\.$/, ""))),
    Effect.map((keys) => keys.map(({ publicKey }) => publicKey)),
  );
  const publicKeys = new Set(own.map(hash32FromBytes));
  const stored = yield* known(
    yield* store.standing,
    "what its store says of it cannot be read; put a copy of the store back",
  );
  const remembered = yield* standingBesideKey(key);
  const all = [stored, remembered].filter((each) => each !== null);
  for (const { origin } of all) {
    if (origin.name !== name)
      return yield* refuse(
        `LOG_NAME is ${name}, but the log is named ${origin.name}; set LOG_NAME=${origin.name}, or use another DATA_DIR, store and key for a new log`,
      );
    if (origin.networkId !== networkId)
      return yield* refuse(
        `its key or its store belongs to the log ${origin.networkId} of another ledger or of other programs, and this one is ${networkId}; give each log a key and a store of its own`,
      );
  }
  const newest = latest(all);
  const goesOn =
    newest !== null &&
    (newest.standing.ended === null ||
      (newest.standing.signed.isLast === true &&
        signingKeysOf(newest.standing).some((each) => publicKeys.has(each))));
  const ended = all
    .flatMap(({ standing }) => endedLogsOf(standing))
    .filter(({ origin }) => !goesOn || origin !== newest.standing.signed.origin)
    .find((each) => [each.publicKey, ...each.otherKeys].some((one) => publicKeys.has(one)));
  if (ended !== undefined)
    return yield* refuse(
      `the log ${ended.origin} of this key has ended (${ended.cause}); set another LOG_SIGNING_KEY for its successor`,
    );
  const standing = goesOn ? newest.standing : null;
  if (standing !== null && !signingKeysOf(standing).some((each) => publicKeys.has(each)))
    return yield* refuse(
      `another key signs the log ${standing.signed.origin}; set that key, or use another DATA_DIR and store for a new log`,
    );
  const generation = newest === null ? 0 : newest.origin.generation + (goesOn ? 0 : 1);
  const origin = printLogOrigin({ name, networkId, generation });
  const fault = faultOfKeys(origin, own);
  if (fault !== null) return yield* refuse(fault);
  const headIn = (from: Known | null): SignedHead | null =>
    from !== null && from.origin.generation === generation ? from.standing.signed : null;
  const open: OpenLog = {
    origin,
    generation,
    stored: headIn(stored),
    remembered: headIn(remembered),
    last: standing,
    predecessors: standing?.predecessors ?? (newest === null ? [] : endedLogsOf(newest.standing)),
  };
  return open;
});
