import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { addressFromBytes, parseAddress } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { ed25519Key } from "../../core/protocol/crypto/ed25519-key.ts";
import { SettlementError } from "../settlement-error.ts";
import type { TransactionSigner } from "../signing/sign-transaction.ts";
import { useNativeCrypto } from "./native-crypto.ts";

/** The system's name of an error, such as ENOENT. It explains without quoting anything. */
export const errorCode = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : "unknown error";

/** The accepted forms of a key, for messages. */
export const KEY_FORMS =
  "the JSON array of 64 numbers that solana-keygen writes, or 32 bytes as base64";

const SEED_BYTES = 32;
const KEYPAIR_BYTES = 64;

const numbersIn = (text: string): Uint8Array | undefined => {
  try {
    const parsed: unknown = JSON.parse(text);
    const isBytes =
      Array.isArray(parsed) &&
      parsed.length === KEYPAIR_BYTES &&
      parsed.every((each) => Number.isInteger(each) && each >= 0 && each <= 255);
    return isBytes ? Uint8Array.from(parsed as ReadonlyArray<number>) : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The 32-byte Ed25519 seed in a key's text, undefined for any other text. The last 32 numbers of an array must be the
 * public key of the first 32. White space around it is ignored.
 */
export const parseKeyText = (text: string): Uint8Array | undefined => {
  const trimmed = text.trim();
  const pair = numbersIn(trimmed);
  if (pair !== undefined) {
    const seed = pair.slice(0, SEED_BYTES);
    const { publicKey } = ed25519Key(seed);
    return publicKey.every((byte, i) => byte === pair[SEED_BYTES + i]) ? seed : undefined;
  }
  const bytes = decodeBase64(trimmed);
  return bytes?.length === SEED_BYTES ? bytes : undefined;
};

/** A key as the JSON array of 64 numbers that solana-keygen writes: the seed of 32 bytes, then its public key. */
export const keyText = (seed: Uint8Array): string =>
  JSON.stringify([...seed, ...ed25519Key(seed).publicKey]);

/**
 * Whether a text looks like a private key rather than the name of a file: such a text must not stand on a command line.
 */
export const looksLikeKey = (text: string): boolean =>
  /^\s*\[/.test(text) ||
  parseKeyText(text) !== undefined ||
  /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(text) ||
  /^(0x)?[0-9a-fA-F]{64}([0-9a-fA-F]{64})?$/.test(text);

/** A key that signs transactions, and messages such as an attestation. */
export type KeySigner = TransactionSigner & {
  /** The 64-byte Ed25519 signature of a message. */
  readonly signMessage: (message: Uint8Array) => Promise<Uint8Array>;
};

/**
 * The signer of an Ed25519 seed of 32 bytes.
 * @example
 * import { keySigner } from "settlement-evidence/node";
 *
 * const signer = keySigner(Buffer.alloc(32, 7));
 * signer.address; // => "GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB"
 */
export const keySigner = (seed: Uint8Array): KeySigner => {
  useNativeCrypto();
  const { publicKey, sign } = ed25519Key(seed);
  const address = addressFromBytes(publicKey);
  return {
    address,
    signTransactions: (transactions) =>
      Promise.resolve(transactions.map(({ messageBytes }) => ({ [address]: sign(messageBytes) }))),
    signMessage: (message) => Promise.resolve(sign(message)),
  };
};

/** Key files are far shorter, in bytes. A longer file is not read. */
const MAX_BYTES = 4096;
/** The permission bits of everyone but the owner. */
const OTHERS = 0o077;

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
 * The signer of the key in a file. No message shows what the file, or a key given in its place, holds. @throws
 * SettlementError `key_on_command_line` for a key in place of a name, `key_unusable` when the file cannot be read,
 * others than its owner may read it, or it holds no key.
 * @example
 * import { createKeyFile, readKeyFile } from "settlement-evidence/node";
 *
 * await createKeyFile(`${folder}/attestor.key`);
 * const attestor = await readKeyFile(`${folder}/attestor.key`);
 * (await attestor.signMessage(new Uint8Array(72))).length; // => 64
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
 * Makes a file with a new key that only its owner can read, and gives the key's address. The file appears complete and
 * on disk, or not at all. @throws SettlementError `file_exists` when there is one, `file_not_made` when it cannot be
 * written.
 * @example
 * import { createKeyFile, readKeyFile } from "settlement-evidence/node";
 *
 * const made = await createKeyFile(`${folder}/agent.key`);
 * (await readKeyFile(`${folder}/agent.key`)).address; // => made
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
