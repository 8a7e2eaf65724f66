import { Effect, Layer, Redacted } from "effect";
import { jwkThumbprint } from "../../core/domain/evidence/jwk.ts";
import { EvidenceKeyUnusable, EvidenceSigner } from "../../ports/evidence-signer.ts";
import { ed25519Key } from "./ed25519-key.ts";
import { parseFormerKeys } from "./former-keys.ts";
import { parseSeedText, SEED_TEXT_FORMS } from "./seed-text.ts";

/** The text of EVIDENCE_RETIRED_KEYS (see former-keys.ts), null for none. */
export type FormerKeysText = string | null;

/** A signer with the key of a 32-byte seed. Messages name `source` as the key's origin. */
const signerOf = Effect.fnUntraced(function* (
  seed: Redacted.Redacted<Uint8Array>,
  formerKeys: FormerKeysText,
  source: string,
) {
  const former = yield* parseFormerKeys(formerKeys);
  const bytes = Redacted.value(seed);
  if (bytes.length !== 32)
    return yield* new EvidenceKeyUnusable({ source, reason: "a seed has 32 bytes" });
  const { publicKey, sign } = ed25519Key(bytes);
  const keyId = jwkThumbprint(publicKey);
  if (former.some((key) => key.keyId === keyId))
    return yield* new EvidenceKeyUnusable({
      source,
      reason: "EVIDENCE_RETIRED_KEYS lists the same key; a key that has ended must not sign",
    });
  return EvidenceSigner.of({
    current: { keyId, publicKey, status: "current", endedAtMs: null },
    former,
    sign: (message) => Effect.sync(() => sign(message)),
  });
});

/** A signer with the key in `text`, which has one of the forms of seed-text.ts. */
export const signerOfText = Effect.fnUntraced(function* (
  text: Redacted.Redacted,
  formerKeys: FormerKeysText,
  source: string,
) {
  const seed = parseSeedText(Redacted.value(text));
  if (seed === undefined)
    return yield* new EvidenceKeyUnusable({ source, reason: `it must be ${SEED_TEXT_FORMS}` });
  return yield* signerOf(Redacted.make(seed), formerKeys, source);
});

/** Signs with the Ed25519 key of a 32-byte seed. */
export const evidenceSignerFromSeed = (
  seed: Redacted.Redacted<Uint8Array>,
  formerKeys: FormerKeysText = null,
) => Layer.effect(EvidenceSigner, signerOf(seed, formerKeys, "the given seed"));

/** Signs with the key in the text of EVIDENCE_SIGNING_KEY, in one of the forms of seed-text.ts. */
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
