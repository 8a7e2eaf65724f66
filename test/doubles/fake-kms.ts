import { chmodSync } from "node:fs";
import { keyBlob } from "../../client/node/ssh-agent-signer.ts";
import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";

/** What a fake KMS does with a request to sign. */
export type KmsMood =
  | "signs"
  | "refuses"
  | "hangs"
  | "hangs_up"
  | "other_key"
  | "other_bytes"
  | "noise";
export const KMS_FAILURES = [
  "refuses",
  "hangs",
  "hangs_up",
  "other_key",
  "other_bytes",
  "noise",
] as const;

const string = (value: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, value]);
};
const ED25519 = Buffer.from("ssh-ed25519");
const REQUEST_IDENTITIES = 11;

/** The answer to a request without its length, null for none. */
const answerTo = (request: Buffer, seed: Uint8Array, mood: KmsMood): Buffer | null => {
  const { publicKey, sign } = ed25519Key(seed);
  if (request[0] === REQUEST_IDENTITIES)
    return Buffer.concat([
      Uint8Array.of(12, 0, 0, 0, 1),
      string(keyBlob(publicKey)),
      string(Buffer.alloc(0)),
    ]);
  const blobLength = request.readUInt32BE(1);
  const messageAt = 5 + blobLength;
  const length = request.readUInt32BE(messageAt);
  const message = new Uint8Array(request.subarray(messageAt + 4, messageAt + 4 + length));
  const signed = (signature: Uint8Array): Buffer =>
    Buffer.concat([Uint8Array.of(14), string(Buffer.concat([string(ED25519), string(signature)]))]);
  const changed = Uint8Array.from([...message, 1]);
  const other = ed25519Key(seed.map((byte) => byte ^ 1));
  const answers: Readonly<Record<KmsMood, () => Buffer | null>> = {
    signs: () => signed(sign(message)),
    refuses: () => Buffer.of(5),
    hangs: () => null,
    hangs_up: () => null,
    other_key: () => signed(other.sign(message)),
    other_bytes: () => signed(sign(changed)),
    noise: () => Buffer.from(message.subarray(0, 40)),
  };
  return answers[mood]();
};

/**
 * A KMS that holds an Ed25519 key and speaks the protocol of ssh-agent on a Unix socket. `mood` says what it does with
 * each request to sign, and may wait before it does.
 */
export const startKms = (
  socket: string,
  seed: Uint8Array,
  mood: () => KmsMood | Promise<KmsMood>,
) => {
  let asked = 0;
  const server = Bun.listen<{ got: Buffer }>({
    unix: socket,
    socket: {
      open: (client) => void (client.data = { got: Buffer.alloc(0) }),
      data: async (client, part) => {
        client.data.got = Buffer.concat([client.data.got, part]);
        const { got } = client.data;
        if (got.length < 4 || got.length < 4 + got.readUInt32BE(0)) return;
        client.data.got = Buffer.alloc(0);
        const request = got.subarray(4);
        const isSigning = request[0] !== REQUEST_IDENTITIES;
        if (isSigning) asked += 1;
        const now = isSigning ? await mood() : "signs";
        const answer = answerTo(request, seed, now);
        if (answer !== null) client.write(string(answer));
        else if (now === "hangs_up") client.end();
      },
    },
  });
  chmodSync(socket, 0o600);
  return {
    /** How many signatures it was asked for. */
    asked: () => asked,
    [Symbol.dispose]: () => server.stop(true),
  };
};
