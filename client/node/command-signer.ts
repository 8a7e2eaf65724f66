import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { parseAddress } from "../../core/domain/address.ts";
import { SettlementError } from "../settlement-error.ts";
import type { MessageSigner } from "../signing/sign-transaction.ts";
import { errorCode } from "./key-file.ts";

const SIGNATURE_BYTES = 64;
/** Output beyond this is none of a signature, and is not waited for. Of standard error this much is kept. */
const MOST_BYTES = 4096;
/** How long the standard error of a command that failed is waited for, milliseconds. */
const LAST_WORDS_MS = 1000;
/** A person may have to touch a key or answer a dialogue. */
const ANSWER_MS = 120_000;

const unusable = (detail: string, said = ""): SettlementError =>
  new SettlementError(
    "signer_unusable",
    detail,
    "Nothing was signed. The command gets the message on standard input and must print 64 bytes, the raw Ed25519 signature.",
    said === "" ? {} : { cause: said },
  );

/** How a command is run. */
type Terms = {
  readonly answerMs: number;
  /**
   * Whether nobody is there to answer a dialogue: the command then has a process group of its own, all of which ends
   * with it, and the end of its standard error goes into the failure. Otherwise both are the caller's: a process in the
   * background must not read the terminal.
   */
  readonly isUnattended: boolean;
};

/** Ends each unattended command that runs now: none outlives this process. */
const running = new Set<() => void>();
const endAll = (): void => {
  for (const end of running) end();
};
const whileRunning = (end: () => void): (() => void) => {
  if (running.size === 0) process.on("exit", endAll);
  running.add(end);
  return () => {
    running.delete(end);
    if (running.size === 0) process.off("exit", endAll);
  };
};

/** Resolves once all of a standard error is read, or something that goes on holds it open. */
const lastWords = (stderr: Readable | null): Promise<void> =>
  new Promise((resolve) => {
    if (stderr === null || stderr.closed) return resolve();
    const late = setTimeout(resolve, LAST_WORDS_MS);
    stderr.on("close", () => {
      clearTimeout(late);
      resolve();
    });
  });

/** What a command prints when it gets `input`. One that takes too long is killed. */
const outputOf = (
  command: string,
  input: Uint8Array,
  { answerMs, isUnattended }: Terms,
): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ["pipe", "pipe", isUnattended ? "pipe" : "inherit"],
      detached: isUnattended,
    });
    const parts: Array<Buffer> = [];
    let bytes = 0;
    let said = Buffer.alloc(0);
    child.stderr?.on("data", (part: Buffer) => {
      said = Buffer.concat([said, part]).subarray(-MOST_BYTES);
    });
    const end = (): void => {
      if (!isUnattended || child.pid === undefined) return void child.kill("SIGKILL");
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // All of the group is gone.
      }
    };
    const ended = isUnattended ? whileRunning(end) : () => undefined;
    const fail = (detail: string): void => reject(unusable(detail, said.toString("utf8").trim()));
    const giveUp = (detail: string): void => {
      end();
      ended();
      // What has left the group may hold these open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      fail(detail);
    };
    const timer = setTimeout(
      () => giveUp(`The signer's command took longer than ${answerMs / 1000} seconds.`),
      answerMs,
    );
    child.on("error", (cause) => {
      clearTimeout(timer);
      ended();
      fail(`The signer's command cannot be run (${errorCode(cause)}).`);
    });
    child.stdout?.on("data", (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > MOST_BYTES) giveUp(`The signer's command printed more than ${MOST_BYTES} bytes.`);
    });
    // A command need not read its input. Only its output counts.
    child.stdin?.on("error", () => undefined);
    // Its standard error is not waited for: what it starts for later calls, such as a shared connection, holds that open.
    const code = new Promise<number | null>((told) => void child.on("exit", told));
    const isRead = new Promise<void>((told) => void child.stdout?.on("close", told));
    const whole = async (): Promise<void> => {
      await isRead;
      const exitCode = await code;
      clearTimeout(timer);
      ended();
      if (exitCode !== 0) await lastWords(child.stderr);
      if (exitCode !== 0) fail(`The signer's command ended with ${exitCode ?? "a signal"}.`);
      else resolve(new Uint8Array(Buffer.concat(parts)));
    };
    void whole();
    child.stdin?.end(input);
  });

const signerOn = (command: string, address: string, terms: Terms): MessageSigner => {
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
      const signature = await outputOf(command, message, terms);
      if (signature.length !== SIGNATURE_BYTES)
        throw unusable(`The signer's command printed ${signature.length} bytes.`);
      return signature;
    },
  };
};

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
): MessageSigner => signerOn(command, address, { answerMs, isUnattended: false });

/**
 * The same signer for a process without a person: a command that hangs is ended with all that it started, and what it
 * printed last on standard error, 4 kB at most, is the `cause` of its failure.
 * @throws SettlementError for no address.
 */
export const unattendedSigner = (
  command: string,
  address: string,
  answerMs: number,
): MessageSigner => signerOn(command, address, { answerMs, isUnattended: true });
