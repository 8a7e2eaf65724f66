import { Effect, Layer, type Redacted } from "effect";
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isKeyName } from "../../core/log/notes/verifier-key.ts";
import {
  type LogKey,
  LogKeyUnusable,
  LogSigner,
  type SigningKey,
} from "../../ports/log/log-signer.ts";
import { WitnessKey, WitnessUnusable } from "../../ports/log/witness-state.ts";
import {
  makeFolderDurably,
  readIfThere,
  syncFolder,
  withFileLock,
  writeDurably,
} from "../bun/durable-file.ts";
import { type NamedKey, sameKeys } from "./evidence-signer.ts";
import { createKeyFile, createNewKeyFile, readKeyFile } from "./key-file.ts";
import { KEY_TEXT_FORMS, keyOfText } from "./key-text.ts";

/** The name of the generated key's file in the data directory. */
const GENERATED_KEY_FILE = "log-signing-key";

/** What follows the name of the file that says what the key signed last, in that of its lock. */
const LOCK_SUFFIX = ".lock";

const causeText = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";

/** The files of a log's key, by the path of the key: what an operator's commands and the service write beside it. */
export const logKeyFiles = (path: string) =>
  ({
    key: path,
    /** The second key, while keys are rotated. */
    next: `${path}.next`,
    /** What was signed last. */
    memory: `${path}.signed.json`,
    /** The origin of the log that is to end. */
    end: `${path}.end`,
  }) as const;

/** The generated key in a data directory, beside which a key of LOG_SIGNING_KEY has its files as well. */
export const generatedKeyPath = (dataDir: string): string => join(dataDir, GENERATED_KEY_FILE);

/** What to do about a file that cannot be used. A full disk must not make anybody move away what the key signed last. */
const cureOf = (code: string): string =>
  /^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code)
    ? "Make room on its disk"
    : "If it is no file, move it away; the service's user must be allowed to write there";

const onFile = <A>(path: string, work: () => Promise<A>): Effect.Effect<A, LogKeyUnusable> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new LogKeyUnusable({
        source: path,
        reason: `the file cannot be read or written (${causeText(cause)}). ${cureOf(causeText(cause))}`,
      }),
  });

/** The key in a text. Messages name `source`. */
const logKeyOf = (
  text: Redacted.Redacted,
  source: string,
): Effect.Effect<SigningKey, LogKeyUnusable> => {
  const key = keyOfText(text);
  return key === undefined
    ? Effect.fail(new LogKeyUnusable({ source, reason: `it must be ${KEY_TEXT_FORMS}` }))
    : Effect.succeed(key);
};

const keyOfFile = (path: string): Effect.Effect<SigningKey, LogKeyUnusable> =>
  readKeyFile(path).pipe(
    Effect.mapError(({ source, reason }) => new LogKeyUnusable({ source, reason })),
    Effect.flatMap((text) => logKeyOf(text, path)),
  );

/** What the files beside a key say, and what is written there. */
const besideKey = ({ memory, end }: ReturnType<typeof logKeyFiles>): Omit<LogKey, "keys"> => ({
  memory,
  endOrdered: Effect.map(
    onFile(end, () => readIfThere(end)),
    (text) => text?.trim() ?? null,
  ),
  remembered: onFile(memory, () => readIfThere(memory)),
  remember: (before, next) =>
    onFile(memory, async () => {
      await makeFolderDurably(dirname(memory));
      return withFileLock(`${memory}${LOCK_SUFFIX}`, async () => {
        if ((await readIfThere(memory)) !== before) return false;
        await writeDurably(memory, next, 0o600);
        return true;
      });
    }),
});

/** The key of a file, with the second one beside it while there is one, and what else stands there. */
export const logKeyOfFile = (path: string): LogKey => {
  const files = logKeyFiles(path);
  const keys = Effect.gen(function* () {
    // The second one first: a rotation ends when it takes the place of the first.
    const next = existsSync(files.next)
      ? yield* keyOfFile(files.next).pipe(
          Effect.catch((failure) => (existsSync(files.next) ? failure : Effect.succeed(null))),
        )
      : null;
    const key = yield* keyOfFile(path);
    const isSame = next !== null && Buffer.compare(next.publicKey, key.publicKey) === 0;
    return next === null || isSame ? ([key] as const) : ([key, next] as const);
  });
  return { ...besideKey(files), keys };
};

