import { sha256Bun } from "../adapters/bun/sha256.ts";
import { provideSha256 } from "../core/domain/sha256.ts";

// The service hashes with the runtime's SHA-256, so its tests do too. test/core/domain/hash32.test.ts compares it with
// the portable one.
provideSha256(sha256Bun);
