import { concatBytes } from "@noble/hashes/utils.js";
import { connect } from "node:net";
import process from "node:process";
import { addressFromBytes, addressToBytes, parseAddress } from "../../core/domain/address.ts";
import { SettlementError } from "../settlement-error.ts";
import type { MessageSigner } from "../signing/sign-transaction.ts";
import { errorCode } from "./key-file.ts";

/** Message numbers (draft-miller-ssh-agent, section 6.1). */
const REQUEST_IDENTITIES = 11;
const IDENTITIES_ANSWER = 12;
const SIGN_REQUEST = 13;
const SIGN_RESPONSE = 14;
/** The name of Ed25519 keys and signatures (RFC 8709, sections 4 and 6). */
const ED25519 = "ssh-ed25519";
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** A length is a u32 BE (RFC 4251, section 5). */
const LENGTH_BYTES = 4;

const utf8 = new TextEncoder();

const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(LENGTH_BYTES);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
};

/** A `string` of RFC 4251: its length, then its bytes. */
const string = (bytes: Uint8Array): Uint8Array => concatBytes(u32(bytes.length), bytes);

/** Reads strings one after another; undefined once one reaches beyond the bytes. */
const stringsFrom = (bytes: Uint8Array, start: number) => {
  let at = start;
  return (): Uint8Array | undefined => {
    if (at + LENGTH_BYTES > bytes.length) return undefined;
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
    const end = at + LENGTH_BYTES + length;
    if (end > bytes.length) return undefined;
    const field = bytes.slice(at + LENGTH_BYTES, end);
    at = end;
    return field;
  };
};

/** The value of two strings, the first of which names Ed25519 and the second of which has `length` bytes. */
const ed25519In = (blob: Uint8Array | undefined, length: number): Uint8Array | undefined => {
  if (blob === undefined) return undefined;
  const next = stringsFrom(blob, 0);
  const name = next();
  const value = next();
  const isEd25519 = name !== undefined && new TextDecoder().decode(name) === ED25519;
  return isEd25519 && value?.length === length ? value : undefined;
};

/** The public key blob of a 32-byte Ed25519 key. */
export const keyBlob = (publicKey: Uint8Array): Uint8Array =>
  concatBytes(string(utf8.encode(ED25519)), string(publicKey));

/** A whole message: its length, its number and its content. */
const framed = (number: number, content: Uint8Array = new Uint8Array()): Uint8Array =>
  string(concatBytes(Uint8Array.of(number), content));

/** The request for the agent's keys. */
const identitiesRequest = (): Uint8Array => framed(REQUEST_IDENTITIES);

/** The request to sign `message` with an Ed25519 key, 32 bytes. The agent signs exactly these bytes. */
export const signRequest = (publicKey: Uint8Array, message: Uint8Array): Uint8Array =>
  framed(SIGN_REQUEST, concatBytes(string(keyBlob(publicKey)), string(message), u32(0)));

/** The agent's Ed25519 keys, 32 bytes each, in an answer without its length; undefined for another answer. */
export const keysInAnswer = (answer: Uint8Array): ReadonlyArray<Uint8Array> | undefined => {
  if (answer[0] !== IDENTITIES_ANSWER || answer.length < 1 + LENGTH_BYTES) return undefined;
  const count = new DataView(answer.buffer, answer.byteOffset).getUint32(1);
  const next = stringsFrom(answer, 1 + LENGTH_BYTES);
  const keys: Array<Uint8Array> = [];
  for (let i = 0; i < count; i++) {
    const blob = next();
    const comment = next();
    if (blob === undefined || comment === undefined) return undefined;
    const key = ed25519In(blob, KEY_BYTES);
    if (key !== undefined) keys.push(key);
  }
  return keys;
};

/** The 64-byte Ed25519 signature in an answer without its length; undefined for another answer, such as a refusal. */
export const signatureInAnswer = (answer: Uint8Array): Uint8Array | undefined =>
  answer[0] === SIGN_RESPONSE ? ed25519In(stringsFrom(answer, 1)(), SIGNATURE_BYTES) : undefined;

/** OpenSSH's own limit of an agent's message, in bytes (`AGENT_MAX_LEN`). */
const MOST_BYTES = 256 * 1024;
/** A person may have to touch a key or answer a dialogue. */
const ANSWER_MS = 120_000;

const unusable = (detail: string, cure: string): SettlementError =>
  new SettlementError("signer_unusable", detail, `Nothing was signed. ${cure}`);

/** The agent's answer to one request, without its length. */
const ask = (socketPath: string, request: Uint8Array, answerMs: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const socket = connect(socketPath);
    const end = (cause: unknown): void => {
      socket.destroy();
      reject(
        unusable(
          `The ssh-agent at ${socketPath} does not answer (${errorCode(cause)}).`,
          "Start it, and check SSH_AUTH_SOCK.",
        ),
      );
    };
    // Not the socket's own timeout, which each byte begins anew.
    const timer = setTimeout(() => end(new Error("no answer")), answerMs);
    socket.on("close", () => clearTimeout(timer));
    socket.on("error", end);
    socket.on("end", () => end(new Error("ended")));
    socket.on("connect", () => socket.write(request));
    socket.on("data", (part: Buffer) => {
      got = Buffer.concat([got, part]);
      if (got.length < LENGTH_BYTES) return;
      const length = got.readUInt32BE(0);
      if (length > MOST_BYTES) return end(new Error("too long"));
      if (got.length < LENGTH_BYTES + length) return;
      socket.destroy();
      resolve(new Uint8Array(got.subarray(LENGTH_BYTES, LENGTH_BYTES + length)));
    });
  });

/**
 * A signer whose Ed25519 key an ssh-agent holds (draft-miller-ssh-agent). `address` is the key as base58; `socketPath`
 * the agent's socket, SSH_AUTH_SOCK unless given; `answerMs` how long an answer may take, 120,000 unless given. @throws SettlementError `signer_unusable` without agent, and for a
 * key that it does not hold.
 * @example
 * import { sshAgentSigner } from "settlement-evidence/node";
 *
 * const signer = await sshAgentSigner(address, socketPath);
 * signer.publicKey; // => address
 */
export const sshAgentSigner = async (
  address: string,
  socketPath: string | undefined = process.env["SSH_AUTH_SOCK"],
  answerMs: number = ANSWER_MS,
): Promise<MessageSigner> => {
  const key = parseAddress(address);
  if (key === undefined)
    throw unusable(`${address} is no address.`, "Name the agent's key as base58.");
  if (socketPath === undefined || socketPath === "")
    throw unusable("SSH_AUTH_SOCK names no ssh-agent.", "Start one, and add the key with ssh-add.");
  const keys = keysInAnswer(await ask(socketPath, identitiesRequest(), answerMs)) ?? [];
  const held = keys.map(addressFromBytes);
  if (!held.includes(key))
    throw unusable(
      `The ssh-agent does not hold ${key}; its Ed25519 keys are ${held.join(", ") || "none"}.`,
      "Add the key with ssh-add, or name one of these.",
    );
  return {
    publicKey: key,
    sign: async (message) => {
      const answer = await ask(socketPath, signRequest(addressToBytes(key), message), answerMs);
      const signature = signatureInAnswer(answer);
      if (signature === undefined)
        throw unusable(
          `The ssh-agent refused to sign with ${key}.`,
          "Unlock it, or allow the key.",
        );
      return signature;
    },
  };
};
