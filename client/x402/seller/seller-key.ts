import type { MessageSigner } from "../../signing/message-signer.ts";

/** A key of a seller: a `MessageSigner`, or what `readKeyFile` and `keySigner` give. */
export type SellerKey =
  | MessageSigner
  | {
      /** The public key, base58. */
      readonly address: string;
      /** The 64-byte signature of exactly these bytes. */
      readonly signMessage: (message: Uint8Array) => Promise<Uint8Array>;
    };

/** The key as a signer of messages. */
export const messageSignerOf = (key: SellerKey): MessageSigner =>
  "publicKey" in key ? key : { publicKey: key.address, sign: key.signMessage };
