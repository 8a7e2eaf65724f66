import { ed25519 } from "@noble/curves/ed25519.js";
import { Effect } from "effect";
import { encodeBase64Url } from "../../core/domain/encoding/base64.ts";
import { jwkThumbprint } from "../../core/domain/evidence/jwk.ts";
import { parseUnixTime } from "../../core/domain/unix-time.ts";
import { type EvidenceKey, EvidenceKeyUnusable } from "../../ports/evidence-signer.ts";

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
