import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { parseAddress } from "../../core/domain/address.ts";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "./error-code.ts";
import { type KeySigner, keySigner } from "./key-signer.ts";
import { KEY_FORMS, keyText, looksLikeKey, parseKeyText } from "./key-text.ts";

/** Key files are far shorter, in bytes. A longer file is not read. */
const MAX_BYTES = 4096;
/** The permission bits of everyone but the owner. */
const OTHERS = 0o077;
const SEED_BYTES = 32;

const refuse = (detail: string, cure: string): never => {
  throw new SettlementError("key_unusable", detail, cure);
};

const textOf = async (path: string): Promise<string> => {
  const file = await open(path, "r");
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MAX_BYTES)
      refuse(`${path} is no file of a key.`, `Name a file that holds ${KEY_FORMS}.`);
    if (process.platform !== "win32" && (stat.mode & OTHERS) !== 0)
      refuse(`${path} can be used by others than its owner.`, `Run chmod 600 on it.`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
};

/**
 * The signer of the key in a file. No message shows what the file, or a key given in its place, holds. @throws SettlementError
 * `key_on_command_line` for a key in place of a name, `key_unusable` when the file cannot be read, others than its owner may read it, or it holds no key.
 */
export const readKeyFile = async (path: string): Promise<KeySigner> => {
  if (looksLikeKey(path))
    throw new SettlementError(
      "key_on_command_line",
      "This is a key itself, which other users of the machine can see.",
      "Write it to a file with mode 0600, name the file, and use another key where this one holds anything of worth.",
    );
  const text = await textOf(path).catch((cause: unknown) => {
    if (cause instanceof SettlementError) throw cause;
    return refuse(
      parseAddress(path) === undefined
        ? `${path} cannot be read (${errorCode(cause)}).`
        : `${path} is an address.`,
      "Name the file of a key; keygen makes one.",
    );
  });
  const seed = parseKeyText(text);
  return seed === undefined
    ? refuse(`${path} holds no key.`, `Name a file that holds ${KEY_FORMS}.`)
    : keySigner(seed);
};

const fileExists = (path: string): SettlementError =>
  new SettlementError("file_exists", `${path} exists, and is left as it is.`, "Name another file.");

/**
 * Makes a file with a new key that only its owner can read, and gives the key's address. The file appears complete and on disk, or not
 * at all. @throws SettlementError `file_exists` when there is one, `file_not_made` when it cannot be written.
 */
export const createKeyFile = async (path: string): Promise<string> => {
  const seed = crypto.getRandomValues(new Uint8Array(SEED_BYTES));
  const draft = `${path}.${crypto.randomUUID()}.new`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(`${keyText(seed)}\n`);
      await file.sync();
      // Unlike a rename, a link never replaces a file that came in between.
      await link(draft, path).catch((cause: unknown) => {
        throw errorCode(cause) === "EEXIST" ? fileExists(path) : cause;
      });
    } finally {
      await file.close();
      await unlink(draft);
    }
  } catch (cause) {
    if (cause instanceof SettlementError) throw cause;
    throw new SettlementError(
      "file_not_made",
      `${path} cannot be written (${errorCode(cause)}).`,
      "Name a file in a folder that you may write to.",
    );
  }
  return keySigner(seed).address;
};
