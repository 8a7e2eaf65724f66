import { connect } from "node:net";
import process from "node:process";
import { addressFromBytes, addressToBytes, parseAddress } from "../../core/domain/address.ts";
import { SettlementError } from "../settlement-error.ts";
import type { MessageSigner } from "../signing/message-signer.ts";
import { errorCode } from "./key-file.ts";
import {
  identitiesRequest,
  keysInAnswer,
  signatureInAnswer,
  signRequest,
} from "./ssh-agent-protocol.ts";

/** OpenSSH's own limit of an agent's message, in bytes (`AGENT_MAX_LEN`). */
const MOST_BYTES = 256 * 1024;
const LENGTH_BYTES = 4;
/** A person may have to touch a key or answer a dialogue. */
const ANSWER_MS = 120_000;

const unusable = (detail: string, cure: string): SettlementError =>
  new SettlementError("signer_unusable", detail, `Nothing was signed. ${cure}`);

/** The agent's answer to one request, without its length. */
const ask = (socketPath: string, request: Uint8Array): Promise<Uint8Array> =>
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
    socket.setTimeout(ANSWER_MS, () => end(new Error("no answer")));
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
 * A signer whose Ed25519 key an ssh-agent holds (draft-miller-ssh-agent). `address` is the key as base58; `socketPath` the agent's socket,
 * SSH_AUTH_SOCK unless given. @throws SettlementError `signer_unusable` without agent, and for a key that it does not hold.
 */
export const sshAgentSigner = async (
  address: string,
  socketPath: string | undefined = process.env["SSH_AUTH_SOCK"],
): Promise<MessageSigner> => {
  const key = parseAddress(address);
  if (key === undefined)
    throw unusable(`${address} is no address.`, "Name the agent's key as base58.");
  if (socketPath === undefined || socketPath === "")
    throw unusable("SSH_AUTH_SOCK names no ssh-agent.", "Start one, and add the key with ssh-add.");
  const keys = keysInAnswer(await ask(socketPath, identitiesRequest())) ?? [];
  const held = keys.map(addressFromBytes);
  if (!held.includes(key))
    throw unusable(
      `The ssh-agent does not hold ${key}; its Ed25519 keys are ${held.join(", ") || "none"}.`,
      "Add the key with ssh-add, or name one of these.",
    );
  return {
    publicKey: key,
    sign: async (message) => {
      const answer = await ask(socketPath, signRequest(addressToBytes(key), message));
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
