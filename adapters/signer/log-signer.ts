import { Effect, Layer, Redacted } from "effect";
import { dirname, join } from "node:path";
import { isKeyName } from "../../core/log/notes/verifier-key.ts";
import { type LogKey, LogKeyUnusable, LogSigner } from "../../ports/log/log-signer.ts";
import { WitnessKey, WitnessUnusable } from "../../ports/log/witness-state.ts";
import { makeFolderDurably, readIfThere, withFileLock, writeDurably } from "../bun/durable-file.ts";
import { ed25519Key, parseSeedText, SEED_TEXT_FORMS } from "./ed25519-key.ts";
import { type NamedKey, sameKeys } from "./evidence-signer.ts";
import { createNewKeyFile, readKeyFile } from "./key-file.ts";

/** The name of the generated key's file in the data directory. */
const GENERATED_KEY_FILE = "log-signing-key";

/** What follows the key file's name in that of the file that says what the key signed last. */
const MEMORY_SUFFIX = ".signed.json";

/** What follows that file's name in that of its lock. */
const LOCK_SUFFIX = ".lock";

const causeText = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";

/** The key in a text, which remembers in the file `memory` what it signed. Messages name `source`. */
const keyOfText = Effect.fnUntraced(function* (
  text: Redacted.Redacted,
  source: string,
  memory: string,
) {
  const seed = parseSeedText(Redacted.value(text));
  if (seed === undefined)
    return yield* new LogKeyUnusable({ source, reason: `it must be ${SEED_TEXT_FORMS}` });
  const { publicKey, sign } = ed25519Key(seed);
  const onFile = <A>(work: () => Promise<A>) =>
    Effect.tryPromise({
      try: work,
      catch: (cause) =>
        new LogKeyUnusable({
          source: memory,
          reason: `the file cannot be read or written (${causeText(cause)}). If it is no file, move it away; the service's user must be allowed to write there`,
        }),
    });
  const key: LogKey = {
    publicKey,
    memory,
    sign: (message) => Effect.sync(() => sign(message)),
    remembered: onFile(() => readIfThere(memory)),
    remember: (before, next) =>
      onFile(async () => {
        await makeFolderDurably(dirname(memory));
        return withFileLock(`${memory}${LOCK_SUFFIX}`, async () => {
          if ((await readIfThere(memory)) !== before) return false;
          await writeDurably(memory, next, 0o600);
          return true;
        });
      }),
  };
  return key;
});

const keyOfFile = Effect.fnUntraced(function* (path: string) {
  const text = yield* Effect.mapError(
    readKeyFile(path),
    ({ source, reason }) => new LogKeyUnusable({ source, reason }),
  );
  return yield* keyOfText(text, path, `${path}${MEMORY_SUFFIX}`);
});

/** No log is published. */
export const logSignerNone = Layer.succeed(LogSigner, null);

/** Signs with the key in a file (LOG_SIGNING_KEY_FILE), and remembers beside it what it signed last. */
export const logSignerFromFile = (name: string, path: string) =>
  Layer.effect(
    LogSigner,
    Effect.map(keyOfFile(path), (key) => ({ name, key })),
  );

/** Signs with the key in a text (LOG_SIGNING_KEY), and remembers in the data directory what it signed last. */
export const logSignerFromText = (name: string, text: Redacted.Redacted, dataDir: string) =>
  Layer.effect(
    LogSigner,
    Effect.map(
      keyOfText(text, "LOG_SIGNING_KEY", join(dataDir, `${GENERATED_KEY_FILE}${MEMORY_SUFFIX}`)),
      (key) => ({ name, key }),
    ),
  );

/** Signs with the key in the data directory. The first start makes it from 32 random bytes. */
export const logSignerGenerated = (name: string, dataDir: string) =>
  Layer.effect(
    LogSigner,
    Effect.gen(function* () {
      const path = join(dataDir, GENERATED_KEY_FILE);
      yield* createNewKeyFile(path).pipe(
        Effect.mapError(({ source, reason }) => new LogKeyUnusable({ source, reason })),
      );
      return { name, key: yield* keyOfFile(path) };
    }),
  );

/** The witness's own setting, as messages name it. */
const SOURCE = "WITNESS_KEY_FILE";

/**
 * Signs cosignatures under a name with the key in a file, in one of the forms of `SEED_TEXT_FORMS`. Only the file's
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
      const seed = parseSeedText(Redacted.value(text));
      if (seed === undefined) return yield* unusable(`it must be ${SEED_TEXT_FORMS}`);
      const { publicKey, sign } = ed25519Key(seed);
      const same = sameKeys([{ setting: SOURCE, publicKey }, ...others]);
      if (same !== null) return yield* unusable(same);
      return WitnessKey.of({
        name,
        publicKey,
        sign: (message) => Effect.sync(() => sign(message)),
      });
    }),
  );
