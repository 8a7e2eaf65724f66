import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeBase64, encodeBase64 } from "../../domain/encoding/base64.ts";
import { ed25519Key } from "../../protocol/crypto/ed25519-key.ts";

/** Standard Webhooks 1.0.0, "Signature scheme": how a secret begins, and how a signature that it makes. */
const SCHEMES = {
  hmac: { secret: "whsec_", signature: "v1" },
  ed25519: { secret: "whsk_", signature: "v1a" },
} as const;
const PUBLIC_KEY = "whpk_";

/** How a webhook is signed: with a secret that both sides have, or with a key whose public half the receiver has. */
export type WebhookScheme = keyof typeof SCHEMES;

/** Bytes of a new secret of either kind; of an Ed25519 key its seed (RFC 8032, section 5.1.5). */
export const WEBHOOK_SECRET_BYTES = 32;
/** Bytes of any shared secret: "at least 24 bytes (192 bits, 512 maximum)". */
const SHARED_BYTES = { least: 24, most: 64 };

/** The text of a secret, from `WEBHOOK_SECRET_BYTES` random bytes. */
export const webhookSecret = (scheme: WebhookScheme, bytes: Uint8Array): string =>
  `${SCHEMES[scheme].secret}${encodeBase64(bytes)}`;

const parse = (secret: string) => {
  const scheme: WebhookScheme = secret.startsWith(SCHEMES.hmac.secret) ? "hmac" : "ed25519";
  const prefix = SCHEMES[scheme].secret;
  const bytes = secret.startsWith(prefix) ? decodeBase64(secret.slice(prefix.length)) : undefined;
  if (bytes === undefined) return undefined;
  const { length } = bytes;
  const isLong =
    scheme === "hmac"
      ? length >= SHARED_BYTES.least && length <= SHARED_BYTES.most
      : length === WEBHOOK_SECRET_BYTES;
  return isLong ? { scheme, bytes } : undefined;
};

/** Whether a text is a secret: `whsec_` and base64 of 24 to 64 bytes, or `whsk_` and base64 of an Ed25519 seed. */
export const isWebhookSecret = (text: string): boolean => parse(text) !== undefined;

/** What a receiver needs to check signatures: the secret itself, or its public key as `whpk_` and base64. */
export const receiverKey = (secret: string): string => {
  const parsed = parse(secret);
  return parsed?.scheme === "ed25519"
    ? `${PUBLIC_KEY}${encodeBase64(ed25519Key(parsed.bytes).publicKey)}`
    : secret;
};

/** How a secret signs a text. @throws Error for a text that is no secret. */
const signatureOf = (secret: string, content: Uint8Array): string => {
  const parsed = parse(secret);
  if (parsed === undefined) throw new Error("not a secret of a webhook");
  const { scheme, bytes } = parsed;
  const signature =
    scheme === "hmac" ? hmac(sha256, bytes, content) : ed25519Key(bytes).sign(content);
  return `${SCHEMES[scheme].signature},${encodeBase64(signature)}`;
};

/**
 * The headers of one attempt: `id` without a full stop, `atSeconds` the attempt's time, unix seconds. Each secret signs
 * `id.atSeconds.body`; a receiver needs one of them. @throws Error for a text that is no secret.
 */
export const webhookHeaders = (
  secrets: ReadonlyArray<string>,
  {
    id,
    atSeconds,
    body,
  }: { readonly id: string; readonly atSeconds: number; readonly body: string },
): Readonly<Record<string, string>> => {
  const content = new TextEncoder().encode(`${id}.${atSeconds}.${body}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(atSeconds),
    "webhook-signature": secrets.map((secret) => signatureOf(secret, content)).join(" "),
  };
};
