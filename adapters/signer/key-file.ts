import { constants, existsSync, type Stats } from "node:fs";
import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { Effect, Redacted } from "effect";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { syncFolder } from "../bun/durable-file.ts";
import { EvidenceKeyUnusable } from "../../ports/evidence-signer.ts";

/** Key files are far shorter, in bytes. A longer file is not read. */
const MAX_BYTES = 4096;
/** The permission bits of everyone but the owner. */
const OTHERS = 0o077;
/** How a credential of systemd looks, whose service reads it by an access list (systemd `src/core/credential.c`). */
const CREDENTIAL = 0o440;

/** Whether only its owner may use a file, or it is a credential of root's that nobody can write. */
export const isOwnersAlone = ({ mode, uid, gid }: Pick<Stats, "mode" | "uid" | "gid">): boolean =>
  (mode & OTHERS) === 0 || ((mode & 0o777) === CREDENTIAL && uid === 0 && gid === 0);

/**
 * A file's state and text, read through one handle so that both belong to the same file. The text is null for a file
 * that is too long.
 */
const readBounded = async (path: string): Promise<{ stat: Stats; text: string | null }> => {
  const file = await open(path, constants.O_RDONLY);
  try {
    const stat = await file.stat();
    const isKeySized = stat.isFile() && stat.size <= MAX_BYTES;
    return { stat, text: isKeySized ? await file.readFile("utf8") : null };
  } finally {
    await file.close();
  }
};

/** The system's name of an error, such as ENOENT. It explains without quoting anything. */
const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : "unknown error";

/**
 * The text of a key file. Fails when it cannot be read, when others than its owner may read it, or when it is too long
 * for a key. Messages name the file and never its content.
 */
export const readKeyFile = Effect.fnUntraced(function* (path: string) {
  const unusable = (reason: string) => new EvidenceKeyUnusable({ source: path, reason });
  const { stat, text } = yield* Effect.tryPromise({
    try: () => readBounded(path),
    catch: (cause) =>
      unusable(
        `the file cannot be read (${codeOf(cause)}); name one that the service's user can read`,
      ),
  });
  if (text === null)
    return yield* unusable(
      "it is not a file, or far too long for a key; name a file that the service's user can read",
    );
  if (!isOwnersAlone(stat))
    return yield* unusable(
      `its mode is ${(stat.mode & 0o777).toString(8)}, so others than its owner can use it; run chmod 600 on it`,
    );
  return Redacted.make(text);
});

const createOnce = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${crypto.randomUUID()}.new`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await link(draft, path);
  } finally {
    await file.close();
    await unlink(draft);
  }
  await syncFolder(dirname(path));
};

/**
 * Makes a key file that only its owner can read, unless there is one. The file appears complete and on disk, or not at
 * all. When two processes try, one wins.
 */
export const createKeyFile = (
  path: string,
  text: Redacted.Redacted,
): Effect.Effect<void, EvidenceKeyUnusable> =>
  Effect.tryPromise({
    try: () =>
      createOnce(path, Redacted.value(text)).catch((cause: unknown) => {
        if (codeOf(cause) !== "EEXIST") throw cause;
      }),
    catch: (cause) =>
      new EvidenceKeyUnusable({
        source: path,
        reason: `the file cannot be made (${codeOf(cause)}); let the service's user write in its folder`,
      }),
  });

/** Makes a key file with a new key, 32 random bytes as base64, unless there is one, as `createKeyFile` does. */
export const createNewKeyFile = (path: string): Effect.Effect<void, EvidenceKeyUnusable> =>
  Effect.suspend(() => {
    if (existsSync(path)) return Effect.void;
    const seed = crypto.getRandomValues(new Uint8Array(32));
    return createKeyFile(path, Redacted.make(`${encodeBase64(seed)}\n`));
  });
