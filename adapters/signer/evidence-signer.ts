import { ed25519 } from "@noble/curves/ed25519.js";
import { Effect, Layer, Redacted } from "effect";
import { join } from "node:path";
import { encodeBase64, encodeBase64Url } from "../../core/domain/encoding/base64.ts";
import { jwkThumbprint } from "../../core/domain/evidence/evidence-signature.ts";
import { parseUnixTime } from "../../core/domain/unix-time.ts";
import {
  type EvidenceKey,
  EvidenceKeyUnusable,
  EvidenceSigner,
} from "../../ports/evidence-signer.ts";
import type { SigningKey } from "../../ports/log/log-signer.ts";
import { ed25519Key } from "./ed25519-key.ts";
import { createNewKeyFile, readKeyFile } from "./key-file.ts";
import { KEY_TEXT_FORMS, keyOfText } from "./key-text.ts";

/** A public key of 32 bytes, and the setting that it comes from. */
export type NamedKey = { readonly setting: string; readonly publicKey: Uint8Array };

/**
 * What is wrong with a service's keys when two of them are the same, null when all differ. A signature under the key of
 * evidence, of a log or of a witness states something of its own, so no key may have two of these uses.
 */
export const sameKeys = (keys: ReadonlyArray<NamedKey>): string | null => {
  const settings = new Map<string, string>();
  for (const { setting, publicKey } of keys) {
    const text = encodeBase64(publicKey);
    const other = settings.get(text);
    if (other !== undefined) return `${setting} is the key of ${other}; each needs one of its own`;
    settings.set(text, setting);
  }
  return null;
};

/** The setting that lists the keys of earlier packets. */
const SOURCE = "EVIDENCE_RETIRED_KEYS";

const parsePublicKey = (text: string): Uint8Array | undefined => {
  const bytes = new Uint8Array(Buffer.from(text, "base64url"));
  if (bytes.length !== 32 || encodeBase64Url(bytes) !== text) return undefined;
  try {
    return ed25519.Point.fromBytes(bytes).isSmallOrder() ? undefined : bytes;
  } catch {
    return undefined;
  }
};

const parseEntry = (entry: string): EvidenceKey | undefined => {
  const [x = "", status = "retired", ended, ...rest] = entry.split(/\s+/);
  const publicKey = parsePublicKey(x);
  const endedAt = ended === undefined ? null : parseUnixTime(ended);
  if (publicKey === undefined || endedAt === undefined || rest.length > 0) return undefined;
  if (status !== "retired" && status !== "revoked") return undefined;
  return {
    keyId: jwkThumbprint(publicKey),
    publicKey,
    status,
    endedAtMs: endedAt === null ? null : Number(endedAt) * 1000,
  };
};

/**
 * The keys of EVIDENCE_RETIRED_KEYS: entries separated by commas, each `KEY [STATUS [ENDED]]` separated by spaces. KEY
 * is the public key as base64url, 43 characters: `x` of its entry in `/.well-known/jwks.json`. STATUS is `retired` (the
 * default: its packets still verify) or `revoked` (its packets fail). ENDED is when it stopped being current,
 * `YYYY-MM-DDThh:mm:ssZ`. For example `11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo retired 2026-09-01T00:00:00Z`. Null
 * means none.
 */
export const parseFormerKeys = (
  text: string | null,
): Effect.Effect<ReadonlyArray<EvidenceKey>, EvidenceKeyUnusable> => {
  const keys: Array<EvidenceKey> = [];
  for (const [at, entry] of (text ?? "").split(",").entries()) {
    if (text === null || text.trim() === "") break;
    const key = parseEntry(entry.trim());
    if (key === undefined || keys.some(({ keyId }) => keyId === key.keyId)) {
      const reason =
        key === undefined
          ? `entry ${at + 1} is not KEY [retired|revoked [YYYY-MM-DDThh:mm:ssZ]] with KEY as x in jwks.json`
          : `entry ${at + 1} repeats a key`;
      return Effect.fail(new EvidenceKeyUnusable({ source: SOURCE, reason }));
    }
    keys.push(key);
  }
  return Effect.succeed(keys);
};

