import { Effect } from "effect";
import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";
import type { LogKey, SigningKey } from "../../ports/log/log-signer.ts";

/** A key of a seed. `signed` gets each message before it is signed. */
export const signingKeyOf = (
  seed: Uint8Array,
  signed: (message: Uint8Array) => void,
): SigningKey => {
  const { publicKey, sign } = ed25519Key(seed);
  return {
    publicKey,
    sign: (message) =>
      Effect.sync(() => {
        signed(message);
        return sign(message);
      }),
  };
};

/**
 * The log's key of a seed, with the file beside it, which may outlive the process. `signed` gets each text before it is
 * signed.
 */
export const logKeyOf = (
  seed: Uint8Array,
  file: { text: string | null } = { text: null },
  signed: (message: Uint8Array) => void = () => {},
): LogKey => ({
  keys: Effect.succeed([signingKeyOf(seed, signed)]),
  endOrdered: Effect.succeed(null),
  memory: "the file beside the key",
  remembered: Effect.sync(() => file.text),
  remember: (before, next) =>
    Effect.sync(() => {
      if (file.text !== before) return false;
      file.text = next;
      return true;
    }),
});
