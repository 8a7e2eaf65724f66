import { spawn } from "node:child_process";
import { parseAddress } from "../../core/domain/address.ts";
import { SettlementError } from "../settlement-error.ts";
import type { MessageSigner } from "../signing/sign-transaction.ts";
import { errorCode } from "./key-file.ts";

const SIGNATURE_BYTES = 64;
/** Output beyond this is none of a signature, and is not waited for. */
const MOST_BYTES = 4096;
/** A person may have to touch a key or answer a dialogue. */
const ANSWER_MS = 120_000;

const unusable = (detail: string): SettlementError =>
  new SettlementError(
    "signer_unusable",
    detail,
    "Nothing was signed. The command gets the message on standard input and must print 64 bytes, the raw Ed25519 signature.",
  );

/** What a command prints when it gets `input`. Its standard error is the caller's. One that takes too long is killed. */
const outputOf = (command: string, input: Uint8Array, answerMs: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, stdio: ["pipe", "pipe", "inherit"] });
    const parts: Array<Buffer> = [];
    let bytes = 0;
    const giveUp = (detail: string): void => {
      child.kill("SIGKILL");
      // What the command started itself may hold its output open.
      child.stdout.destroy();
      reject(unusable(detail));
    };
    const timer = setTimeout(
      () => giveUp(`The signer's command took longer than ${answerMs / 1000} seconds.`),
      answerMs,
    );
    child.on("error", (cause) => {
      clearTimeout(timer);
      reject(unusable(`The signer's command cannot be run (${errorCode(cause)}).`));
    });
    child.stdout.on("data", (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > MOST_BYTES) giveUp(`The signer's command printed more than ${MOST_BYTES} bytes.`);
    });
    // A command need not read its input. Only its output counts.
    child.stdin.on("error", () => undefined);
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code !== 0) reject(unusable(`The signer's command ended with ${code ?? "a signal"}.`));
      else resolve(new Uint8Array(Buffer.concat(parts)));
    });
    child.stdin.end(input);
  });

/**
 * A signer that runs a command for each message, through the shell: the message on standard input, 64 bytes on standard
 * output. `address` is its public key as base58; `answerMs` how long it may take, 120,000 unless given.
 * @throws SettlementError for no address.
 * @example
 * import { commandSigner } from "settlement-evidence/node";
 *
 * const signer = commandSigner("head -c 64 /dev/zero", address);
 * (await signer.sign(new Uint8Array(72))).length; // => 64
 */
export const commandSigner = (
  command: string,
  address: string,
  answerMs: number = ANSWER_MS,
): MessageSigner => {
  const publicKey = parseAddress(address);
  if (publicKey === undefined)
    throw new SettlementError(
      "invalid_signer",
      `${address} is no address.`,
      "Give the public key of the command's signer as base58.",
    );
  return {
    publicKey,
    sign: async (message) => {
      const signature = await outputOf(command, message, answerMs);
      if (signature.length !== SIGNATURE_BYTES)
        throw unusable(`The signer's command printed ${signature.length} bytes.`);
      return signature;
    },
  };
};
