import { existsSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer, Redacted } from "effect";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { type FormerKeysText, signerOfText } from "./evidence-signer.ts";
import { createKeyFile, readKeyFile } from "./key-file.ts";

/** The name of the generated key's file in the data directory. */
export const GENERATED_KEY_FILE = "evidence-signing-key";

const signerOfFile = Effect.fnUntraced(function* (path: string, formerKeys: FormerKeysText) {
  return yield* signerOfText(yield* readKeyFile(path), formerKeys, path);
});

/**
 * Signs with the key in a file (EVIDENCE_SIGNING_KEY_FILE), in one of the forms of seed-text.ts. Only the file's owner
 * may be able to read it.
 */
export const evidenceSignerFromFile = (path: string, formerKeys: FormerKeysText = null) =>
  Layer.effect(EvidenceSigner, signerOfFile(path, formerKeys));

/** Signs with the key in the data directory. The first start makes it from 32 random bytes. */
export const evidenceSignerGenerated = (dataDir: string, formerKeys: FormerKeysText = null) =>
  Layer.effect(
    EvidenceSigner,
    Effect.gen(function* () {
      const path = join(dataDir, GENERATED_KEY_FILE);
      if (!existsSync(path)) {
        const seed = crypto.getRandomValues(new Uint8Array(32));
        yield* createKeyFile(path, Redacted.make(`${encodeBase64(seed)}\n`));
      }
      return yield* signerOfFile(path, formerKeys);
    }),
  );
