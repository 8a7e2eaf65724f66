import { Data, Effect } from "effect";
import type { LogKey, LogKeyUnusable } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../../domain/hash32.ts";
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
  type LogStanding,
  parseLogStanding,
  type SignedHead,
} from "../log-standing.ts";

/** A checkpoint that the log has signed. */
export type SignedCheckpoint = {
  readonly head: SignedHead;
  /** What was signed: origin, size and root. */
  readonly text: string;
  readonly signature: NoteSignature;
};

/** Signs a head. The same head always gets the same signature, so signing again tells nobody anything new. */
export const signCheckpoint = Effect.fnUntraced(function* (key: LogKey, head: SignedHead) {
  const { origin, size, root } = head;
  const text = checkpointText({ origin, size, root: hash32ToBytes(root) });
  const { name, id } = verifierKey(origin, "ed25519", key.publicKey);
  const signature = yield* key.sign(noteMessage(text));
  const signed: SignedCheckpoint = { head, text, signature: { name, id, signature } };
  return signed;
});

/** A signed checkpoint as a note, with cosignatures behind the log's signature. */
export const printSignedCheckpoint = (
  { text, signature }: SignedCheckpoint,
  cosignatures: ReadonlyArray<NoteSignature>,
): string => printSignedNote({ text, signatures: [signature, ...cosignatures] });

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
  readonly publicKey: Hash32;
  /** What was signed for it, as the store and as the key's own memory say; null where they say nothing. */
  readonly stored: SignedHead | null;
  readonly remembered: SignedHead | null;
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

/** Every log that ended, as a standing tells. */
const endedLogs = ({ signed, publicKey, ended, predecessors }: LogStanding) =>
  ended === null
    ? predecessors
    : [...predecessors, { origin: signed.origin, size: signed.size, publicKey, cause: ended }];

/** Of the standings of one log, the one that ended, otherwise any; of several logs, the latest one's. */
const latest = (all: ReadonlyArray<Known>): Known | null =>
  all.reduce<Known | null>((best, each) => {
    const [a, b] = [best?.origin.generation ?? -1, each.origin.generation];
    return b > a || (b === a && each.standing.ended !== null) ? each : best;
  }, null);

/**
 * Which log a key may sign, from what the store and the key's own memory say was signed: the same one, or the
 * successor of one that ended under another key. Fails with `LogRefused` for another name, another ledger, another key
 * of a log that goes on, and an ended log's key.
 */
export const openLog = Effect.fnUntraced(function* (name: string, networkId: string, key: LogKey) {
  const store = yield* LogStore;
  const publicKey = hash32FromBytes(key.publicKey);
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
  const ended = all
    .flatMap(({ standing }) => endedLogs(standing))
    .find((each) => each.publicKey === publicKey);
  if (ended !== undefined)
    return yield* refuse(
      `the log ${ended.origin} of this key has ended (${ended.cause}); set another LOG_SIGNING_KEY for its successor`,
    );
  const last = latest(all);
  if (last !== null && last.standing.ended === null && last.standing.publicKey !== publicKey)
    return yield* refuse(
      `another key signs the log ${last.standing.signed.origin}; set that key, or use another DATA_DIR and store for a new log`,
    );
  const generation =
    last === null ? 0 : last.origin.generation + (last.standing.ended === null ? 0 : 1);
  const headIn = (from: Known | null): SignedHead | null =>
    from !== null && from.origin.generation === generation ? from.standing.signed : null;
  const open: OpenLog = {
    origin: printLogOrigin({ name, networkId, generation }),
    generation,
    publicKey,
    stored: headIn(stored),
    remembered: headIn(remembered),
    predecessors: last === null ? [] : endedLogs(last.standing),
  };
  return open;
});
