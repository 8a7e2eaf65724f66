import type { Sha256 } from "../../core/domain/sha256.ts";

/** Bun's own SHA-256 (BoringSSL), for `provideSha256`. */
export const sha256Bun: Sha256 = (bytes, digest = new Uint8Array(32)) => {
  Bun.SHA256.hash(bytes, digest);
  return digest;
};