/** The text of EVIDENCE_RETIRED_KEYS (see `parseFormerKeys`), null for none. */
type FormerKeysText = string | null;

/** A signer with a key. Messages name `source` as the key's origin. */
const signerOf = Effect.fnUntraced(function* (
  { publicKey, sign }: SigningKey,
  formerKeys: FormerKeysText,
  source: string,
) {
  const former = yield* parseFormerKeys(formerKeys);
  const keyId = jwkThumbprint(publicKey);
  if (former.some((key) => key.keyId === keyId))
    return yield* new EvidenceKeyUnusable({
      source,
      reason: "EVIDENCE_RETIRED_KEYS lists the same key; a key that has ended must not sign",
    });
  return EvidenceSigner.of({
    current: { keyId, publicKey, status: "current", endedAtMs: null },
    former,
    sign,
  });
});

/** A signer with the key in `text`, which has one of the forms of `KEY_TEXT_FORMS`. */
const signerOfText = Effect.fnUntraced(function* (
  text: Redacted.Redacted,
  formerKeys: FormerKeysText,
  source: string,
) {
  const key = keyOfText(text);
  if (key === undefined)
    return yield* new EvidenceKeyUnusable({ source, reason: `it must be ${KEY_TEXT_FORMS}` });
  return yield* signerOf(key, formerKeys, source);
});

/** Signs with the Ed25519 key of a 32-byte seed. */
export const evidenceSignerFromSeed = (
  seed: Redacted.Redacted<Uint8Array>,
  formerKeys: FormerKeysText = null,
) =>
  Layer.effect(
    EvidenceSigner,
    Effect.suspend(() => {
      const source = "the given seed";
      const bytes = Redacted.value(seed);
      if (bytes.length !== 32)
        return Effect.fail(new EvidenceKeyUnusable({ source, reason: "a seed has 32 bytes" }));
      const { publicKey, sign } = ed25519Key(bytes);
      const key = { publicKey, sign: (message: Uint8Array) => Effect.sync(() => sign(message)) };
      return signerOf(key, formerKeys, source);
    }),
  );

/** Signs with the key in the text of EVIDENCE_SIGNING_KEY, in one of the forms of `KEY_TEXT_FORMS`. */
export const evidenceSignerFromText = (
  text: Redacted.Redacted,
  formerKeys: FormerKeysText = null,
) => Layer.effect(EvidenceSigner, signerOfText(text, formerKeys, "EVIDENCE_SIGNING_KEY"));

/** Signs nothing: packets are `unsigned`. Former keys are still published. */
export const evidenceSignerNone = (formerKeys: FormerKeysText = null) =>
  Layer.effect(
    EvidenceSigner,
    Effect.map(parseFormerKeys(formerKeys), (former) =>
      EvidenceSigner.of({
        current: null,
        former,
        sign: () => Effect.die(new Error("there is no evidence key to sign with")),
      }),
    ),
  );

/** The name of the generated key's file in the data directory. */
export const GENERATED_KEY_FILE = "evidence-signing-key";

const signerOfFile = Effect.fnUntraced(function* (path: string, formerKeys: FormerKeysText) {
  return yield* signerOfText(yield* readKeyFile(path), formerKeys, path);
});

/**
 * Signs with the key in a file (EVIDENCE_SIGNING_KEY_FILE), in one of the forms of `KEY_TEXT_FORMS`. Only the file's
 * owner may be able to read it.
 */
export const evidenceSignerFromFile = (path: string, formerKeys: FormerKeysText = null) =>
  Layer.effect(EvidenceSigner, signerOfFile(path, formerKeys));

/** Signs with the key in the data directory. The first start makes it from 32 random bytes. */
export const evidenceSignerGenerated = (dataDir: string, formerKeys: FormerKeysText = null) =>
  Layer.effect(
    EvidenceSigner,
    Effect.gen(function* () {
      const path = join(dataDir, GENERATED_KEY_FILE);
      yield* createNewKeyFile(path);
      return yield* signerOfFile(path, formerKeys);
    }),
  );
