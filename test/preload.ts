import fc from "fast-check";
import { sha256Bun } from "../adapters/bun/sha256.ts";
import { provideSha256 } from "../core/domain/sha256.ts";
import { givenSeed } from "./arbitraries/runs.ts";

// The service hashes with the runtime's SHA-256, so its tests do too. test/core/domain/hash32.test.ts compares it with
// the portable one.
provideSha256(sha256Bun);

// FC_SEED is the seed of every property and of every sample that names none, so that a run with it is the same everywhere.
const seed = givenSeed();
if (seed !== undefined) fc.configureGlobal({ seed });