/** No log is published. */
export const logSignerNone = Layer.succeed(LogSigner, null);

/** Signs with a log's key after reading it once, so that one that cannot be used stops the start. */
const signerOf = (name: string, key: LogKey) =>
  Layer.effect(LogSigner, Effect.as(key.keys, { name, key }));

/** Signs with the key in a file (LOG_SIGNING_KEY_FILE), and remembers beside it what it signed last. */
export const logSignerFromFile = (name: string, path: string) => signerOf(name, logKeyOfFile(path));

/** Signs with the key in a text (LOG_SIGNING_KEY), and remembers in the data directory what it signed last. */
export const logSignerFromText = (name: string, text: Redacted.Redacted, dataDir: string) => {
  const beside = besideKey(logKeyFiles(generatedKeyPath(dataDir)));
  const keys = Effect.map(logKeyOf(text, "LOG_SIGNING_KEY"), (key) => [key] as const);
  return signerOf(name, { ...beside, keys });
};

/**
 * Makes a key's file for its owner alone, unless there is one: from a text in one of the forms of `KEY_TEXT_FORMS`, or
 * from 32 random bytes.
 */
export const createLogKey = (
  path: string,
  text: Redacted.Redacted | null = null,
): Effect.Effect<void, LogKeyUnusable> =>
  (text === null ? createNewKeyFile(path) : createKeyFile(path, text)).pipe(
    Effect.mapError(({ source, reason }) => new LogKeyUnusable({ source, reason })),
  );

/**
 * Puts the second key in the place of the first, durably and at once, whenever the machine stops. Nothing is left of the
 * first one's private key in the file.
 */
export const retireLogKey = (path: string): Effect.Effect<void, LogKeyUnusable> => {
  const { next } = logKeyFiles(path);
  return onFile(next, async () => {
    await rename(next, path);
    await syncFolder(dirname(path));
  });
};

/** Orders the end of the log with an origin. The service that has the key ends it, once it looks. */
export const orderLogEnd = (path: string, origin: string): Effect.Effect<void, LogKeyUnusable> => {
  const { end } = logKeyFiles(path);
  return onFile(end, () => writeDurably(end, `${origin}\n`, 0o600));
};

/** Signs with the key in the data directory. The first start makes it. */
export const logSignerGenerated = (name: string, dataDir: string) => {
  const path = generatedKeyPath(dataDir);
  const made = Layer.effectDiscard(createLogKey(path));
  return Layer.provide(signerOf(name, logKeyOfFile(path)), made);
};

/** The witness's own setting, as messages name it. */
const SOURCE = "WITNESS_KEY_FILE";

/**
 * Signs cosignatures under a name with the key in a file, in one of the forms of `KEY_TEXT_FORMS`. Only the file's
 * owner may be able to read it. The key must differ from all `others`: each states something else by its signature.
 */
export const witnessKeyFromFile = (
  name: string,
  path: string,
  others: ReadonlyArray<NamedKey>,
): Layer.Layer<WitnessKey, WitnessUnusable> =>
  Layer.effect(
    WitnessKey,
    Effect.gen(function* () {
      const unusable = (reason: string) => new WitnessUnusable({ source: path, reason });
      if (!isKeyName(name))
        return yield* new WitnessUnusable({
          source: "WITNESS_NAME",
          reason: "it must have no spaces and no plus",
        });
      const text = yield* readKeyFile(path).pipe(Effect.mapError(({ reason }) => unusable(reason)));
      const key = keyOfText(text);
      if (key === undefined) return yield* unusable(`it must be ${KEY_TEXT_FORMS}`);
      const { publicKey, sign } = key;
      const same = sameKeys([{ setting: SOURCE, publicKey }, ...others]);
      if (same !== null) return yield* unusable(same);
      return WitnessKey.of({
        name,
        publicKey,
        sign,
      });
    }),
  );
